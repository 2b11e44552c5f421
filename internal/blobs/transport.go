package blobs

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// stalled is the error of a request during which no byte was transferred for too long.
type stalled struct{ after time.Duration }

func (s stalled) Error() string { return "no byte transferred for " + s.after.String() }

// operationKey is the context key of the function that cancels an operation.
type operationKey struct{}

// withStall runs an operation and returns a stalled error if one of its requests stalled. A stall cancels the whole
// operation: the S3 client would otherwise repeat the request and wait as long again.
func withStall(ctx context.Context, operation func(ctx context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	err := operation(context.WithValue(ctx, operationKey{}, cancel))
	return explain(ctx, err)
}

// explain returns the stalled error that ended ctx, if there is one, else err.
func explain(ctx context.Context, err error) error {
	if s, ok := errors.AsType[stalled](context.Cause(ctx)); ok && err != nil {
		return s
	}
	return err
}

// stallTransport cancels operations whose requests make no progress: no byte of the body is sent, no response begins, or no
// byte of it is received. http.Client only has a limit for a whole request, and transferring a file may take hours.
type stallTransport struct {
	base  http.RoundTripper
	stall time.Duration
}

// RoundTrip implements http.RoundTripper.
func (t *stallTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx := r.Context()
	w := &stallTimer{ctx: ctx, stall: t.stall}
	cancel, ok := ctx.Value(operationKey{}).(context.CancelCauseFunc)
	if !ok {
		return nil, errors.New("request outside of an operation")
	}
	w.Timer = time.AfterFunc(t.stall, func() { cancel(stalled{t.stall}) })
	r = r.WithContext(ctx) // a copy
	if r.Body != nil && r.Body != http.NoBody {
		r.Body = &requestBody{r.Body, w}
	}
	if getBody := r.GetBody; getBody != nil {
		r.GetBody = func() (io.ReadCloser, error) {
			body, err := getBody()
			return &requestBody{body, w}, err
		}
	}
	resp, err := t.base.RoundTrip(r)
	w.Stop()
	if err != nil {
		return nil, explain(ctx, err)
	}
	resp.Body = &responseBody{resp.Body, w}
	return resp, nil
}

// stallTimer cancels the operation of one request when it expires.
type stallTimer struct {
	*time.Timer
	ctx   context.Context
	stall time.Duration
}

// requestBody restarts the timer whenever a part of the body is sent.
type requestBody struct {
	io.ReadCloser
	timer *stallTimer
}

func (b *requestBody) Read(p []byte) (int, error) {
	b.timer.Reset(b.timer.stall)
	return b.ReadCloser.Read(p)
}

// responseBody runs the timer only during a Read, so that a slow consumer is not taken for a slow store.
type responseBody struct {
	io.ReadCloser
	timer *stallTimer
}

func (b *responseBody) Read(p []byte) (int, error) {
	b.timer.Reset(b.timer.stall)
	n, err := b.ReadCloser.Read(p)
	b.timer.Stop()
	if err != nil && err != io.EOF {
		err = explain(b.timer.ctx, err)
	}
	return n, err
}
