package telemetry_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"herbarium/internal/telemetry"
)

func TestNewLog_human(t *testing.T) {
	t.Parallel()
	var buf bytes.Buffer
	log := telemetry.NewLog(&buf, slog.LevelInfo, telemetry.FormatHuman)
	log.Debug("not to be seen")
	log.With("request", "r 1").WithGroup("http").Warn("slow", "status", 200, slog.Group("in", "ms", 7), "note", "")
	line := buf.String()
	_, rest, _ := strings.Cut(line, " ") // the time
	if want := "level=WARN msg=slow request=\"r 1\" http.status=200 http.in.ms=7 http.note=\"\"\n"; rest != want {
		t.Errorf("got  %q\nwant %q", rest, want)
	}
}

// TestNewLog_controlCharacters checks that no control characters are written.
func TestNewLog_controlCharacters(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]string{
		"escape": "\x1b", "delete": "\x7f", "C1 control sequence introducer": "\u009b", "C1 next line": "\u0085",
		"8-bit control sequence introducer": "\x9b", "right-to-left override": "\u202e", "line end": "\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var buf bytes.Buffer
			log := telemetry.NewLog(&buf, slog.LevelInfo, telemetry.FormatHuman)
			log.Info("http: malformed"+c+"31m", "path", "/"+c+"31m", "err", errors.New(c+"31m"))
			line := strings.TrimSuffix(buf.String(), "\n")
			if strings.Contains(line, c) || strings.Count(line, "31m") != 3 {
				t.Errorf("got %q", line)
			}
		})
	}
}

func TestNewLog_jsonWithoutTerminal(t *testing.T) {
	t.Parallel()
	var buf bytes.Buffer
	log := telemetry.NewLog(&buf, slog.LevelDebug, telemetry.FormatAuto)
	log.Debug("hello", "n", 1)
	var got map[string]any
	if err := json.Unmarshal(buf.Bytes(), &got); err != nil || got["msg"] != "hello" || got["n"] != 1.0 {
		t.Errorf("got %s (%v); want one JSON object", buf.Bytes(), err)
	}
}

// TestNewLog_durations checks that durations are milliseconds in every format.
func TestNewLog_durations(t *testing.T) {
	t.Parallel()
	for format, want := range map[string]string{telemetry.FormatHuman: " http.took_ms=1500\n", telemetry.FormatJSON: `"http":{"took_ms":1500}}`} {
		var buf bytes.Buffer
		telemetry.NewLog(&buf, slog.LevelInfo, format).WithGroup("http").Info("hello", "took", 1500*time.Millisecond)
		if !strings.Contains(buf.String(), want) {
			t.Errorf("%s: got %s, want %s", format, &buf, want)
		}
	}
}

func TestParseLevel(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"debug", "INFO", "warn", "error"} {
		if _, err := telemetry.ParseLevel(s); err != nil {
			t.Errorf("ParseLevel(%q): %v", s, err)
		}
	}
	for _, s := range []string{"", "loud", "info+3"} {
		if _, err := telemetry.ParseLevel(s); err == nil {
			t.Errorf("ParseLevel(%q) succeeded", s)
		}
	}
}
