package telemetry

import (
	"context"
	"io"
	"log/slog"
	"strings"
	"sync"
)

// humanHandler writes one readable line per record: time, level unless it is info, message, attributes.
type humanHandler struct {
	mu    *sync.Mutex // shared by all handlers on the same writer
	w     io.Writer
	level slog.Level
	color bool
	group string // names of the open groups, each followed by a dot
	attrs string // already formatted
}

func newHumanHandler(w io.Writer, level slog.Level, color bool) *humanHandler {
	return &humanHandler{mu: new(sync.Mutex), w: w, level: level, color: color}
}

// Terminal colors.
const (
	dim    = "\x1b[2m"
	red    = "\x1b[31m"
	yellow = "\x1b[33m"
	reset  = "\x1b[0m"
)

// Enabled implements slog.Handler.
func (h *humanHandler) Enabled(_ context.Context, l slog.Level) bool { return l >= h.level }

// Handle implements slog.Handler.
func (h *humanHandler) Handle(_ context.Context, r slog.Record) error {
	var b strings.Builder
	b.WriteString(h.colorize(dim, r.Time.Format("15:04:05")))
	b.WriteByte(' ')
	switch {
	case r.Level >= slog.LevelError:
		b.WriteString(h.colorize(red, "error "))
	case r.Level >= slog.LevelWarn:
		b.WriteString(h.colorize(yellow, "warning "))
	case r.Level < slog.LevelInfo:
		b.WriteString(h.colorize(dim, "debug "))
	}
	b.WriteString(escape(r.Message))
	b.WriteString(h.attrs)
	r.Attrs(func(a slog.Attr) bool {
		h.append(&b, h.group, a)
		return true
	})
	b.WriteByte('\n')
	h.mu.Lock()
	defer h.mu.Unlock()
	_, err := io.WriteString(h.w, b.String())
	return err
}

// WithAttrs implements slog.Handler.
func (h *humanHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	var b strings.Builder
	for _, a := range attrs {
		h.append(&b, h.group, a)
	}
	next := *h
	next.attrs += b.String()
	return &next
}

// WithGroup implements slog.Handler.
func (h *humanHandler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	next := *h
	next.group += name + "."
	return &next
}

func (h *humanHandler) append(b *strings.Builder, group string, a slog.Attr) {
	v := a.Value.Resolve()
	if a.Equal(slog.Attr{}) {
		return
	}
	if v.Kind() == slog.KindGroup {
		if a.Key != "" {
			group += a.Key + "."
		}
		for _, inner := range v.Group() {
			h.append(b, group, inner)
		}
		return
	}
	b.WriteByte(' ')
	b.WriteString(h.colorize(dim, escape(group+a.Key)+"="))
	b.WriteString(quote(v.String()))
}

func (h *humanHandler) colorize(color, s string) string {
	if !h.color {
		return s
	}
	return color + s + reset
}
