package webhooks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"herbarium/internal/dial"
	"herbarium/internal/herb"
)

const (
	// Timeout is the time that an endpoint has to respond, from the lookup of its name on.
	Timeout = 20 * time.Second
	// maxResponse is the size up to which a response is read; nothing in it is used but its status.
	maxResponse = 16 << 10
	// maxResult is the length of a result in characters.
	maxResult = 200
)

// SenderOptions configures a Sender. The zero value suits a server.
type SenderOptions struct {
	Program string // of the header User-Agent; empty means Herbarium
	// Lookup returns the addresses of a host. nil means the resolver of the system.
	Lookup  dial.LookupFunc
	Timeout time.Duration    // 0 means Timeout
	Now     func() time.Time // nil means time.Now
}

// Sender sends messages. It is safe for concurrent use.
type Sender struct {
	opts            SenderOptions
	public, private http.RoundTripper
}

// NewSender returns a sender.
func NewSender(o SenderOptions) *Sender {
	if o.Program == "" {
		o.Program = "Herbarium"
	}
	if o.Timeout == 0 {
		o.Timeout = Timeout
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Sender{o, dial.NewTransport(o.Lookup, dial.RequirePublic), dial.NewTransport(o.Lookup, dial.AllowAny)}
}

// Result is the response to a message, or why there is none.
type Result struct {
	Status int
	Err    error
}

// Delivered reports whether the endpoint has accepted the message.
func (r Result) Delivered() bool { return r.Err == nil && r.Status/100 == 2 }

// gone reports whether the endpoint wants no more messages.
func (r Result) gone() bool { return r.Err == nil && r.Status == http.StatusGone }

// String returns the result in a few words. It does not contain the URL or the secret.
func (r Result) String() string {
	switch {
	case r.Err != nil:
		return herb.Clip(r.Err.Error(), maxResult)
	case r.Status/100 == 3:
		return fmt.Sprintf("status %d; redirects are not followed", r.Status)
	}
	return "status " + strconv.Itoa(r.Status)
}

// Send sends a message to a webhook once.
func (s *Sender) Send(ctx context.Context, w herb.Webhook, m Message) Result {
	ctx, cancel := context.WithTimeout(ctx, s.opts.Timeout)
	defer cancel()
	at := s.opts.Now().Unix()
	signature, err := m.sign(w.Secret, at)
	if err != nil {
		return Result{Err: err}
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, string(w.URL), bytes.NewReader(m.Body))
	if err != nil {
		return Result{Err: errors.New("the stored URL is malformed")}
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", s.opts.Program)
	request.Header.Set(headerID, m.ID)
	request.Header.Set(headerTimestamp, strconv.FormatInt(at, 10))
	request.Header.Set(headerSignature, signature)
	transport := s.public
	if w.Private {
		transport = s.private
	}
	client := http.Client{Transport: transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(request)
	if err != nil {
		return Result{Err: s.describe(err)}
	}
	_, _ = io.CopyN(io.Discard, response.Body, maxResponse) // an endpoint may wait until its response was read
	_ = response.Body.Close()
	return Result{Status: response.StatusCode}
}

// describe removes the URL from an error, because it may contain secrets.
func (s *Sender) describe(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("no response within %s", s.opts.Timeout)
	}
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}
