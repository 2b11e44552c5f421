package telemetry

import (
	"context"
	"io"
	"log/slog"
	"math"
	"strconv"
	"sync"
	"time"
	"unicode/utf8"

	"herbarium/internal/herb"
)

// jsonHandler writes JSON lines as slog.JSONHandler does, which writes the records that are not
// flat. Requests are logged with flat records: it writes one in a fourth of the time.
type jsonHandler struct {
	slog.Handler
	out *lockedWriter // also of Handler
}

func newJSONHandler(w io.Writer, level slog.Level) jsonHandler {
	out := &lockedWriter{w: w}
	return jsonHandler{slog.NewJSONHandler(out, &slog.HandlerOptions{Level: level, ReplaceAttr: formatDuration}), out}
}

// Handle implements slog.Handler.
func (h jsonHandler) Handle(ctx context.Context, r slog.Record) error {
	h.out.mu.Lock()
	b, isFlat := appendRecord(h.out.line[:0], &r)
	h.out.line = b[:0]
	if !isFlat {
		h.out.mu.Unlock()
		return h.Handler.Handle(ctx, r)
	}
	defer h.out.mu.Unlock()
	_, err := h.out.w.Write(b)
	return err
}

// appendRecord appends a record as a line of JSON. It reports false for a record with values other
// than valid texts, numbers, booleans and durations.
func appendRecord(b []byte, r *slog.Record) (line []byte, isFlat bool) {
	b = append(b, `{"`+slog.TimeKey+`":"`...)
	b = r.Time.AppendFormat(b, time.RFC3339Nano)
	b = append(b, `","`+slog.LevelKey+`":"`...)
	b = append(b, r.Level.String()...)
	b = append(b, `","`+slog.MessageKey+`":`...)
	b = herb.AppendJSONString(b, r.Message)
	isFlat = !r.Time.IsZero() && utf8.ValidString(r.Message)
	r.Attrs(func(a slog.Attr) bool {
		a = formatDuration(nil, a)
		b = append(herb.AppendJSONString(append(b, ','), a.Key), ':')
		switch a.Value.Kind() {
		case slog.KindString:
			isFlat = isFlat && utf8.ValidString(a.Value.String())
			b = herb.AppendJSONString(b, a.Value.String())
		case slog.KindInt64:
			b = strconv.AppendInt(b, a.Value.Int64(), 10)
		case slog.KindBool:
			b = strconv.AppendBool(b, a.Value.Bool())
		case slog.KindFloat64:
			f := a.Value.Float64()
			isFlat = isFlat && math.Abs(f) < 1e21 // others are not decimal numbers in JSON
			b = strconv.AppendFloat(b, f, 'f', -1, 64)
		default:
			isFlat = false
		}
		return isFlat
	})
	return append(b, "}\n"...), isFlat
}

// lockedWriter writes one line at a time.
type lockedWriter struct {
	mu   sync.Mutex
	w    io.Writer
	line []byte // of jsonHandler; for reuse
}

// Write implements io.Writer.
func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}
