package app

import (
	"slices"
	"sync"
	"time"

	"herbarium/internal/library"
	"herbarium/internal/segment"
)

// Progress is the progress of a long operation.
type Progress struct {
	Phase   string        // name of the phase
	Step    int           // number of the phase, from 1
	Steps   int           // number of phases
	Done    int64         // in bytes, or in the unit of the phase
	Total   int64         // 0: unknown
	Bytes   bool          // Done and Total are bytes
	Records int           // records read in this phase; 0: none
	Elapsed time.Duration // since the phase began
}

// Left estimates the remaining time of the phase; 0 if unknown.
func (p Progress) Left() time.Duration {
	if p.Done <= 0 || p.Total <= p.Done {
		return 0
	}
	return time.Duration(float64(p.Elapsed) / float64(p.Done) * float64(p.Total-p.Done))
}

// phaseRead is the phase of a publish before its version is built.
const phaseRead = "reading the source"

// steps combines the progress reports of a publish. They may come from several goroutines.
type steps struct {
	report func(Progress)
	all    []string // phases
	mu     sync.Mutex
	at     Progress
	began  time.Time
}

// newSteps returns steps that report to a function; nil disables reporting. The last phases are those of the library.
func newSteps(report func(Progress), last []string) *steps {
	if report == nil {
		report = func(Progress) {}
	}
	all := []string{phaseRead, segment.PhaseReading, segment.PhaseSorting}
	return &steps{report: report, all: append(all, last...)}
}

// update reports the progress of a phase, and begins the phase if it is new.
func (s *steps) update(phase string, change func(*Progress)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.at.Phase != phase {
		s.at = Progress{Phase: phase, Step: slices.Index(s.all, phase) + 1, Steps: len(s.all)}
		s.began = time.Now()
	}
	s.at.Elapsed = time.Since(s.began)
	change(&s.at)
	s.report(s.at)
}

// bytes returns a progress function for a phase that reads a file.
func (s *steps) bytes(phase string) func(read, size int64) {
	return func(read, size int64) {
		s.update(phase, func(p *Progress) { p.Bytes, p.Done, p.Total = true, read, size })
	}
}

// build reports the progress of segment.Create and the library. The bytes read are reported by the reader of the file.
func (s *steps) build(b segment.Progress) {
	s.update(b.Phase, func(p *Progress) {
		if b.Phase == segment.PhaseReading {
			p.Records = b.Done
			return
		}
		p.Done, p.Total, p.Bytes = int64(b.Done), int64(b.Total), b.Phase == library.PhaseUploading
	})
}
