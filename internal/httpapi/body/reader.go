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

// Reader reads the body of a request for as long as its client keeps sending.
type Reader struct {
	body    io.Reader
	control *http.ResponseController
	stall   time.Duration
	digests digests
	failed  error // of the body

	extended time.Time // when the deadline was last extended
	window   time.Time // start of the period in which minRate must be reached
	received int       // bytes in that period
}

func NewReader(w *response.Writer, r *http.Request, d digests) *Reader {
	return &Reader{
		body: connection.Body(r), control: http.NewResponseController(w), stall: w.UploadStall(), digests: d,
	}
}

// minRate is how many bytes a client must send in a period of Options.UploadStall, so that it does
// not occupy a slot for days.
const minRate = 16 << 10

// Read implements io.Reader.
func (u *Reader) Read(p []byte) (int, error) {
	const step = 100 // a deadline is extended by at least a hundredth of the time at once
	now := time.Now()
	if now.Sub(u.extended) > u.stall/step {
		_ = u.control.SetReadDeadline(now.Add(u.stall)) // not supported by the writers of tests
		u.extended = now
	}
	if u.window.IsZero() {
		u.window = now
	}
	n, err := u.body.Read(p)
	u.digests.write(p[:n])
	u.received += n
	if now := time.Now(); err == nil && now.Sub(u.window) > u.stall {
		if u.received < minRate {
			err = os.ErrDeadlineExceeded
		}
		u.window, u.received = now, 0
	}
	if err != nil && err != io.EOF {
		u.failed = err
	}
	return n, err
}

// Cause returns what is wrong with a body that could not be received.
func (u *Reader) Cause(err error) error {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF) && u.failed == nil: // within a part
		u.failed = err
	case u.failed == nil:
		return err
	case errors.Is(u.failed, os.ErrDeadlineExceeded):
		return herb.Wrap(herb.CodeInvalid, u.failed, "the body stalled for %s; nothing has changed; send it again",
			u.stall)
	}
	return herb.Wrap(herb.CodeInvalid, u.failed,
		"the body ends early or its chunks are malformed; nothing has changed; send all of it")
}

// End removes the deadline of the body.
func (u *Reader) End() {
	_ = u.control.SetReadDeadline(time.Time{}) // not supported by the writers of tests
}
