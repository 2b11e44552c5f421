package app

import (
	"slices"
	"sync"
	"time"

	"herbarium/internal/library"
	"herbarium/internal/segment"
)

// Progress says how far a long piece of work is.
type Progress struct {
	Phase   string        // what is being done
	Step    int           // the number of the phase, from 1
	Steps   int           // how many there are
	Done    int64         // in bytes, or in whatever the phase counts
	Total   int64         // 0: not known
	Bytes   bool          // Done and Total are bytes
	Records int           // that were read in this phase; 0: it reads none
	Elapsed time.Duration // since the phase began
}

// Left estimates how long the phase will take from here on; 0: that cannot be told.
func (p Progress) Left() time.Duration {
	if p.Done <= 0 || p.Total <= p.Done {
		return 0
	}
	return time.Duration(float64(p.Elapsed) / float64(p.Done) * float64(p.Total-p.Done))
}

// The phases of a publish before its version is built.
const (
	phaseHash    = "looking for changes"
	phaseInspect = "finding out types"
)

// steps puts together what the parts of a publish tell about their progress. They may tell at the same time.
type steps struct {
	tell  func(Progress)
	all   []string // phases
	mu    sync.Mutex
	at    Progress
	began time.Time
}

// newSteps tells nobody if tell is nil. The last phases are those of the library.
func newSteps(tell func(Progress), last []string) *steps {
	if tell == nil {
		tell = func(Progress) {}
	}
	all := []string{phaseHash, phaseInspect, segment.PhaseReading, segment.PhaseSorting}
	return &steps{tell: tell, all: append(all, last...)}
}

// update says how far a phase is, and begins it if it is not the one before.
func (s *steps) update(phase string, change func(*Progress)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.at.Phase != phase {
		s.at = Progress{Phase: phase, Step: slices.Index(s.all, phase) + 1, Steps: len(s.all)}
		s.began = time.Now()
	}
	s.at.Elapsed = time.Since(s.began)
	change(&s.at)
	s.tell(s.at)
}

// bytes returns what a reader of a file tells in a phase.
func (s *steps) bytes(phase string) func(read, size int64) {
	return func(read, size int64) {
		s.update(phase, func(p *Progress) { p.Bytes, p.Done, p.Total = true, read, size })
	}
}

// build takes up what the building of a version tells. How much was read in bytes is told by the reader of the file.
func (s *steps) build(b segment.Progress) {
	s.update(b.Phase, func(p *Progress) {
		if b.Phase == segment.PhaseReading {
			p.Records = b.Done
			return
		}
		p.Done, p.Total, p.Bytes = int64(b.Done), int64(b.Total), b.Phase == library.PhaseUploading
	})
}
