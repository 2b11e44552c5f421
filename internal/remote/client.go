// Package remote publishes files to a server over HTTP and manages its datasets, for the command
// line. It is the counterpart of the publishing part of httpapi.
//
// # Retries
//
// A request whose connection fails, or that the server cannot serve at the moment, is sent again
// after a pause, with the same bytes and the same digest. This is safe: the server publishes a file
// once, and a file that is live already is unchanged.
package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"herbarium/internal/herb"
)

// Options configures a Client. URL is required.
type Options struct {
	URL       string // of the server, such as https://example.org; a path is that of a proxy
	Key       string // sent to this server only; empty: none
	UserAgent string
	// Transport sends the requests; nil means a transport with the timeouts of this package.
	Transport http.RoundTripper
	// Pause waits before a request is sent again; nil means a timer.
	Pause func(ctx context.Context, d time.Duration) error
	// Retrying is called before each pause with the reason; nil disables it.
	Retrying func(reason error, pause time.Duration)
}

// Client sends requests to one server. It is safe for concurrent use.
type Client struct {
	opts Options
	base string // without a trailing slash
	http *http.Client
}

const (
	maxAttempts    = 5                // of one request
	firstPause     = time.Second      // after the first attempt; doubled after each further one
	maxPause       = time.Minute      // also if the server asks for more
	maxBody        = 256 << 20        // of a response; reports of wide files have some megabytes
	headerTimeout  = 2 * time.Minute  // from the end of a request to its response
	continueWait   = 5 * time.Second  // until a server must have accepted or rejected a file by its headers
	connectTimeout = 30 * time.Second // of one attempt
)

// New returns a client of a server.
func New(opts Options) (*Client, error) {
	u, err := url.Parse(opts.URL)
	switch {
	case err != nil || !IsURL(opts.URL) || u.Host == "":
		return nil, herb.Invalidf("%q is not the address of a server; write it like https://example.org",
			herb.Address(opts.URL))
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, herb.Invalidf("the address of a server has no user, query or fragment; write it like https://%s",
			u.Host)
	}
	if opts.Pause == nil {
		opts.Pause = pause
	}
	if opts.Retrying == nil {
		opts.Retrying = func(error, time.Duration) {}
	}
	if opts.Transport == nil {
		opts.Transport = &http.Transport{
			Proxy:       http.ProxyFromEnvironment,
			DialContext: (&net.Dialer{Timeout: connectTimeout}).DialContext, TLSHandshakeTimeout: connectTimeout,
			ResponseHeaderTimeout: headerTimeout, ExpectContinueTimeout: continueWait, ForceAttemptHTTP2: true,
		}
	}
	return &Client{opts: opts, base: strings.TrimRight(opts.URL, "/"), http: &http.Client{
		Transport: opts.Transport,
		// A redirect could lead the key to another server.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// IsURL reports whether s is written like the address of a server.
func IsURL(s string) bool {
	s = strings.ToLower(s)
	return strings.HasPrefix(s, "https://") || strings.HasPrefix(s, "http://")
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// request is a request that can be sent several times.
type request struct {
	method, path string
	params       url.Values
	header       map[string]string
	body         func() io.Reader // nil: none
	size         int64            // of the body
}

// reply is the response to a request.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// decode decodes the body of a reply.
func (r reply) decode(into any) error {
	if err := json.Unmarshal(r.body, into); err != nil {
		return herb.Wrap(herb.CodeInternal, err,
			"the server returned an unexpected body with status %d; is it Herbarium?", r.status)
	}
	return nil
}

// do sends a request until the server responds to it, and returns the response, which may be an
// error of the server that another attempt would not change.
func (c *Client) do(ctx context.Context, r request) (reply, error) {
	return c.retry(ctx, func() (reply, error) { return c.send(ctx, r) })
}

// retry calls send until there is a response that another attempt would not change, at most
// maxAttempts times.
func (c *Client) retry(ctx context.Context, send func() (reply, error)) (reply, error) {
	for attempt := 1; ; attempt++ {
		got, err := send()
		if err == nil && !isTemporary(got.status) || attempt == maxAttempts || ctx.Err() != nil ||
			errors.Is(err, errLocal) {
			return got, err
		}
		wait, reason := firstPause<<(attempt-1), err
		if err == nil {
			wait, reason = max(wait, retryAfter(got.header)), got.failure()
		}
		wait = min(wait, maxPause)
		c.opts.Retrying(reason, wait)
		if err := c.opts.Pause(ctx, wait); err != nil {
			return got, err
		}
	}
}

// errLocal marks an error that does not come from the connection.
var errLocal = errors.New("cannot read the file to send")

// send sends a request once.
func (c *Client) send(ctx context.Context, r request) (got reply, err error) {
	resp, err := c.open(ctx, r)
	if err != nil {
		return got, err
	}
	defer resp.Body.Close()
	got = reply{status: resp.StatusCode, header: resp.Header}
	got.body, err = io.ReadAll(io.LimitReader(resp.Body, maxBody))
	if err != nil {
		return got, c.connectionError(ctx, err)
	}
	return got, nil
}

// open sends a request once and returns the response, whose body the caller must close.
func (c *Client) open(ctx context.Context, r request) (*http.Response, error) {
	address := c.base + r.path
	if len(r.params) > 0 {
		address += "?" + r.params.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, r.method, address, nil)
	if err != nil {
		return nil, herb.Wrap(herb.CodeInvalid, err, "cannot send a request to %s", c.base)
	}
	if r.body != nil {
		req.Body, req.ContentLength = io.NopCloser(r.body()), r.size
		// The server rejects a file by the headers before it is sent: without permission, for
		// example, or if it is too large.
		req.Header.Set("Expect", "100-continue")
	}
	for name, value := range r.header {
		req.Header.Set(name, value)
	}
	if c.opts.Key != "" {
		req.Header.Set("X-API-Key", c.opts.Key)
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", cmp.Or(c.opts.UserAgent, "herbarium"))
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, c.connectionError(ctx, err)
	}
	return resp, nil
}

func (c *Client) connectionError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err // without the address, which the message has
	}
	return herb.Wrap(herb.CodeUnavailable, err, "no response from %s", c.base)
}

// isTemporary reports whether the same request may succeed later.
func isTemporary(status int) bool {
	switch status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// retryAfter returns the time that a server asks for; zero if there is none.
func retryAfter(h http.Header) time.Duration {
	seconds, _ := strconv.ParseUint(h.Get("Retry-After"), 10, 16)
	return time.Duration(seconds) * time.Second
}

// failure returns the error in the body of a reply.
func (r reply) failure() error {
	if location := r.header.Get("Location"); r.status >= 300 && r.status < 400 {
		return herb.Invalidf("the server redirects to %s; give its address", herb.Address(location))
	}
	var body struct {
		Message  string
		Requires []herb.Consent
	}
	if err := json.Unmarshal(r.body, &body); err != nil || body.Message == "" {
		body.Message = fmt.Sprintf("the server returned the status %d %s", r.status, http.StatusText(r.status))
	}
	// The caller names the consents in its own words.
	message := strings.TrimSuffix(body.Message, herb.Advice(body.Requires, herb.Consent.Query))
	return &herb.Error{Code: herb.CodeOfStatus(r.status), Message: message, Consents: body.Requires}
}
