package app

import "time"

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

// phases of a publish, in order.
const (
	phaseHash    = "looking for changes"
	phaseInspect = "finding out types"
	phaseRead    = "reading"
	phaseSort    = "sorting"
	phaseCheck   = "checking"
)

// steps tells of a piece of work that has phases.
type steps struct {
	tell   func(Progress)
	phases []string
	now    func() time.Time
	at     Progress
	began  time.Time
}

// newSteps tells nobody if tell is nil.
func newSteps(tell func(Progress), phases ...string) *steps {
	if tell == nil {
		tell = func(Progress) {}
	}
	return &steps{tell: tell, phases: phases, now: time.Now}
}

// begin starts the next phase.
func (s *steps) begin(bytes bool) {
	step := s.at.Step + 1
	s.at = Progress{Phase: s.phases[step-1], Step: step, Steps: len(s.phases), Bytes: bytes}
	s.began = s.now()
	s.tell(s.at)
}

// move says how far the phase is.
func (s *steps) move(done, total int64, records int) {
	s.at.Done, s.at.Total, s.at.Records, s.at.Elapsed = done, total, max(records, s.at.Records), s.now().Sub(s.began)
	s.tell(s.at)
}
