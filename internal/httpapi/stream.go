package httpapi

import (
	"context"
	"hash"
	"net/http"
	"time"
)

// streamChunk is how much of a streamed body is written at once. A client has Options.Stall for each chunk.
const streamChunk = 64 << 10

// stream is the body of a response that is too large to be held in memory. Its response begins with the first byte. A
// client may take as long as it likes for the whole body, as long as it keeps reading.
//
// Producing a body is bound by the processors, sending it by the client. A stream therefore holds one of a few encoder slots
// while the body is produced, and none while a chunk is sent.
type stream struct {
	ctx      context.Context // of the client, without the deadline of other requests
	w        *response
	control  *http.ResponseController
	stall    time.Duration
	encoders chan struct{}
	begin    func()    // sends the header
	digest   hash.Hash // of the bytes sent; nil: none is wanted
	encoding bool      // it holds an encoder slot
	failed   bool      // the client does not read any more
}

func (a *API) newStream(w *response, begin func()) *stream {
	return &stream{
		ctx: w.client, w: w, control: http.NewResponseController(w.ResponseWriter), stall: a.opts.Stall,
		encoders: a.encoders, begin: begin,
	}
}

// start waits for an encoder slot.
func (s *stream) start() error {
	select {
	case s.encoders <- struct{}{}:
		s.encoding = true
		return nil
	case <-s.ctx.Done():
		return s.ctx.Err()
	}
}

// stop gives the encoder slot back.
func (s *stream) stop() {
	if s.encoding {
		s.encoding = false
		<-s.encoders
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
