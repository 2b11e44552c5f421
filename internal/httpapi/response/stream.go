package response

import (
	"hash"
	"io"
	"net/http"
	"time"
)

// StreamChunk is the size of writes of a streamed body. A client has Options.Stall for each chunk.
const StreamChunk = 64 << 10

// stream is a response body that is too large to buffer. The response starts with the first byte.
// There is no time limit on the body as long as the client keeps reading.
//
// Producing a body is limited by the processors, sending it by the client. A stream therefore holds
// a slot of the lane admission.Expensive while a chunk is produced, and none while it is sent.
type stream struct {
	w       *Writer // its client's context limits the stream, not the request deadline
	control *http.ResponseController
	Coding  coding
	Digest  hash.Hash // of the bytes sent; nil if not needed
	failed  bool      // the client has stopped reading
}

// NewStream returns a stream that is compressed if the client accepts it.
func NewStream(w *Writer, r *http.Request) *stream {
	return &stream{w: w, control: http.NewResponseController(w), Coding: chooseCoding(r.Header["Accept-Encoding"])}
}

// Send sends the header and, unless the method is HEAD, the body that write produces.
func (s *stream) Send(r *http.Request, write func(io.Writer) error) error {
	if r.Method == http.MethodHead {
		s.header()
		return nil
	}
	if err := s.w.ticket.Work(s.w.client); err != nil {
		return err
	}
	defer s.w.ticket.Pause(s.w.client)
	out, finish := s.w.shared.compressor.stream(s.Coding, s)
	err := write(out)
	if err == nil {
		err = finish()
	}
	if err != nil {
		s.w.clientGone = s.failed || s.w.client.Err() != nil
		return err
	}
	s.header() // if the body is empty
	s.extend() // for the trailers
	return nil
}

// Write sends p in chunks.
func (s *stream) Write(p []byte) (n int, err error) {
	if s.Digest != nil {
		s.Digest.Write(p)
	}
	s.header()
	s.w.ticket.Pause(s.w.client)
	for n < len(p) && err == nil {
		s.extend()
		var m int
		m, err = s.w.Write(p[n:min(n+StreamChunk, len(p))])
		n += m
	}
	if err != nil {
		s.failed = true
		return n, err
	}
	return n, s.w.ticket.Work(s.w.client)
}

// header sends the header, once.
func (s *stream) header() {
	if s.w.status != 0 {
		return
	}
	s.w.deadline.stop()
	s.w.SetVary(VaryEncoding)
	if s.Coding != Identity {
		s.w.Set("Content-Encoding", s.Coding.String())
	}
	s.w.WriteHeader(http.StatusOK)
}

// extend resets the deadline for the next chunk. Writers of tests do not support deadlines.
func (s *stream) extend() { _ = s.control.SetWriteDeadline(time.Now().Add(s.w.shared.opts.Stall)) }
