package telemetry_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/telemetry"
)

// TestNewLog_jsonLikeSlog holds that a line of ours is one of slog's, whichever of the two has written it.
func TestNewLog_jsonLikeSlog(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 4, 5, 6, 7, 890, time.FixedZone("", 3600))
	same := func(l *slog.Logger) *slog.Logger { return l }
	for _, tt := range []struct {
		name  string
		with  func(*slog.Logger) *slog.Logger
		at    time.Time
		level slog.Level
		msg   string
		attrs []slog.Attr
	}{
		{"plain", same, at, slog.LevelInfo, "request", []slog.Attr{
			slog.String("path", "/api/v1?x=1"), slog.Int("status", 200), slog.Int64("n", -1<<63), slog.Duration("took", 1234), slog.String("none", ""),
		}},
		{"no attributes", same, at, slog.LevelWarn, "", nil},
		{"odd level", same, at, slog.LevelError + 2, "x", nil},
		{"no time", same, time.Time{}, slog.LevelInfo, "x", nil},
		{"message to escape", same, at, slog.LevelInfo, "a \"b\"\n\\", nil},
		{"quotation marks", same, at, slog.LevelInfo, `a "b"`, []slog.Attr{slog.String("c", `"d"`)}},
		{"backslashes", same, at, slog.LevelInfo, `a\b`, []slog.Attr{slog.String("c", `d\n`)}},
		{"name to escape", same, at, slog.LevelInfo, "x", []slog.Attr{slog.Int("a\tb", 1), slog.Int("c", 2)}},
		{"values to escape", same, at, slog.LevelInfo, "x", []slog.Attr{
			slog.String("a", "1"), slog.String("b", "<a href=\"x\">&amp;"), slog.String("c", "Ångström\u2028\x7f\xff"), slog.String("d", "4"),
		}},
		{"other kinds", same, at, slog.LevelInfo, "x", []slog.Attr{
			slog.Bool("b", true), slog.Float64("f", 1.5), slog.Time("t", at), slog.Any("e", errors.New("no")), slog.Uint64("u", 1<<63),
		}},
		{"groups", same, at, slog.LevelInfo, "x", []slog.Attr{slog.Group("g", "a", 1), {}, slog.Group("", "b", 2)}},
		{"attributes before", func(l *slog.Logger) *slog.Logger { return l.With("a", 1) }, at, slog.LevelInfo, "x", []slog.Attr{slog.Int("b", 2)}},
		{"group before", func(l *slog.Logger) *slog.Logger { return l.WithGroup("g") }, at, slog.LevelInfo, "x", []slog.Attr{slog.Int("b", 2)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := slog.NewRecord(tt.at, tt.level, tt.msg, 0)
			r.AddAttrs(tt.attrs...)
			var got, want bytes.Buffer
			log, err := telemetry.NewLog(&got, telemetry.LogOptions{Format: telemetry.FormatJSON})
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range []*slog.Logger{log, slog.New(slog.NewJSONHandler(&want, nil))} {
				if err := tt.with(l).Handler().Handle(context.Background(), r); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(want.String(), got.String()); diff != "" {
				t.Errorf("the line (-slog +ours):\n%s", diff)
			}
		})
	}
}
