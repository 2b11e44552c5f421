package response

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"slices"
	"sync"

	"herbarium/internal/httpapi/connection"

	"herbarium/internal/admission"
)

// hold is what a request holds of the budget. Its connection knows if that is much, so that it can
// be evicted for others.
type hold struct {
	ctx      context.Context  // of the request
	conn     *connection.Conn // that knows; nil if the hold is small, or there is none of a Listener
	reserved admission.Reservation
}

func (w *Writer) newHold(ctx context.Context) hold {
	return hold{ctx: ctx, reserved: w.ticket.NewReservation()}
}

// tryGrow enlarges the hold if there is room.
func (h *hold) tryGrow(bytes int64) bool {
	ok := h.reserved.TryGrow(bytes)
	if h.conn == nil && h.reserved.IsLarge() {
		h.conn = connection.Of(h.ctx)
		if h.conn != nil {
			h.conn.Hold()
		}
	}
	return ok
}

// grow enlarges the hold. If there is no room, it first evicts a connection whose client does not
// read or send what the server holds for it.
func (h *hold) grow(bytes int64) error {
	if h.tryGrow(bytes) {
		return nil
	}
	if c := connection.Of(h.ctx); c != nil {
		c.EvictHolder()
	}
	if err := h.reserved.Grow(h.ctx, bytes); err != nil {
		return err
	}
	h.tryGrow(bytes) // tells the connection
	return nil
}

// release releases all bytes. It may be called more than once.
func (h *hold) release() {
	if h.conn != nil {
		h.conn.Unhold()
		h.conn = nil
	}
	h.reserved.Release()
}

// Reserve reserves about as many bytes as the work of a request needs in addition to its buffers.
// release may be called more than once.
func (w *Writer) Reserve(ctx context.Context, bytes int) (release func(), err error) {
	h := w.newHold(ctx)
	if err := h.grow(h.reserved.Clamp(bytes)); err != nil {
		return nil, err
	}
	return h.release, nil
}

// Buffer is the only way to hold a body in memory: it reserves its capacity in the budget before it
// grows, until it is freed. Writing fails with herb.CodeUnavailable if the budget is used up. A nil
// buffer is empty and can be freed.
type Buffer struct {
	bytes []byte
	hold  hold
	pool  *sync.Pool // nil: it is not pooled
}

const (
	minBuffer = 16 << 10
	// maxKeptBuffer is the maximum size of a pooled buffer. Idle buffers are not reserved; the
	// garbage collector frees them.
	maxKeptBuffer = 256 << 10
)

// NewBuffer returns an empty buffer for a request.
func (w *Writer) NewBuffer(ctx context.Context) *Buffer {
	b, ok := w.shared.buffers.Get().(*Buffer)
	if !ok {
		b = &Buffer{pool: &w.shared.buffers}
	}
	b.hold = w.newHold(ctx)
	if !b.hold.tryGrow(int64(cap(b.bytes))) {
		b.bytes = nil // the first write waits
	}
	return b
}

// NewErrorBuffer returns an empty buffer that reserves nothing. It is for small responses that must
// not fail, such as those about the budget.
func NewErrorBuffer() *Buffer { return &Buffer{hold: hold{ctx: context.Background()}} }

// Free releases the buffer. Its content must not be used any more.
func (b *Buffer) Free() {
	if b == nil {
		return
	}
	b.hold.release()
	b.hold.ctx = nil
	if b.pool == nil {
		return
	}
	b.bytes = b.bytes[:0]
	if cap(b.bytes) > maxKeptBuffer {
		b.bytes = nil
	}
	b.pool.Put(b)
}

// Grow makes room for n more bytes.
func (b *Buffer) Grow(n int) error {
	if n <= cap(b.bytes)-len(b.bytes) {
		return nil
	}
	size := max(minBuffer, 2*cap(b.bytes), len(b.bytes)+n)
	if err := b.hold.grow(int64(size)); err != nil {
		return err
	}
	b.bytes = slices.Grow(b.bytes, size-len(b.bytes))
	return nil
}

// Write implements io.Writer.
func (b *Buffer) Write(p []byte) (int, error) {
	if err := b.Grow(len(p)); err != nil {
		return 0, err
	}
	b.bytes = append(b.bytes, p...)
	return len(p), nil
}

// WriteString implements io.StringWriter.
func (b *Buffer) WriteString(s string) (int, error) {
	if err := b.Grow(len(s)); err != nil {
		return 0, err
	}
	b.bytes = append(b.bytes, s...)
	return len(s), nil
}

// ReadFrom implements io.ReaderFrom. The buffer grows with what arrives.
func (b *Buffer) ReadFrom(r io.Reader) (read int64, err error) {
	for {
		if err := b.Grow(bytes.MinRead); err != nil {
			return read, err
		}
		n, err := r.Read(b.bytes[len(b.bytes):cap(b.bytes)])
		b.bytes = b.bytes[:len(b.bytes)+n]
		read += int64(n)
		if err == io.EOF {
			return read, nil
		}
		if err != nil {
			return read, err
		}
	}
}

// Bytes returns the content, which is valid until the next write.
func (b *Buffer) Bytes() []byte { return b.bytes }

// Len returns the size of the content.
func (b *Buffer) Len() int { return len(b.bytes) }

// Reset empties the buffer.
func (b *Buffer) Reset() { b.bytes = b.bytes[:0] }

// EncodeJSON encodes JSON into a buffer without escaping < and >. The caller must free the buffer.
func (w *Writer) EncodeJSON(ctx context.Context, v any) (*Buffer, error) {
	return w.encodeReserved(ctx, v, func() {})
}

// encodeReserved is EncodeJSON of a value for which the caller has reserved memory. It calls
// release before the encoder, which holds all JSON, writes to the buffer: otherwise one body would
// need twice its share of the budget.
func (w *Writer) encodeReserved(ctx context.Context, v any, release func()) (*Buffer, error) {
	b := w.NewBuffer(ctx)
	e := json.NewEncoder(writerFunc(func(p []byte) (int, error) {
		release()
		return b.Write(p)
	}))
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	b.bytes = bytes.TrimRight(b.bytes, "\n")
	return b, err
}

// writerFunc implements io.Writer.
type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
