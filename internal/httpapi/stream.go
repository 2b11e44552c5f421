package httpapi

import (
	"context"
	"hash"
	"net/http"
	"time"

	"herbarium/internal/admission"
)

// streamChunk is how much of a streamed body is written at once. A client has Options.Stall for each chunk.
const streamChunk = 64 << 10

// stream is the body of a response that is too large to be held in memory. Its response begins with the first byte. A
// client may take as long as it likes for the whole body, as long as it keeps reading.
//
// Producing a body is bound by the processors, sending it by the client. A stream therefore holds a slot of the lane
// admission.Expensive while a chunk is produced, and none while it is sent.
type stream struct {
	ctx     context.Context // of the client, without the deadline of other requests
	w       *response
	control *http.ResponseController
	stall   time.Duration
	lanes   *admission.Controller
	begin   func()    // sends the header
	digest  hash.Hash // of the bytes sent; nil: none is wanted
	leave   func()    // gives back the slot that the stream holds; nil: it holds none
	began   time.Time // when the stream took its slot
	pause   func(worked time.Duration)
	failed  bool // the client does not read any more
}

func (a *API) newStream(w *response, begin func()) *stream {
	return &stream{
		ctx: w.client, w: w, control: http.NewResponseController(w.ResponseWriter), stall: a.opts.Stall,
		lanes: a.opts.Admission, begin: begin, pause: a.opts.Admission.Pace(w.client),
	}
}

// start waits for a slot to produce the next chunk.
func (s *stream) start() (err error) {
	s.leave, err = s.lanes.Wait(s.ctx, admission.Expensive)
	s.began = time.Now()
	return err
}

// stop gives the slot back. It pauses before, not after: the slots of the lane are paced, not each export.
func (s *stream) stop() {
	if s.leave != nil {
		s.pause(time.Since(s.began))
		s.leave()
		s.leave = nil
	}
}

// Write sends p in chunks.
func (s *stream) Write(p []byte) (n int, err error) {
	if s.digest != nil {
		s.digest.Write(p)
	}
	s.header()
	s.stop()
	for n < len(p) && err == nil {
		s.extend()
		var m int
		m, err = s.w.Write(p[n:min(n+streamChunk, len(p))])
		n += m
	}
	if err != nil {
		s.failed = true
		return n, err
	}
	return n, s.start()
}

// header sends the header, once.
func (s *stream) header() {
	if s.w.status == 0 {
		s.begin()
		s.w.WriteHeader(http.StatusOK)
	}
}

// extend gives the client time for the next chunk. A writer without deadlines, as in tests, has none to extend.
func (s *stream) extend() { _ = s.control.SetWriteDeadline(time.Now().Add(s.stall)) }

// clientLeft reports whether the body ended early because of the client.
func (s *stream) clientLeft() bool { return s.failed || s.ctx.Err() != nil }
