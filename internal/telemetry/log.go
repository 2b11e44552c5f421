// Package telemetry provides logging, metrics and profiling.
package telemetry

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"

	"herbarium/internal/herb"
)

// Log formats.
const (
	FormatAuto  = "auto" // human on a terminal, otherwise JSON
	FormatHuman = "human"
	FormatJSON  = "json"
)

// LogOptions configures a log.
type LogOptions struct {
	Level  slog.Level
	Format string // empty means FormatAuto
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
		return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: opts.Level})), nil
	}
	return slog.New(newHumanHandler(w, opts.Level, terminal && os.Getenv("NO_COLOR") == "")), nil
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
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// quote formats an attribute value. It quotes empty values and values with characters that have a meaning in the line
// or that a terminal could interpret.
func quote(s string) string {
	if s == "" || strings.ContainsFunc(s, func(r rune) bool { return r == ' ' || r == '"' || r == '=' || isUnsafe(r) }) {
		return fmt.Sprintf("%q", s)
	}
	return s
}

// isUnsafe reports whether a terminal could interpret a character: ASCII (C0) and Unicode (C1) control characters,
// other unprintable characters, and invalid UTF-8, which may be C1 controls of an 8-bit terminal.
func isUnsafe(r rune) bool { return r != ' ' && !unicode.IsPrint(r) || r == utf8.RuneError }

// escape returns a message with unsafe characters escaped.
func escape(s string) string {
	if !strings.ContainsFunc(s, isUnsafe) {
		return s
	}
	quoted := fmt.Sprintf("%q", s)
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}
