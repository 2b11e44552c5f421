package telemetry

import (
	"context"
	"io"
	"log/slog"
	"strings"
	"sync"
)

// humanHandler writes one line a record for people: time, level where it matters, message, attributes.
type humanHandler struct {
	mu     *sync.Mutex // shared by all handlers on the same writer
	w      io.Writer
	level  slog.Level
	colour bool
	group  string // names of the open groups, each followed by a dot
	attrs  string // rendered already
}

func newHumanHandler(w io.Writer, level slog.Level, colour bool) *humanHandler {
	return &humanHandler{mu: new(sync.Mutex), w: w, level: level, colour: colour}
}

// The colours of a terminal.
const (
	dim    = "\x1b[2m"
	red    = "\x1b[31m"
	yellow = "\x1b[33m"
	reset  = "\x1b[0m"
)

// Enabled is part of slog.Handler.
func (h *humanHandler) Enabled(_ context.Context, l slog.Level) bool { return l >= h.level }

// Handle is part of slog.Handler.
func (h *humanHandler) Handle(_ context.Context, r slog.Record) error {
	var b strings.Builder
	b.WriteString(h.paint(dim, r.Time.Format("15:04:05")))
	b.WriteByte(' ')
	switch {
	case r.Level >= slog.LevelError:
		b.WriteString(h.paint(red, "error "))
	case r.Level >= slog.LevelWarn:
		b.WriteString(h.paint(yellow, "warning "))
	case r.Level < slog.LevelInfo:
		b.WriteString(h.paint(dim, "debug "))
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

// WithAttrs is part of slog.Handler.
func (h *humanHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	var b strings.Builder
	for _, a := range attrs {
		h.append(&b, h.group, a)
	}
	next := *h
	next.attrs += b.String()
	return &next
}

// WithGroup is part of slog.Handler.
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
	b.WriteString(h.paint(dim, escape(group+a.Key)+"="))
	b.WriteString(quote(v.String()))
}

func (h *humanHandler) paint(colour, s string) string {
	if !h.colour {
		return s
	}
	return colour + s + reset
}
