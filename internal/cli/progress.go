package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"herbarium/internal/app"
	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/telemetry"
)

// When progress is shown.
const (
	progressAfter = time.Second            // work that takes less shows none
	progressEvery = 100 * time.Millisecond // on a terminal, where one line is written over
	progressLines = 5 * time.Second        // elsewhere, line by line
)

// progress shows how far a long piece of work is: on a terminal in one line that changes, elsewhere in plain lines now
// and then.
type progress struct {
	out      io.Writer
	terminal bool
	now      func() time.Time
	what     string
	began    time.Time
	shown    time.Time
	phase    string
	open     bool // there is a line on the terminal
}

// newProgress begins to show the progress of something on standard error. It must be ended.
func (r *runner) newProgress(what string) *progress {
	return &progress{out: r.Err, terminal: telemetry.IsTerminal(r.Err), now: time.Now, what: what, began: time.Now()}
}

// update takes up how far the work is, and shows it if it is time.
func (p *progress) update(a app.Progress) {
	now := p.now()
	every := progressLines
	if p.terminal {
		every = progressEvery
	}
	if now.Sub(p.began) < progressAfter || now.Sub(p.shown) < every && a.Phase == p.phase {
		return
	}
	p.shown, p.phase = now, a.Phase
	line := p.what + ": " + progressLine(a)
	if !p.terminal {
		fmt.Fprintln(p.out, line)
		return
	}
	p.open = true
	fmt.Fprintf(p.out, "\r\x1b[K%s", line)
}

// bytes shows the progress of reading files.
func (p *progress) bytes(phase string) func(read, size int64) {
	return func(read, size int64) {
		p.update(app.Progress{Phase: phase, Done: read, Total: size, Bytes: true, Elapsed: p.now().Sub(p.began)})
	}
}

// records passes records on and shows how many there were.
func (p *progress) records(phase string, s query.Stream) query.Stream {
	all := s.Records
	s.Records = func(yield func([]byte, error) bool) {
		n := 0
		for rec, err := range all {
			if n++; n%1024 == 0 {
				p.update(app.Progress{Phase: phase, Done: int64(n), Total: int64(s.Total), Records: n, Elapsed: p.now().Sub(p.began)})
			}
			if !yield(rec, err) {
				return
			}
		}
	}
	return s
}

// end takes the line off the terminal: what came of the work is said by others.
func (p *progress) end() {
	if p.open {
		fmt.Fprint(p.out, "\r\x1b[K")
		p.open = false
	}
}

// progressLine tells in a line how far something is.
func progressLine(a app.Progress) string {
	parts := []string{a.Phase}
	if a.Steps > 1 {
		parts[0] = fmt.Sprintf("%s (step %d of %d)", a.Phase, a.Step, a.Steps)
	}
	if a.Total > 0 {
		parts = append(parts, fmt.Sprintf("%d %%", 100*a.Done/a.Total))
	}
	switch {
	case a.Bytes && a.Total > 0:
		parts = append(parts, byteCount(a.Done)+" of "+byteCount(a.Total))
	case a.Bytes:
		parts = append(parts, byteCount(a.Done))
	}
	if a.Records > 0 {
		parts = append(parts, herb.Count(a.Records)+" records")
		if s := a.Elapsed.Seconds(); s > 0 {
			parts = append(parts, herb.Count(int(float64(a.Records)/s))+"/s")
		}
	}
	if left := a.Left().Round(time.Second); left > 0 {
		parts = append(parts, "about "+left.String()+" left")
	}
	return strings.Join(parts, ", ")
}

// byteCount writes a number of bytes for people.
func byteCount(n int64) string {
	const unit = 1000
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	size, prefix := float64(n)/unit, 0
	for size >= unit && prefix < 3 {
		size, prefix = size/unit, prefix+1
	}
	return fmt.Sprintf("%.1f %cB", size, "kMGT"[prefix])
}
