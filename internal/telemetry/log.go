// Package telemetry is how the program tells of itself: its log, its metrics and its profiles.
package telemetry

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"herbarium/internal/herb"
)

// The formats of a log.
const (
	FormatAuto  = "auto" // human on a terminal, JSON otherwise
	FormatHuman = "human"
	FormatJSON  = "json"
)

// LogOptions of a log.
type LogOptions struct {
	Level  slog.Level
	Format string // empty: FormatAuto
	// Delay is how long a line in JSON may wait to be written with others, unless it is a warning or an error. A log that
	// has it must be finished with Finish. 0: every line is written at once.
	Delay time.Duration
}

// NewLog returns a log that writes to w.
func NewLog(w io.Writer, opts LogOptions) (*slog.Logger, error) {
	terminal := IsTerminal(w)
	switch opts.Format {
	case FormatHuman:
	case FormatJSON:
		terminal = false
	case FormatAuto, "":
		if !terminal {
			opts.Format = FormatJSON
		}
	default:
		return nil, herb.Invalidf("unknown log format %q; choose auto, human or json", opts.Format)
	}
	if opts.Format == FormatJSON {
		return slog.New(newJSONHandler(w, opts)), nil
	}
	return slog.New(newHumanHandler(w, opts.Level, terminal && os.Getenv("NO_COLOR") == "")), nil
}

// Finish writes what a log has held back. From then on it writes every line at once.
func Finish(log *slog.Logger) error {
	if h, ok := log.Handler().(*jsonHandler); ok {
		return h.lines.finish()
	}
	return nil
}

// ParseLevel reads the name of a level.
func ParseLevel(s string) (slog.Level, error) {
	var l slog.Level
	switch strings.ToLower(s) {
	case "debug", "info", "warn", "error":
		return l, l.UnmarshalText([]byte(s))
	}
	return l, herb.Invalidf("unknown log level %q; choose debug, info, warn or error", s)
}

// IsTerminal reports whether a person is probably reading w.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// quote makes a value fit on a line of its own.
func quote(s string) string {
	if s == "" || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == '"' || r == '=' || r == 0x7F }) {
		return fmt.Sprintf("%q", s)
	}
	return s
}
