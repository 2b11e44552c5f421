package fetch

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"herbarium/internal/dial"
	"herbarium/internal/herb"
	"herbarium/internal/publish/receive"
)

const (
	// maxTime limits a fetch, and stall the time without a byte.
	maxTime = time.Hour
	stall   = 30 * time.Second

	maxRedirects = 5
	maxResumes   = 5 // of a download whose connection is lost
	maxMessage   = 300
	// maxRetryAfter limits how long a server may postpone the next fetch.
	maxRetryAfter = 24 * time.Hour
)

// errUnchanged reports that a file has not changed since it was fetched.
var errUnchanged = errors.New("the file has not changed")

// retryError is an error of a server that states when to fetch again.
type retryError struct {
	error
	after time.Duration
}

// Unwrap returns the error.
func (e *retryError) Unwrap() error { return e.error }

// validators identify the content of a file that was fetched.
type validators struct {
	ETag     string `json:"etag,omitempty"`
	Modified string `json:"last_modified,omitempty"`
	SHA256   string `json:"sha256,omitempty"`
}

// Credentials are a header that a host requires.
type Credentials struct {
	Datasets string // pattern of those that may name the credentials
	Host     string // to which alone the header is sent
	Header   string
	Value    herb.Secret
}

// ParseCredentials parses lines such as "crm shop/* data.example.org Authorization: Bearer …".
// Errors contain no value.
func ParseCredentials(text herb.Secret) (map[string]Credentials, error) {
	all := map[string]Credentials{}
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		if strings.TrimSpace(line) == "" {
			continue
		}
		before, value, ok := strings.Cut(strings.TrimSpace(line), ":")
		fields := strings.Fields(before)
		if !ok || len(fields) != 4 || strings.TrimSpace(value) == "" || all[fields[0]].Host != "" {
			return nil, herb.Invalidf("line %d is not NAME DATASETS HOST HEADER: VALUE, with a name of its own", number)
		}
		if _, err := herb.ParsePattern(fields[1]); err != nil {
			return nil, herb.Invalidf("line %d: %s", number, herb.MessageOf(err))
		}
		all[fields[0]] = Credentials{fields[1], strings.ToLower(fields[2]), fields[3],
			herb.Secret(strings.TrimSpace(value))}
	}
	return all, nil
}

// ClientOptions configures a Client. Hosts and Files are required.
type ClientOptions struct {
	Hosts       Hosts
	Files       *receive.Receiver
	Credentials map[string]Credentials // by name
	Program     string                 // of the header User-Agent; empty means Herbarium
	Lookup      dial.LookupFunc        // nil means the resolver of the system
	TLS         *tls.Config            // nil means the defaults
	Stall       time.Duration          // without a byte; 0 means 30 seconds
	MaxTime     time.Duration          // of a fetch; 0 means an hour
}

// Client fetches files. It is safe for concurrent use.
type Client struct {
	opts      ClientOptions
	transport http.RoundTripper
}

// NewClient returns a client.
func NewClient(o ClientOptions) *Client {
	o.Program = cmp.Or(o.Program, "Herbarium")
	o.Stall, o.MaxTime = cmp.Or(o.Stall, stall), cmp.Or(o.MaxTime, maxTime)
	transport := dial.NewTransport(o.Lookup, o.Hosts.checkAddress)
	transport.TLSClientConfig = o.TLS
	return &Client{o, transport}
}

// Fetch fetches the file of a dataset. The caller closes it.
func (c *Client) Fetch(ctx context.Context, ref herb.Ref, s herb.FetchSource) (*receive.File, error) {
	f, _, err := c.fetch(ctx, ref, s, validators{})
	return f, err
}

// fetch fetches the file of a dataset unless it is known: the error is errUnchanged then. It
// returns what identifies the file. Errors contain neither addresses nor secrets.
func (c *Client) fetch(ctx context.Context, ref herb.Ref, s herb.FetchSource, known validators) (f *receive.File,
	is validators, err error) {
	limited, cancel := context.WithTimeout(ctx, c.opts.MaxTime)
	defer cancel()
	if err := herb.CheckFetchAddress(s.Address); err != nil {
		return nil, is, err
	}
	if c.opts.Hosts.isEmpty() {
		return nil, is, herb.Errorf(herb.CodeRejected, "this server fetches nothing; its operator allows hosts with "+
			"the setting fetch_hosts")
	}
	if strings.HasPrefix(s.Address, "s3://") {
		f, is, err = c.fetchObject(limited, s, known)
	} else {
		f, is, err = c.download(limited, ref, s, known)
	}
	switch {
	case err != nil && ctx.Err() == nil && limited.Err() != nil:
		err = herb.Errorf(herb.CodeUnavailable, "the file was not complete after %s", c.opts.MaxTime)
	case err == nil:
		is.SHA256 = f.SHA256
		if f.SHA256 == known.SHA256 {
			return nil, is, errors.Join(errUnchanged, f.Close())
		}
	}
	return f, is, err
}

