package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/progress"
	"herbarium/internal/query"
	"herbarium/internal/telemetry"
)

// Intervals of progress output.
const (
	progressAfter = time.Second            // shorter operations show none
	progressEvery = 100 * time.Millisecond // on a terminal, where the line is overwritten
	progressLines = 5 * time.Second        // elsewhere, as separate lines
)

// progressDisplay shows the progress of a long operation: on a terminal in one line that is overwritten, elsewhere in separate
// lines.
type progressDisplay struct {
	out      io.Writer
	terminal bool
	now      func() time.Time
	what     string
	began    time.Time
	shown    time.Time
	phase    string
	open     bool // a line is on the terminal
}

// newProgress returns a progress display on standard error. The caller must call end.
func (r *runner) newProgress(what string) *progressDisplay {
	return &progressDisplay{out: r.Err, terminal: telemetry.IsTerminal(r.Err), now: time.Now, what: what, began: time.Now()}
}

// update records the progress and shows it if the interval has passed.
func (p *progressDisplay) update(a progress.Progress) {
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

// bytes returns a callback that shows the progress of reading files.
func (p *progressDisplay) bytes(phase string) func(read, size int64) {
	return func(read, size int64) {
		p.update(progress.Progress{Phase: phase, Done: read, Total: size, Bytes: true, Elapsed: p.now().Sub(p.began)})
	}
}

// records returns s with progress shown as its records are read.
func (p *progressDisplay) records(phase string, s query.Stream) query.Stream {
	all := s.Records
	s.Records = func(yield func([]byte, error) bool) {
		n := 0
		for rec, err := range all {
			if n++; n%1024 == 0 {
				p.update(progress.Progress{Phase: phase, Done: int64(n), Total: int64(s.Total), Records: n, Elapsed: p.now().Sub(p.began)})
			}
			if !yield(rec, err) {
				return
			}
		}
	}
	return s
}

// end clears the line on the terminal.
func (p *progressDisplay) end() {
	if p.open {
		fmt.Fprint(p.out, "\r\x1b[K")
		p.open = false
	}
}

// progressLine formats progress as one line.
func progressLine(a progress.Progress) string {
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

// byteCount formats a number of bytes with a unit.
func byteCount(n int64) string {
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	size, prefix := float64(n)/1000, 0
	for ; size >= 1000 && prefix < 3; prefix++ {
		size /= 1000
	}
	return fmt.Sprintf("%.1f %cB", size, "kMGT"[prefix])
}
