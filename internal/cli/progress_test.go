package cli

import (
	"strings"
	"testing"
	"time"

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
			progress.Progress{Phase: "reading", Step: 3, Steps: 5, Done: 500_000, Total: 2_000_000, Bytes: true, Records: 12_000, Elapsed: 2 * time.Second},
			"reading (step 3 of 5), 25 %, 500.0 kB of 2.0 MB, 12,000 records, 6,000/s, about 6s left",
		},
		"no total": {
			progress.Progress{Phase: "exporting", Done: 999, Bytes: true, Records: 3, Elapsed: time.Second},
			"exporting, 999 B, 3 records, 3/s",
		},
		"steps": {
			progress.Progress{Phase: "sorting", Step: 4, Steps: 5, Done: 1, Total: 4, Elapsed: time.Second},
			"sorting (step 4 of 5), 25 %, about 3s left",
		},
		"just begun":  {progress.Progress{Phase: "checking", Step: 5, Steps: 5}, "checking (step 5 of 5)"},
		"a terabyte":  {progress.Progress{Phase: "x", Done: 3_400_000_000_000, Bytes: true}, "x, 3.4 TB"},
		"all is done": {progress.Progress{Phase: "x", Done: 5, Total: 5, Elapsed: time.Second}, "x, 100 %"},
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
	for name, c := range map[string]struct {
		terminal bool
		want     string
	}{
		"terminal": {true, "\r\x1b[Kf: a, 1 %\r\x1b[Kf: a, 2 %\r\x1b[Kf: b\r\x1b[Kf: b, 70 %\r\x1b[K"},
		"pipe":     {false, "f: a, 1 %\nf: b\nf: b, 70 %\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			now := time.Unix(0, 0)
			p := &progressDisplay{out: &out, terminal: c.terminal, now: func() time.Time { return now }, what: "f", began: now}
			at := func(ms int, a progress.Progress) {
				now = time.Unix(0, 0).Add(time.Duration(ms) * time.Millisecond)
				p.update(a)
			}
			at(900, progress.Progress{Phase: "a", Done: 0, Total: 100})
			at(1000, progress.Progress{Phase: "a", Done: 1, Total: 100})
			at(1050, progress.Progress{Phase: "a", Done: 1, Total: 100})
			at(1100, progress.Progress{Phase: "a", Done: 2, Total: 100})
			at(1101, progress.Progress{Phase: "b"})
			at(6101, progress.Progress{Phase: "b", Done: 70, Total: 100})
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
	if want := "f: exporting, 25 %, 1,024 records, 512/s, about 6s left\n"; out.String() != want || passed != 4096 {
		t.Errorf("%d records passed\ngot  %swant %s", passed, &out, want)
	}
}