// download fetches a file over HTTP.
func (c *Client) download(ctx context.Context, ref herb.Ref, s herb.FetchSource, known validators) (*receive.File,
	validators, error) {
	address, _ := herb.DownloadAddress(s.Address)
	d := &download{Client: c, ref: ref, source: s, address: address}
	defer d.close()
	response, err := d.request(ctx, func(h http.Header) {
		if known.ETag != "" {
			h.Set("If-None-Match", known.ETag)
		}
		if known.Modified != "" {
			h.Set("If-Modified-Since", known.Modified)
		}
	})
	if err != nil {
		return nil, validators{}, err
	}
	is := validators{ETag: shortHeader(response, "Etag"), Modified: settledTime(response)}
	switch {
	case response.StatusCode == http.StatusNotModified:
		return nil, known, errUnchanged
	case response.StatusCode != http.StatusOK:
		return nil, is, statusError(response)
	}
	if !strings.HasPrefix(is.ETag, "W/") {
		d.etag = is.ETag
	}
	d.size = response.ContentLength
	_, params, _ := mime.ParseMediaType(response.Header.Get("Content-Disposition")) // optional
	name := cmp.Or(params["filename"], herb.FetchFile(address))
	f, err := c.opts.Files.Receive(ctx, d, name, d.size)
	return f, is, err
}

// shortHeader returns a header of a response unless it is too long to be stored.
func shortHeader(r *http.Response, name string) string {
	if v := r.Header.Get(name); len(v) <= maxMessage {
		return v
	}
	return ""
}

// settledTime returns when the file was modified; empty if it was so shortly before the response
// that another change could have the same time.
func settledTime(r *http.Response) string {
	const least = 2 * time.Second
	modified := shortHeader(r, "Last-Modified")
	at, err := http.ParseTime(modified)
	now, noDate := http.ParseTime(r.Header.Get("Date"))
	if err != nil || noDate != nil || now.Sub(at) < least {
		return ""
	}
	return modified
}

// statusError returns the error of a response without a file.
func statusError(r *http.Response) error {
	err := herb.Errorf(herb.CodeUnavailable, "the source responded with status %d %s", r.StatusCode,
		http.StatusText(r.StatusCode))
	value := r.Header.Get("Retry-After")
	after := time.Duration(0)
	if seconds, failed := strconv.Atoi(value); failed == nil && seconds > 0 {
		after = time.Duration(min(seconds, int(maxRetryAfter.Seconds()))) * time.Second
	} else if at, failed := http.ParseTime(value); failed == nil {
		after = max(0, min(time.Until(at), maxRetryAfter))
	}
	return &retryError{err, after}
}

// download reads a file over HTTP, and continues where a lost connection has ended.
type download struct {
	*Client
	ref     herb.Ref
	source  herb.FetchSource
	address string
	etag    string // strong; empty: it cannot be continued
	size    int64  // -1: unknown
	at      int64
	resumes int

	body  io.ReadCloser
	timer *time.Timer // ends a request that stalls
	ctx   context.Context
	sent  context.Context // of the request
	stop  context.CancelCauseFunc
}

var errStalled = errors.New("the source has sent nothing for too long")

