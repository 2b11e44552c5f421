package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"herbarium/internal/admission"
	"herbarium/internal/herb"
)

// statuses says which status each kind of failure has. What is not in it is 500.
var statuses = map[herb.Code]int{
	herb.CodeInvalid:         http.StatusBadRequest,
	herb.CodeUnauthenticated: http.StatusUnauthorized,
	herb.CodeForbidden:       http.StatusForbidden,
	herb.CodeRateLimited:     http.StatusTooManyRequests,
	herb.CodeNotFound:        http.StatusNotFound,
	herb.CodeMethod:          http.StatusMethodNotAllowed,
	herb.CodeRefused:         http.StatusConflict,
	herb.CodeUnavailable:     http.StatusServiceUnavailable,
	herb.CodeInternal:        http.StatusInternalServerError,
}

// errorBody is the Error of the specification.
type errorBody struct {
	Error   int32  `json:"error"`
	Message string `json:"message"`
}

// retryAfter returns how long a client should wait after a 503.
func retryAfter(err error) time.Duration {
	if rejection, ok := errors.AsType[*admission.Rejection](err); ok {
		return rejection.RetryAfter
	}
	return time.Second
}

// fail answers with an Error body. Headers that say how a failure can be mended, such as Allow, are set before.
func (a *API) fail(w *response, r *http.Request, err error) {
	w.err = err
	if w.status != 0 {
		panic(http.ErrAbortHandler)
	}
	if w.client != nil && w.client.Err() != nil && errors.Is(err, context.Canceled) {
		w.gone = true
		panic(http.ErrAbortHandler) // nobody reads the response
	}
	status, message := a.verdict(err)
	if w.ticket != nil && errors.Is(err, context.DeadlineExceeded) {
		w.ticket.ReportDeadline()
	}
	if status == http.StatusInternalServerError {
		message = fmt.Sprintf("%s; it was written down under the request id %s", message, w.id)
	}
	h := w.Header()
	for _, name := range []string{"Etag", "Link", "Content-Encoding", "Idempotency-Replayed"} {
		delete(h, name)
	}
	h.Set("Cache-Control", "no-store")
	if status == http.StatusServiceUnavailable {
		h.Set("Retry-After", strconv.Itoa(int(retryAfter(err).Seconds())))
	}
	if wait := herb.RetryAfterOf(err); wait > 0 {
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	}
	if a.wantsPage(w, r) {
		p := &page{header: http.Header{}, status: status}
		if err := a.opts.Pages.Failure(p, r, status, message); err == nil {
			delete(p.header, "Cache-Control")
			p.sendTo(w, r)
			return
		}
	}
	w.send(r, status, contentJSON, mustJSON(errorBody{Error: int32(status), Message: message}))
}

// verdict finds the status of an error and the words a client may see.
func (a *API) verdict(err error) (status int, message string) {
	code := herb.CodeOf(err)
	switch {
	case code != herb.CodeInternal:
	case errors.Is(err, context.DeadlineExceeded):
		return http.StatusServiceUnavailable, fmt.Sprintf(
			"the response was not ready in time: a request may take %s; narrow it down, or try again later", a.opts.RequestTimeout)
	case errors.Is(err, context.Canceled):
		return http.StatusServiceUnavailable, "the request was interrupted; try again"
	}
	status, ok := statuses[code]
	if !ok {
		status = http.StatusInternalServerError
	}
	if status == http.StatusInternalServerError {
		return status, "internal error"
	}
	return status, redactText(herb.MessageOf(err))
}

// encodeJSON writes JSON for people, too: < and > stay as they are.
func encodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// mustJSON encodes what cannot fail to be encoded: strings and numbers.
func mustJSON(v any) []byte {
	b, err := encodeJSON(v)
	if err != nil {
		panic(err)
	}
	return b
}
