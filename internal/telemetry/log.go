// Package telemetry provides logging, metrics and profiling.
package telemetry

import (
	"io"
	"log/slog"
	"strings"
	"time"

	"golang.org/x/term"

	"herbarium/internal/herb"
)

// Log formats.
const (
	FormatAuto  = "auto" // human on a terminal, otherwise JSON
	FormatHuman = "human"
	FormatJSON  = "json"
)

// NewLog returns a log that writes to w in one of the formats. It omits records below a level.
func NewLog(w io.Writer, level slog.Level, format string) *slog.Logger {
	if format == FormatHuman || format == FormatAuto && IsTerminal(w) {
		return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: level, ReplaceAttr: formatHuman}))
	}
	return slog.New(newJSONHandler(w, level))
}

// formatDuration replaces a duration by milliseconds, which its key says then.
func formatDuration(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		return slog.Int64(a.Key+"_ms", a.Value.Duration().Milliseconds())
	}
	return a
}

// formatHuman is formatDuration and removes the date of a record. It escapes the only control
// character that the text handler does not, so that a request cannot send commands to a terminal.
func formatHuman(groups []string, a slog.Attr) slog.Attr {
	a = formatDuration(groups, a)
	switch {
	case a.Key == slog.TimeKey && len(groups) == 0 && a.Value.Kind() == slog.KindTime:
		a.Value = slog.StringValue(a.Value.Time().Format(time.TimeOnly))
	case strings.Contains(a.Value.String(), "\x7f"):
		a.Value = slog.StringValue(strings.ReplaceAll(a.Value.String(), "\x7f", `\x7f`))
	}
	return a
}

// ParseLevel parses the name of a level.
func ParseLevel(s string) (slog.Level, error) {
	var l slog.Level
	switch strings.ToLower(s) {
	case "debug", "info", "warn", "error":
		return l, l.UnmarshalText([]byte(s))
	}
	return l, herb.Invalidf("unknown log level %q; choose debug, info, warn or error", s)
}

// IsTerminal reports whether w is a terminal.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(f.Fd()))
}
