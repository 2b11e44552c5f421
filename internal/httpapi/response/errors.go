package response

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"herbarium/internal/herb"
)

// errorBody returns a body with the Error schema of the specification.
func errorBody(status int, message string, requires []herb.Consent) []byte {
	body := fmt.Appendf(nil, `{"error":%d,"message":`, status)
	body = herb.AppendJSONString(body, strings.ToValidUTF8(message, "\uFFFD"))
	for i, c := range requires {
		start := `,"requires":[`
		if i > 0 {
			start = ","
		}
		body = herb.AppendJSONString(append(body, start...), string(c))
	}
	if len(requires) > 0 {
		body = append(body, ']')
	}
	return append(body, '}')
}

// Fail responds with an Error body, or aborts the connection if the response has started or the
// client has disconnected. Headers that help the client, such as Allow, must be set before the
// call. sendPage may send a page about the error instead, and reports whether it has.
func (w *Writer) Fail(r *http.Request, err error, sendPage func(status int, message string) bool) {
	err = timeoutError(r.Context(), err)
	w.err = err
	if w.status != 0 {
		panic(http.ErrAbortHandler)
	}
	if w.client != nil && w.client.Err() != nil && errors.Is(err, context.Canceled) {
		w.clientGone = true
		panic(http.ErrAbortHandler) // the client has disconnected
	}
	status, message := w.DescribeError(r.Context(), err)
	h := w.Header()
	for _, name := range []string{"Etag", "Link", "X-Total-Count", "Content-Disposition", "Content-Encoding",
		"Trailer"} {
		delete(h, name)
	}
	h.Set("Cache-Control", "no-store")
	if status == http.StatusUnauthorized {
		w.addChallenges(r)
	}
	wait := herb.RetryAfterOf(err)
	if status == http.StatusServiceUnavailable {
		wait = cmp.Or(wait, time.Second)
	}
	if wait > 0 {
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	}
	if !sendPage(status, message) {
		w.Send(r, status, ContentJSON, errorBody(status, message, herb.ConsentsOf(err)))
	}
}

// timeoutError returns context.DeadlineExceeded for an error of a context that is done because the
// time of its request is over.
func timeoutError(ctx context.Context, err error) error {
	if errors.Is(err, context.Canceled) && errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return context.DeadlineExceeded
	}
	return err
}

// DescribeError records why a request failed, and returns the status and the message for its
// client.
func (w *Writer) DescribeError(ctx context.Context, err error) (status int, message string) {
	err = timeoutError(ctx, err)
	w.err = err
	status, message = w.shared.statusAndMessage(err)
	if errors.Is(err, context.DeadlineExceeded) {
		w.ticket.ReportDeadline()
	}
	if status == http.StatusInternalServerError {
		message = fmt.Sprintf("%s, logged with request ID %s", message, w.id)
	}
	return status, message
}

// Finish completes a request, whether its handler returned or panicked with p: it sends a response
// or aborts the connection, and logs the request.
func (w *Writer) Finish(r *http.Request, p any, fail func(error)) {
	if p != nil && p != http.ErrAbortHandler {
		err := w.LogPanic(r, p)
		if !w.IsSent() {
			fail(err)
		} else {
			p = http.ErrAbortHandler // a partial response must not look complete
		}
	}
	if p == http.ErrAbortHandler {
		w.status = 0 // the status sent is not valid
	}
	w.logRequest(r)
	if p == http.ErrAbortHandler {
		panic(p)
	}
}

// statusAndMessage returns the status of an error and the message for the client.
func (s *Service) statusAndMessage(err error) (status int, message string) {
	code := herb.CodeOf(err)
	switch {
	case code != herb.CodeInternal:
	case errors.Is(err, context.DeadlineExceeded):
		return http.StatusServiceUnavailable, fmt.Sprintf(
			"the request exceeded the time limit of %s; narrow it down, or try again later", s.opts.RequestTimeout)
	case errors.Is(err, context.Canceled):
		return http.StatusServiceUnavailable, "the request was interrupted; try again"
	}
	status = code.HTTPStatus()
	if status == http.StatusInternalServerError {
		return status, "internal error"
	}
	return status, Redact(herb.MessageOf(err) + herb.Advice(herb.ConsentsOf(err), herb.Consent.Query))
}
