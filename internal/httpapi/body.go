package httpapi

import (
	"io"
	"net/http"
	"time"

	"herbarium/internal/herb"
)

// bodyTimeout is the time limit for receiving the body of a request. Bodies are small: a plant or a form.
const bodyTimeout = 5 * time.Second

// maxForm is the maximum size of a form: a key, and the query of the page to return to.
const maxForm = 32 << 10

// readBody reads a body up to a limit. It runs before the request takes a slot of any lane, so that slow senders occupy
// only a connection.
func readBody(w *response, r *http.Request, limit int64) ([]byte, error) {
	control := http.NewResponseController(w.ResponseWriter)
	_ = control.SetReadDeadline(time.Now().Add(bodyTimeout)) // not supported by the writers of tests
	body, err := io.ReadAll(io.LimitReader(r.Body, limit))
	if err != nil {
		w.Header().Set("Connection", "close")
		return nil, herb.Wrap(herb.CodeInvalid, err, "the body was not received within %s; send it again", bodyTimeout)
	}
	_ = control.SetReadDeadline(time.Time{})
	return body, nil
}
