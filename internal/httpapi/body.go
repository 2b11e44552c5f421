package httpapi

import (
	"io"
	"net/http"
	"time"

	"herbarium/internal/herb"
)

// bodyTimeout is how long a client may take to send the body of a request. Bodies are small: a plant or a form.
const bodyTimeout = 5 * time.Second

// maxForm is the size of the largest form: a key, and the query of the page to return to.
const maxForm = 32 << 10

// readBody reads a body up to a limit, before the request takes a slot of any lane: clients that send slowly hold a
// connection and nothing else.
func readBody(w *response, r *http.Request, limit int64) ([]byte, error) {
	control := http.NewResponseController(w.ResponseWriter)
	_ = control.SetReadDeadline(time.Now().Add(bodyTimeout)) // a writer without deadlines, as in tests, needs none
	body, err := io.ReadAll(io.LimitReader(r.Body, limit))
	if err != nil {
		w.Header().Set("Connection", "close")
		return nil, herb.Wrap(herb.CodeInvalid, err, "the body was not received completely within %s; send it again", bodyTimeout)
	}
	_ = control.SetReadDeadline(time.Time{})
	return body, nil
}
