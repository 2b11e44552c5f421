package httpapi

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

// statuses maps error codes to HTTP statuses. Other codes are 500.
var statuses = map[herb.Code]int{
	herb.CodeInvalid:         http.StatusBadRequest,
	herb.CodeUnauthenticated: http.StatusUnauthorized,
	herb.CodeForbidden:       http.StatusForbidden,
	herb.CodeRateLimited:     http.StatusTooManyRequests,
	herb.CodeNotFound:        http.StatusNotFound,
	herb.CodeGone:            http.StatusGone,
	herb.CodeMethod:          http.StatusMethodNotAllowed,
	herb.CodeRejected:        http.StatusConflict,
	herb.CodePrecondition:    http.StatusPreconditionFailed,
	herb.CodeTooLarge:        http.StatusRequestEntityTooLarge,
	herb.CodeEncoding:        http.StatusUnsupportedMediaType,
	herb.CodeUnreadable:      http.StatusUnprocessableEntity,
	herb.CodeNoSpace:         http.StatusInsufficientStorage,
	herb.CodeUnavailable:     http.StatusServiceUnavailable,
	herb.CodeInternal:        http.StatusInternalServerError,
}

// errorBody returns a body with the Error schema of the specification.
func errorBody(status int, message string) []byte {
	body := fmt.Appendf(nil, `{"error":%d,"message":`, status)
	return append(herb.AppendJSONString(body, strings.ToValidUTF8(message, "\uFFFD")), '}')
}

// fail responds with an Error body, or aborts the connection if the response has started or the
// client has disconnected. Headers that help the client, such as Allow, must be set before the
// call.
func (a *API) fail(w *response, r *http.Request, err error) {
	a.failWithPage(w, r, err, &page{buffer: newErrorBuffer(), header: http.Header{}})
}

// failWithPage is fail with a page about the error, for clients that accept HTML. An empty page is
// replaced by the error page.
func (a *API) failWithPage(w *response, r *http.Request, err error, p *page) {
	w.err = err
	if w.status != 0 {
		panic(http.ErrAbortHandler)
	}
	if w.client != nil && w.client.Err() != nil && errors.Is(err, context.Canceled) {
		w.clientGone = true
		panic(http.ErrAbortHandler) // the client has disconnected
	}
	status, message := a.statusAndMessage(err)
	if errors.Is(err, context.DeadlineExceeded) {
		w.ticket.ReportDeadline()
	}
	if status == http.StatusInternalServerError {
		message = fmt.Sprintf("%s, logged with request ID %s", message, w.id)
		p.Reset() // it may be incomplete
	}
	h := w.Header()
	for _, name := range []string{"Etag", "Link", "X-Total-Count", "Content-Disposition", "Content-Encoding", "Trailer"} {
		delete(h, name)
	}
	h.Set("Cache-Control", "no-store")
	if status == http.StatusUnauthorized && h.Get("Www-Authenticate") == "" {
		h.Set("Www-Authenticate", challenge)
	}
	wait := herb.RetryAfterOf(err)
	if status == http.StatusServiceUnavailable {
		wait = cmp.Or(wait, time.Second)
	}
	if wait > 0 {
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	}
	if a.wantsPage(w, r) && (p.Len() > 0 || a.opts.Pages.Failure(p, r, status, message) == nil) {
		p.status = status
		delete(p.header, "Cache-Control")
		p.sendTo(w, r)
		return
	}
	w.send(r, status, contentJSON, errorBody(status, message))
}

// statusAndMessage returns the status of an error and the message for the client.
func (a *API) statusAndMessage(err error) (status int, message string) {
	code := herb.CodeOf(err)
	switch {
	case code != herb.CodeInternal:
	case errors.Is(err, context.DeadlineExceeded):
		return http.StatusServiceUnavailable, fmt.Sprintf(
			"the request exceeded the time limit of %s; narrow it down, or try again later", a.opts.RequestTimeout)
	case errors.Is(err, context.Canceled):
		return http.StatusServiceUnavailable, "the request was interrupted; try again"
	}
	if status = cmp.Or(statuses[code], http.StatusInternalServerError); status == http.StatusInternalServerError {
		return status, "internal error"
	}
	return status, redactText(herb.MessageOf(err) + herb.Advice(herb.ConsentsOf(err), herb.Consent.Parameter))
}
