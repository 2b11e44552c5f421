package blobs

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// stalled says that nothing was heard of a store for too long.
type stalled struct{ after time.Duration }

func (s stalled) Error() string { return "no byte for " + s.after.String() }

// NonRetriable keeps Azure's client from waiting once more. Google's does not retry what it does not know.
func (stalled) NonRetriable() {}

// stallTransport ends requests that do not get on: no byte of the body goes out, no answer begins, or no byte of it comes
// in. The clients of the stores only know limits for a whole request, or none, and some of their requests outlive the
// context they were asked with.
type stallTransport struct {
	base  http.RoundTripper
	stall time.Duration
}

// RoundTrip implements http.RoundTripper.
func (t *stallTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(r.Context())
	w := &waiting{ctx: ctx, cancel: cancel, stall: t.stall}
	w.timer = time.AfterFunc(t.stall, func() { cancel(stalled{t.stall}) })
	r = r.WithContext(ctx)
	if r.Body != nil && r.Body != http.NoBody {
		r.Body = &sentBody{r.Body, w}
	}
	if again := r.GetBody; again != nil {
		r.GetBody = func() (io.ReadCloser, error) {
			body, err := again()
			if err != nil {
				return nil, err
			}
			return &sentBody{body, w}, nil
		}
	}
	resp, err := t.base.RoundTrip(r)
	w.timer.Stop()
	if err != nil {
		err = w.explain(err)
		cancel(nil)
		return nil, err
	}
	resp.Body = &receivedBody{resp.Body, w}
	return resp, nil
}

// waiting is a request under way.
type waiting struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
	stall  time.Duration
}

// explain returns why a request has ended.
func (w *waiting) explain(err error) error {
	if s, ok := errors.AsType[stalled](context.Cause(w.ctx)); ok {
		return s
	}
	return err
}

// sentBody is the body of a request. What is taken from it goes out.
type sentBody struct {
	io.ReadCloser
	w *waiting
}

func (b *sentBody) Read(p []byte) (int, error) {
	b.w.timer.Reset(b.w.stall)
	return b.ReadCloser.Read(p)
}

// receivedBody is the body of an answer. Time counts while somebody waits for more of it: who reads slowly is no fault of
// the store.
type receivedBody struct {
	io.ReadCloser
	w *waiting
}

func (b *receivedBody) Read(p []byte) (int, error) {
	b.w.timer.Reset(b.w.stall)
	n, err := b.ReadCloser.Read(p)
	b.w.timer.Stop()
	if err != nil && err != io.EOF {
		err = b.w.explain(err)
	}
	return n, err
}

func (b *receivedBody) Close() error {
	defer b.w.cancel(nil)
	b.w.timer.Stop()
	return b.ReadCloser.Close()
}
