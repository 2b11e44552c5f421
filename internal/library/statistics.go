package library

import (
	"errors"
	"io/fs"
	"sync/atomic"

	"herbarium/internal/herb"
	"herbarium/internal/segment"
)

// Reason is why a version cannot be opened, for metrics.
type Reason string

// The reasons.
const (
	ReasonDamaged     Reason = "damaged"     // the file differs from what was published
	ReasonFormat      Reason = "format"      // only a later release can read it
	ReasonMissing     Reason = "missing"     // there is no file or object
	ReasonUnavailable Reason = "unavailable" // the database or the object store does not answer
	ReasonSystem      Reason = "system"      // this machine, such as no file descriptors or no memory
)

// Reasons lists all reasons.
func Reasons() []Reason {
	return []Reason{ReasonDamaged, ReasonFormat, ReasonMissing, ReasonUnavailable, ReasonSystem}
}

// ReasonOf returns the reason of the error of a version that cannot be opened.
func ReasonOf(err error) Reason {
	switch code := herb.CodeOf(err); {
	case errors.Is(err, segment.ErrIndex):
		return ReasonFormat
	case errors.Is(err, errDamaged), errors.Is(err, segment.ErrCorrupt), errors.Is(err, segment.ErrTruncated),
		errors.Is(err, segment.ErrUnexpected):
		return ReasonDamaged
	case code == herb.CodeUnavailable:
		return ReasonUnavailable
	case code == herb.CodeNotFound, errors.Is(err, fs.ErrNotExist):
		return ReasonMissing
	}
	return ReasonSystem
}

// Statistics counts what a library has done since it was opened.
type Statistics struct {
	Opened       int64            // versions opened from a file in Dir that was there before
	Fetched      int64            // versions opened after their file was fetched
	FetchedBytes int64            // of files that were fetched, also in part
	Evicted      int64            // files removed from the cache
	EvictedBytes int64            // of them
	Failed       map[Reason]int64 // attempts to open a version that failed
}

// counters are the counters of Statistics.
type counters struct {
	opened, fetched, fetchedBytes, evicted, evictedBytes atomic.Int64
	failed                                               map[Reason]*atomic.Int64 // of all reasons
}

func newCounters() *counters {
	c := &counters{failed: map[Reason]*atomic.Int64{}}
	for _, r := range Reasons() {
		c.failed[r] = new(atomic.Int64)
	}
	return c
}

// Statistics returns the current counts.
func (l *Library) Statistics() Statistics {
	c := l.counters
	s := Statistics{
		Opened: c.opened.Load(), Fetched: c.fetched.Load(), FetchedBytes: c.fetchedBytes.Load(),
		Evicted: c.evicted.Load(), EvictedBytes: c.evictedBytes.Load(), Failed: map[Reason]int64{},
	}
	for reason, n := range c.failed {
		s.Failed[reason] = n.Load()
	}
	return s
}
