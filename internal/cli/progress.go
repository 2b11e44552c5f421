package cli

import (
	"fmt"
	"io"
	"strings"
	"sync"
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

// maxShownName is the maximum length of a name on a terminal in characters, so that the progress is
// visible, too.
const maxShownName = 40

// progressDisplay shows the progress of a long operation: on a terminal in one line that is
// overwritten, elsewhere in separate lines. It is safe for concurrent use.
type progressDisplay struct {
	out      io.Writer
	terminal bool
	now      func() time.Time
	what     string
	began    time.Time

	mu    sync.Mutex
	last  progress.Progress
	at    time.Time // of last
	shown time.Time
	phase string // that was shown
	open  bool   // a line is on the terminal
	ended bool
}

// newProgress returns a progress display on standard error. The caller must call end.
func (r *runner) newProgress(what string) *progressDisplay {
	p := &progressDisplay{out: r.Err, terminal: telemetry.IsTerminal(r.Err), now: time.Now, what: what,
		began: time.Now()}
	if p.terminal {
		p.redraw()
	}
	return p
}

// redraw shows the time that has passed once a second, so that a long step without reports is not
// mistaken for a hang.
func (p *progressDisplay) redraw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ended {
		p.show()
		time.AfterFunc(time.Second, p.redraw)
	}
}

// update records the progress and shows it if the interval has passed.
func (p *progressDisplay) update(a progress.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last, p.at = a, p.now()
	p.show()
}

// show shows the last progress if the interval has passed.
func (p *progressDisplay) show() {
	now := p.now()
	every := progressLines
	if p.terminal {
		every = progressEvery
	}
	if p.last.Phase == "" || now.Sub(p.began) < progressAfter || now.Sub(p.shown) < every && p.last.Phase == p.phase {
		return
	}
	p.shown, p.phase = now, p.last.Phase
	a := p.last
	a.Elapsed += now.Sub(p.at)
	if !p.terminal {
		fmt.Fprintf(p.out, "%s: %s\n", p.what, progressLine(a))
		return
	}
	p.open = true
	// Without automatic wrapping, the terminal truncates the line; a second line could not be
	// overwritten.
	fmt.Fprintf(p.out, "\r\x1b[K\x1b[?7l%s: %s\x1b[?7h", herb.Clip(p.what, maxShownName), progressLine(a))
}

// bytes returns a callback that shows the progress of reading files.
func (p *progressDisplay) bytes(phase string) func(read, size int64) {
	return progress.New(p.update, phase).Bytes(phase)
}

// records returns s with progress shown as its records are read.
func (p *progressDisplay) records(phase string, s query.Stream) query.Stream {
	all := s.Records
	s.Records = func(yield func([]byte, error) bool) {
		n := 0
		for rec, err := range all {
			n++
			if n%1024 == 0 {
				p.update(progress.Progress{Phase: phase, Done: int64(n), Total: int64(s.Total), Records: n,
					Elapsed: p.now().Sub(p.began)})
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
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	if p.open {
		fmt.Fprint(p.out, "\r\x1b[K")
		p.open = false
	}
}

// progressLine formats progress as one line, the most important first.
func progressLine(a progress.Progress) string {
	phase := a.Phase
	if a.Steps > 1 && a.Step > 0 {
		phase = fmt.Sprintf("%s (%d/%d)", a.Phase, a.Step, a.Steps)
	}
	if elapsed := a.Elapsed.Round(time.Second); elapsed > 0 {
		phase += " " + elapsed.String()
	}
	parts := []string{phase}
	if a.Total > 0 {
		parts = append(parts, fmt.Sprintf("%d %%", 100*a.Done/a.Total))
	}
	if a.Records > 0 { // before the bytes: some formats read their file at once and then parse it
		parts = append(parts, herb.Plural(a.Records, "record", "records"))
	}
	switch {
	case a.Bytes && a.Total > 0:
		parts = append(parts, herb.FormatBytes(a.Done)+" of "+herb.FormatBytes(a.Total))
	case a.Bytes:
		parts = append(parts, herb.FormatBytes(a.Done))
	}
	if left := a.Left().Round(time.Second); left > 0 {
		parts = append(parts, "about "+left.String()+" left")
	}
	if s := a.Elapsed.Seconds(); a.Records > 0 && s > 0 {
		parts = append(parts, herb.Count(int(float64(a.Records)/s))+"/s")
	}
	return strings.Join(parts, ", ")
}
