package library

import (
	"slices"
	"time"

	"herbarium/internal/herb"
)

// Health is the state of a library. Each dataset of the catalogue is counted once, as Open, Fetching, Failed or Cold.
type Health struct {
	Read     time.Time // last successful read of the catalogue; zero: never
	Err      error     // error of the last read; nil if it succeeded or there was none
	Restored bool      // the live set is the copy saved by an earlier run; the catalogue was not read yet

	Open     int // the live version is open
	Fetching int // the live version is being fetched or opened
	Failed   int // the live version could not be fetched or opened
	Cold     int // the live version is fetched on demand
	Behind   int // those not Open of which an older version is open
	Failures []Failure

	CacheBytes int64 // size of the files in Dir; 0 without Blobs
}

// Failure records why a version cannot be listed on this node.
type Failure struct {
	Ref     herb.Ref
	Version string
	Err     error
}

// CanList reports whether the library has a live set and can list at least one dataset of it, or the live set is empty.
func (h Health) CanList() bool {
	can := h.Open + h.Behind + h.Fetching + h.Cold
	return (h.Restored || !h.Read.IsZero()) && (can > 0 || h.Failed == 0)
}

// Health returns the state of the library. It does no I/O.
func (l *Library) Health() Health {
	status := l.status.Load()
	h := Health{Read: status.lastRead, Err: status.err}
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.live.Load()
	h.Restored = s.restored
	for ref, e := range s.entries {
		switch v := e.open.Load(); {
		case v.isLive(e):
			h.Open++
			continue
		case v != nil:
			h.Behind++
		}
		switch {
		case e.failed != nil: // a retry may be running
			h.Failed++
			h.Failures = append(h.Failures, Failure{ref, e.live.Version, e.failed.err})
		case e.fetch != nil:
			h.Fetching++
		default:
			h.Cold++
		}
	}
	slices.SortFunc(h.Failures, func(a, b Failure) int { return a.Ref.Compare(b.Ref) })
	h.CacheBytes, _ = l.cacheSize()
	return h
}
