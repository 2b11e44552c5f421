package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

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
// lines. It is safe for concurrent use.
type progressDisplay struct {
	out   io.Writer
	width func() int // columns of the terminal; nil: not a terminal
	now   func() time.Time
	what  string
	began time.Time

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
	p := &progressDisplay{out: r.Err, now: time.Now, what: what, began: time.Now()}
	if telemetry.IsTerminal(r.Err) {
		p.width = func() int { return terminalWidth(r.Err) }
		p.redraw()
	}
	return p
}

// terminalWidth returns the number of columns of a terminal.
func terminalWidth(w io.Writer) int {
	const usual = 80
	if f, ok := w.(*os.File); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 {
			return columns
		}
	}
	return usual
}

// redraw shows the time that has passed once a second, so that a long step without reports is not mistaken for a hang.
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
	if p.width != nil {
		every = progressEvery
	}
	if p.last.Phase == "" || now.Sub(p.began) < progressAfter || now.Sub(p.shown) < every && p.last.Phase == p.phase {
		return
	}
	p.shown, p.phase = now, p.last.Phase
	a := p.last
	a.Elapsed += now.Sub(p.at)
	parts := progressParts(a)
	if p.width == nil {
		fmt.Fprintf(p.out, "%s: %s\n", p.what, strings.Join(parts, ", "))
		return
	}
	p.open = true
	fmt.Fprintf(p.out, "\r\x1b[K%s", fitLine(p.what, parts, p.width()-1)) // some terminals wrap after the last column
}

// fitLine joins as many parts as fit into a number of columns. A long name is truncated first.
func fitLine(name string, parts []string, columns int) string {
	if most := max(columns/2, 1); displayWidth(name) > most {
		name = truncate(name, most-1) + "…"
	}
	line := name + ": " + parts[0]
	for _, part := range parts[1:] {
		if displayWidth(line+", "+part) > columns {
			break
		}
		line += ", " + part
	}
	return truncate(line, columns)
}

// displayWidth returns the number of columns that s takes on a terminal.
func displayWidth(s string) (n int) {
	for _, c := range s {
		n += runeWidth(c)
	}
	return n
}

// runeWidth returns the number of columns of a character. East Asian characters take two.
func runeWidth(c rune) int {
	if c >= 0x2E80 || 0x1100 <= c && c < 0x1160 {
		return 2
	}
	return 1
}

// truncate returns the beginning of s that fits into a number of columns.
func truncate(s string, columns int) string {
	for i, c := range s {
		if columns -= runeWidth(c); columns < 0 {
			return s[:i]
		}
	}
	return s
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
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	if p.open {
		fmt.Fprint(p.out, "\r\x1b[K")
		p.open = false
	}
}

// progressParts formats progress as parts of one line, the most important first.
func progressParts(a progress.Progress) []string {
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
		parts = append(parts, herb.Count(a.Records)+" records")
	}
	switch {
	case a.Bytes && a.Total > 0:
		parts = append(parts, byteCount(a.Done)+" of "+byteCount(a.Total))
	case a.Bytes:
		parts = append(parts, byteCount(a.Done))
	}
	if left := a.Left().Round(time.Second); left > 0 {
		parts = append(parts, "about "+left.String()+" left")
	}
	if s := a.Elapsed.Seconds(); a.Records > 0 && s > 0 {
		parts = append(parts, herb.Count(int(float64(a.Records)/s))+"/s")
	}
	return parts
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
