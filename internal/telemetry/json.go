package telemetry

import (
	"context"
	"io"
	"log/slog"
	"strconv"
	"time"
)

// jsonHandler writes what slog.JSONHandler writes, byte for byte. The records that make up nearly all of a server's log,
// of plain strings and numbers, it writes itself, in about half of the time; the rest it leaves to slog.
type jsonHandler struct {
	slog.Handler
	plain bool // there are no groups and attributes from before
	lines *lines
}

func newJSONHandler(w io.Writer, opts LogOptions) *jsonHandler {
	l := &lines{w: w, delay: opts.Delay}
	return &jsonHandler{slog.NewJSONHandler(l, &slog.HandlerOptions{Level: opts.Level}), true, l}
}

// Handle is part of slog.Handler. What is worth a warning does not wait to be written.
func (h *jsonHandler) Handle(ctx context.Context, r slog.Record) error {
	err := h.write(ctx, r)
	if err == nil && r.Level >= slog.LevelWarn {
		err = h.lines.flush()
	}
	return err
}

func (h *jsonHandler) write(ctx context.Context, r slog.Record) error {
	if h.plain && !r.Time.IsZero() && isPlain(r.Message) {
		if done, err := h.lines.writeRecord(&r); done {
			return err
		}
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs is part of slog.Handler.
func (h *jsonHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &jsonHandler{h.Handler.WithAttrs(attrs), false, h.lines}
}

// WithGroup is part of slog.Handler.
func (h *jsonHandler) WithGroup(name string) slog.Handler {
	return &jsonHandler{h.Handler.WithGroup(name), false, h.lines}
}

// writeRecord writes a record; done is false if there is something in it that is not plain.
func (l *lines) writeRecord(r *slog.Record) (done bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := len(l.held)
	b := append(l.held, `{"time":"`...)
	b = r.Time.AppendFormat(b, time.RFC3339Nano)
	b = append(b, `","level":"`...)
	b = append(b, r.Level.String()...)
	b = append(b, `","msg":"`...)
	b = append(b, r.Message...)
	b = append(b, '"')
	done = true
	r.Attrs(func(a slog.Attr) bool {
		b, done = appendPlain(b, a)
		return done
	})
	if !done {
		l.held = b[:before]
		return false, nil
	}
	l.held = append(b, "}\n"...)
	return true, l.added(len(l.held) - before)
}

// appendPlain appends an attribute; false if it is not plain.
func appendPlain(b []byte, a slog.Attr) ([]byte, bool) {
	if a.Key == "" || !isPlain(a.Key) {
		return b, false
	}
	b = append(b, `,"`...)
	b = append(b, a.Key...)
	b = append(b, `":`...)
	switch a.Value.Kind() {
	case slog.KindString:
		s := a.Value.String()
		b = append(b, '"')
		b = append(b, s...)
		return append(b, '"'), isPlain(s)
	case slog.KindInt64:
		return strconv.AppendInt(b, a.Value.Int64(), 10), true
	case slog.KindDuration:
		return strconv.AppendInt(b, int64(a.Value.Duration()), 10), true
	}
	return b, false
}

// isPlain reports whether a string stands in JSON as it is.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= 0x7F || plain[c/64]>>(c%64)&1 == 0 {
			return false
		}
	}
	return true
}

// plain has a bit for each character of ASCII that slog's JSON does not escape.
var plain = [2]uint64{
	0xFFFF_FFFF_0000_0000 &^ (1<<'"' | 1<<'&' | 1<<'<' | 1<<'>'),
	0xFFFF_FFFF_FFFF_FFFF &^ (1 << ('\\' - 64)),
}