// request sends a request and returns the response, whose body d reads.
func (d *download) request(ctx context.Context, set func(http.Header)) (*http.Response, error) {
	d.close()
	requestCtx, cancel := context.WithCancelCause(ctx)
	d.ctx, d.sent, d.stop = ctx, requestCtx, cancel
	d.timer = time.AfterFunc(d.opts.Stall, func() { cancel(errStalled) })
	r, err := http.NewRequestWithContext(requestCtx, http.MethodGet, d.address, nil)
	if err != nil {
		return nil, herb.Invalidf("the address is malformed")
	}
	if err := d.opts.Hosts.check(r.URL); err != nil {
		return nil, err
	}
	credentials, named := d.opts.Credentials[d.source.Credentials]
	if d.source.Credentials != "" && (!named || credentials.Host != strings.ToLower(r.URL.Host) ||
		!d.ref.Matches(credentials.Datasets)) {
		return nil, herb.Errorf(herb.CodeRejected, "the server has no credentials %q of %s for %s",
			herb.Clip(d.source.Credentials, 100), d.ref, herb.Clip(r.URL.Host, 200))
	}
	r.Header.Set("User-Agent", d.opts.Program)
	r.Header.Set("Accept", "*/*")
	r.Header.Set("Accept-Encoding", "identity")
	set(r.Header)
	client := http.Client{
		Transport: credentialTransport{d.transport, credentials},
		CheckRedirect: func(next *http.Request, via []*http.Request) error {
			if len(via) > maxRedirects {
				return herb.Errorf(herb.CodeUnavailable, "the source redirects more than %d times", maxRedirects)
			}
			next.Header.Del("Referer") // of an address that may be private
			return d.opts.Hosts.check(next.URL)
		},
	}
	response, err := client.Do(r)
	if err != nil {
		return nil, describe(requestCtx, err)
	}
	d.body = response.Body
	return response, nil
}

// credentialTransport adds credentials to the requests of their host, and of no other one to which
// it redirects.
type credentialTransport struct {
	http.RoundTripper
	Credentials
}

// RoundTrip implements http.RoundTripper.
func (t credentialTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if t.Host != "" && strings.ToLower(r.URL.Host) == t.Host {
		r = r.Clone(r.Context())
		r.Header.Set(t.Header, string(t.Value))
	}
	return t.RoundTripper.RoundTrip(r)
}

// describe returns an error without the URL, which may contain secrets after a redirect.
func describe(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	if _, ok := errors.AsType[*herb.Error](err); ok {
		return err
	}
	if e, ok := errors.AsType[*net.DNSError](err); ok {
		return herb.Errorf(herb.CodeUnavailable, "the host %s was not found", herb.Clip(e.Name, 200))
	}
	if e, ok := errors.AsType[*net.OpError](err); ok {
		err = e.Err // without the address that the name has
	}
	return herb.Errorf(herb.CodeUnavailable, "cannot fetch the file: %s", herb.Clip(err.Error(), maxMessage))
}

// Read implements io.Reader.
func (d *download) Read(p []byte) (n int, err error) {
	d.timer.Reset(d.opts.Stall)
	n, err = d.body.Read(p)
	d.timer.Stop()
	d.at += int64(n)
	if err == io.EOF && d.sent.Err() != nil { // a source may end the response to a request that was canceled
		err = context.Cause(d.sent)
	}
	if err == io.EOF && d.size >= 0 && d.at != d.size { // the rest was another one than was requested
		return n, herb.Errorf(herb.CodeUnavailable, "the file is not complete: it has %s of %s",
			herb.FormatBytes(d.at), herb.FormatBytes(d.size))
	}
	if err == nil || err == io.EOF || d.ctx.Err() != nil {
		return n, err
	}
	if d.etag == "" || d.at == 0 || d.resumes == maxResumes {
		reason, announced := "the connection was lost", ""
		if errors.Is(context.Cause(d.sent), errStalled) {
			reason = errStalled.Error()
		}
		if d.size >= 0 {
			announced = " of " + herb.FormatBytes(d.size)
		}
		return n, herb.Errorf(herb.CodeUnavailable, "the file is not complete: %s, after %s%s", reason,
			herb.FormatBytes(d.at), announced)
	}
	d.resumes++
	return n, d.resume()
}

// resume requests the rest of the file, provided that it is the same file.
func (d *download) resume() error {
	response, err := d.request(d.ctx, func(h http.Header) {
		h.Set("Range", fmt.Sprintf("bytes=%d-", d.at))
		h.Set("If-Range", d.etag)
	})
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusPartialContent ||
		!strings.HasPrefix(response.Header.Get("Content-Range"), fmt.Sprintf("bytes %d-", d.at)) {
		return herb.Errorf(herb.CodeUnavailable, "the file has changed while it was fetched, or cannot be continued "+
			"after a lost connection")
	}
	return nil
}

// close ends the request, if there is one.
func (d *download) close() {
	if d.stop != nil {
		d.timer.Stop()
		d.stop(nil)
	}
	if d.body != nil {
		_ = d.body.Close() // the rest is not needed
		d.body = nil
	}
}
