package blobs

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"time"

	"herbarium/internal/dial"
)

// connectTimeout is the time that the store has to accept a connection.
const connectTimeout = 5 * time.Second

// newTransport returns a transport whose connections fail if they transfer nothing for a time.
func newTransport(stall time.Duration) *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DisableCompression = true // objects are transferred byte for byte
	dialer := dial.New(connectTimeout)
	t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &stallConn{conn, stall}, nil
	}
	t.ForceAttemptHTTP2 = false // its connections are read even while no response is consumed
	return t
}

// freshTransport repeats a request without a body on a new connection if a reused one does not
// answer in time: a connection whose packets are dropped on the way has no other symptom. The idle
// connections have probably died with it, so they are closed. A new connection is known to work,
// and the store may take longer to answer on it.
type freshTransport struct {
	*http.Transport
	answer time.Duration
}

var errNoAnswer = errors.New("the connection to the object store does not answer")

// RoundTrip implements http.RoundTripper.
func (t *freshTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil && r.Body != http.NoBody {
		return t.Transport.RoundTrip(r)
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	timer := time.AfterFunc(time.Hour, func() { cancel(errNoAnswer) })
	timer.Stop()
	resp, err := t.Transport.RoundTrip(r.WithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(c httptrace.GotConnInfo) {
			timer.Stop() // of a connection that was lost before
			if c.Reused {
				timer.Reset(t.answer)
			}
		},
	})))
	timer.Stop()
	switch {
	case errors.Is(context.Cause(ctx), errNoAnswer):
		if err == nil {
			_ = resp.Body.Close() // the answer was late
		}
		t.CloseIdleConnections()
		return t.Transport.RoundTrip(r)
	case err != nil:
		cancel(nil)
		return nil, err
	}
	resp.Body = &cancelBody{resp.Body, func() { cancel(nil) }}
	return resp, nil
}

// cancelBody is the body of a response that releases the context of its request.
type cancelBody struct {
	io.ReadCloser
	cancel func()
}

// Close implements io.Closer.
func (b *cancelBody) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}

// stallConn sets a deadline for each read and write. http.Client only has a limit for a whole
// request, and transferring a file may take hours.
type stallConn struct {
	net.Conn
	stall time.Duration
}

// Read implements net.Conn.
func (c *stallConn) Read(p []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(c.stall)); err != nil {
		return 0, err
	}
	return c.Conn.Read(p)
}

// Write implements net.Conn. It extends the deadline of the read that waits for the response.
func (c *stallConn) Write(p []byte) (int, error) {
	if err := c.SetDeadline(time.Now().Add(c.stall)); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}
