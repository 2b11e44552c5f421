package library

import (
	"slices"
	"time"

	"herbarium/internal/herb"
)

// Health is how a library is doing. Each dataset of the catalogue is counted once, as one of Open, Fetching, Failed and
// Cold.
type Health struct {
	Read     time.Time // when the catalogue was last read well; zero: never
	Err      error     // why it cannot be read since; nil: it can, or was never asked
	Restored bool      // what is listed is what the catalogue said when this node last ran

	Open     int // the live version is listed
	Fetching int // it is on its way
	Failed   int // it could not be fetched, or opened
	Cold     int // it is fetched when somebody asks for it
	Behind   int // of those that are not Open: an earlier version is listed
	Failures []Failure

	CacheBytes int64 // of files in Dir; 0 without Blobs
}

// Failure is why a version cannot be listed on this node.
type Failure struct {
	Ref     herb.Ref
	Version string
	Err     error
}

// CanList reports whether the library knows what to list and can list any of it, or there is nothing to list.
func (h Health) CanList() bool {
	can := h.Open + h.Behind + h.Fetching + h.Cold
	return (h.Restored || !h.Read.IsZero()) && (can > 0 || h.Failed == 0)
}

// Health tells how the library is doing. It asks nobody.
func (l *Library) Health() Health {
	var h Health
	l.status.mu.Lock()
	h.Read, h.Err = l.status.lastRead, l.status.err
	l.status.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.live.Load()
	h.Restored = s.restored
	for ref, e := range s.entries {
		if e.current() {
			h.Open++
			continue
		}
		if e.open != nil {
			h.Behind++
		}
		switch f, why := l.fetchState(ref, e); {
		case f:
			h.Fetching++
		case why != nil:
			h.Failed++
			h.Failures = append(h.Failures, Failure{ref, e.live.Version, why})
		default:
			h.Cold++
		}
	}
	slices.SortFunc(h.Failures, func(a, b Failure) int { return a.Ref.Compare(b.Ref) })
	if l.cache != nil {
		h.CacheBytes, _ = l.cache.size()
	}
	return h
}

// state tells of a dataset whose live version is not open whether it is being fetched, and if not why it could not be.
// l.mu is held.
func (l *Library) fetchState(ref herb.Ref, e *entry) (fetching bool, why error) {
	if l.cache == nil {
		if e.failed != nil {
			return false, e.failed.err // a retry may be under way
		}
		return e.opening != nil, nil
	}
	if f := l.cache.failures[ref]; f != nil && f.version == e.live.Version {
		why = f.err
	}
	return l.cache.fetches[ref] != nil, why
}
