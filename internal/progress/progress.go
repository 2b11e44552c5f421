// Package progress reports how far a long operation is.
package progress

import (
	"slices"
	"sync"
	"time"
)

// Progress is the progress of a long operation.
type Progress struct {
	Phase string `json:"phase"` // name of the phase
	// number of the phase, from 1; 0 for a phase that is not always necessary
	Step    int           `json:"step,omitempty"`
	Steps   int           `json:"steps,omitempty"`   // number of phases
	Done    int64         `json:"done"`              // in bytes, or in the unit of the phase
	Total   int64         `json:"total,omitempty"`   // 0 if unknown
	Bytes   bool          `json:"-"`                 // Done and Total are bytes
	Records int           `json:"records,omitempty"` // records read in this phase
	Elapsed time.Duration `json:"-"`                 // since the phase began
}

// Left estimates the remaining time of the phase; 0 if unknown. The beginning of a phase is not
// representative.
func (p Progress) Left() time.Duration {
	const minElapsed = time.Second
	if p.Elapsed < minElapsed || p.Done < p.Total/50 || p.Done <= 0 || p.Total <= p.Done {
		return 0
	}
	return time.Duration(float64(p.Elapsed) / float64(p.Done) * float64(p.Total-p.Done))
}

// Reporter combines the reports of the phases of an operation. It is safe for concurrent use. A nil
// Reporter reports nothing.
type Reporter struct {
	report  func(Progress)
	phases  []string
	mu      sync.Mutex
	current Progress
	began   time.Time
}

// New returns a reporter that calls report from one goroutine at a time; nil disables reporting.
func New(report func(Progress), phases ...string) *Reporter {
	if report == nil {
		return nil
	}
	return &Reporter{report: report, phases: phases}
}

// Update changes the progress of a phase and reports it. It begins the phase if it is not the
// current one.
func (r *Reporter) Update(phase string, change func(*Progress)) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.current.Phase != phase {
		r.current = Progress{Phase: phase, Step: slices.Index(r.phases, phase) + 1, Steps: len(r.phases)}
		r.began = time.Now()
	}
	r.current.Elapsed = time.Since(r.began)
	change(&r.current)
	r.report(r.current)
}

// Bytes returns a function that reports the progress of a phase that transfers bytes.
func (r *Reporter) Bytes(phase string) func(done, total int64) {
	return func(done, total int64) {
		r.Update(phase, func(p *Progress) { p.Bytes, p.Done, p.Total = true, done, total })
	}
}
