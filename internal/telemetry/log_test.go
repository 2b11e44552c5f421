package telemetry_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

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
	for format, want := range map[string]string{telemetry.FormatHuman: " http.took_ms=1500\n",
		telemetry.FormatJSON: `"http":{"took_ms":1500}}`} {
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

// TestNewLog_json checks that lines are those of slog.JSONHandler, whichever values they have.
func TestNewLog_json(t *testing.T) {
	t.Parallel()
	for name, attrs := range map[string][]slog.Attr{
		"none": nil,
		"flat": {
			slog.String("path", "/a?b=<é>\x00\u2028\"\\"), slog.Int("status", -200), slog.Int64("bytes", 1<<40),
			slog.Bool("ok", true),
			slog.Float64("ms", 0.123), slog.Float64("zero", 0), slog.Float64("large", 12345678),
		},
		"UTF-8":    {slog.String("path", "\xff")},
		"exponent": {slog.Float64("ms", 1e21)},
		"group":    {slog.String("a", "b"), slog.Group("in", "ms", 7)},
		"time":     {slog.Time("at", time.Unix(1, 5).UTC())},
		"error":    {slog.Any("err", errors.New("full <disk>"))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got, want bytes.Buffer
			r := slog.NewRecord(time.Unix(1_700_000_000, 120_000_000).UTC(), slog.LevelWarn, "request \"1\"", 0)
			r.AddAttrs(attrs...)
			for w, h := range map[*bytes.Buffer]slog.Handler{
				&got:  telemetry.NewLog(&got, slog.LevelInfo, telemetry.FormatJSON).Handler(),
				&want: slog.NewJSONHandler(&want, nil),
			} {
				if err := h.Handle(t.Context(), r); err != nil {
					t.Fatal(err)
				}
				if !bytes.HasSuffix(w.Bytes(), []byte("}\n")) || !utf8.Valid(w.Bytes()) {
					t.Errorf("got %q", w)
				}
			}
			var a, b map[string]any
			if json.Unmarshal(got.Bytes(), &a) != nil || json.Unmarshal(want.Bytes(), &b) != nil ||
				!reflect.DeepEqual(a, b) {
				t.Errorf("got  %s\nwant %s", &got, &want)
			}
		})
	}
}

func BenchmarkLog_request(b *testing.B) {
	log := telemetry.NewLog(io.Discard, slog.LevelInfo, telemetry.FormatJSON)
	for b.Loop() {
		r := slog.NewRecord(time.Now(), slog.LevelInfo, "request", 0)
		r.AddAttrs(slog.String("method", "GET"), slog.String("path", "/api/v1/garden/catalog/data"),
			slog.String("query", "page=2&per_page=25"),
			slog.Int("status", 200), slog.Int64("bytes", 16384), slog.Float64("duration_ms", 0.123),
			slog.String("client", "192.0.2.1"),
			slog.String("request_id", "1abcdefghijkl"), slog.String("route", "/api/v1/{namespace}/{dataset}/data"))
		_ = log.Handler().Handle(b.Context(), r)
	}
}
