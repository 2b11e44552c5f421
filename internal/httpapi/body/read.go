package body

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"herbarium/internal/httpapi/connection"
	"herbarium/internal/httpapi/response"

	"herbarium/internal/herb"
)

// bodyTimeout is the time limit for receiving the body of a request. Bodies are small: a plant or a
// form.
const bodyTimeout = 5 * time.Second

// Read reads a body of at most limit bytes into a buffer, which the caller must free. It runs
// before the request acquires a slot of any lane, so that slow senders occupy only a connection and
// what they have sent.
func Read(w *response.Writer, r *http.Request, limit int64) (body *response.Buffer, err error) {
	control := http.NewResponseController(w)
	body = w.NewBuffer(r.Context())
	if r.ContentLength <= limit {
		_ = control.SetReadDeadline(time.Now().Add(bodyTimeout)) // not supported by the writers of tests
		err = body.Grow(int(max(0, r.ContentLength)))
		if err == nil { // a body without room is not read at all
			_, err = body.ReadFrom(io.LimitReader(connection.Body(r), limit+1))
		}
	}
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = herb.Wrap(herb.CodeInvalid, err, "the body was not received within %s; send it again", bodyTimeout)
	case herb.CodeOf(err) == herb.CodeUnavailable: // the budget is used up
	case err != nil:
		err = herb.Wrap(herb.CodeInvalid, err, "the body ends early or its chunks are malformed; send all of it")
	case max(r.ContentLength, int64(body.Len())) > limit:
		err = herb.Invalidf("the body is larger than %s", herb.FormatBytes(limit))
	default:
		_ = control.SetReadDeadline(time.Time{})
		return body, nil
	}
	body.Free()
	w.Set("Connection", "close") // the rest is not read
	return nil, err
}
