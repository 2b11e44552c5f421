package cli

import (
	"strings"
	"testing"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/progress"
	"herbarium/internal/query"
)

func TestProgressLine(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		at   progress.Progress
		want string
	}{
		"bytes": {
			progress.Progress{Phase: "reading", Step: 3, Steps: 5, Done: 500_000, Total: 2_000_000, Bytes: true,
				Records: 12_000, Elapsed: 2 * time.Second},
			"reading (3/5) 2s, 25 %, 12,000 records, 488 KiB of 1.9 MiB, about 6s left, 6,000/s",
		},
		"no total": {
			progress.Progress{Phase: "exporting", Done: 999, Bytes: true, Records: 3, Elapsed: time.Second},
			"exporting 1s, 3 records, 999 bytes, 3/s",
		},
		"steps": {
			progress.Progress{Phase: "sorting", Step: 4, Steps: 5, Done: 1, Total: 4, Elapsed: time.Second},
			"sorting (4/5) 1s, 25 %, about 3s left",
		},
		"optional phase": {progress.Progress{Phase: "inferring types", Steps: 4, Done: 1, Total: 4},
			"inferring types, 25 %"},
		"just begun": {progress.Progress{Phase: "checking", Step: 5, Steps: 5}, "checking (5/5)"},
		"too early": {
			progress.Progress{Phase: "x", Done: 1, Total: 1000, Elapsed: 3 * time.Second}, "x 3s, 0 %",
		},
		"a terabyte":  {progress.Progress{Phase: "x", Done: 3_400_000_000_000, Bytes: true}, "x, 3.1 TiB"},
		"all is done": {progress.Progress{Phase: "x", Done: 5, Total: 5, Elapsed: time.Second}, "x 1s, 100 %"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := progressLine(c.at); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestProgress(t *testing.T) {
	t.Parallel()
	// A terminal truncates the line instead of wrapping it.
	line := func(s string) string { return "\r\x1b[K\x1b[?7l" + s + "\x1b[?7h" }
	long := strings.Repeat("n", 50)
	clipped := herb.Clip(long, maxShownName)
	for name, c := range map[string]struct {
		what     string
		terminal bool
		want     string
	}{
		"terminal": {"f", true, line("f: a, 1 %") + line("f: a, 2 %") + line("f: b") + line("f: b 3s") +
			line("f: b, 70 %") + "\r\x1b[K"},
		"long name": {long, true, line(clipped+": a, 1 %") + line(clipped+": a, 2 %") + line(clipped+": b") +
			line(clipped+": b 3s") +
			line(clipped+": b, 70 %") + "\r\x1b[K"},
		"pipe": {"f", false, "f: a, 1 %\nf: b\nf: b, 70 %\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			now := time.Unix(0, 0)
			p := &progressDisplay{out: &out, terminal: c.terminal, now: func() time.Time { return now },
				what: c.what, began: now}
			at := func(ms int, show func()) {
				now = time.Unix(0, 0).Add(time.Duration(ms) * time.Millisecond)
				show()
			}
			update := func(ms int, a progress.Progress) { at(ms, func() { p.update(a) }) }
			at(850, p.show)
			update(900, progress.Progress{Phase: "a", Done: 0, Total: 100})
			update(1000, progress.Progress{Phase: "a", Done: 1, Total: 100})
			update(1050, progress.Progress{Phase: "a", Done: 1, Total: 100})
			update(1100, progress.Progress{Phase: "a", Done: 2, Total: 100})
			update(1101, progress.Progress{Phase: "b"})
			at(4101, p.show)
			update(6101, progress.Progress{Phase: "b", Done: 70, Total: 100})
			p.end()
			p.end()
			if got := out.String(); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestProgress_records(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	now := time.Unix(0, 0)
	p := &progressDisplay{out: &out, now: func() time.Time { return now }, what: "f", began: now}
	now = now.Add(2 * time.Second)
	passed := 0
	for range p.records("exporting", query.Stream{Total: 4096, Records: func(yield func([]byte, error) bool) {
		for range 4096 {
			if !yield(nil, nil) {
				return
			}
		}
	}}).Records {
		passed++
	}
	if want := "f: exporting 2s, 25 %, 1,024 records, about 6s left, 512/s\n"; out.String() != want || passed != 4096 {
		t.Errorf("%d records passed\ngot  %swant %s", passed, &out, want)
	}
}
