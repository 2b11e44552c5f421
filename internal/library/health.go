package library

import "time"

// Health is the state of a library. Each dataset of the catalogue is counted once, as Open,
// Fetching, Failed or Cold.
type Health struct {
	Read     time.Time // last successful read of the catalogue; zero if there was none
	Err      error     // error of the last read; nil if it succeeded or there was none
	Restored bool      // the live set is the copy saved by an earlier run; the catalogue was not read yet

	Open     int // the live version is open
	Fetching int // the live version is being fetched or opened
	Failed   int // the live version could not be fetched or opened; the log has the reason
	Cold     int // the live version is fetched on demand
	Behind   int // an older version is open instead of the live one; also counted as Fetching, Failed or Cold

	Reasons map[Reason]int // of Failed

	// live versions whose index another release has built and that are not rebuilt yet, as far as
	// they are known
	Outdated int
	Pending  int // of Outdated: no version of the dataset can be listed until the index is rebuilt or fetched
	Rebuilt  int // indexes that this process has rebuilt
}

// CanList reports whether the library has a live set and can list at least one dataset of it, or
// the live set is empty.
func (h Health) CanList() bool {
	can := h.Open + h.Behind + h.Fetching + h.Cold
	return (h.Restored || !h.Read.IsZero()) && (can > 0 || h.Failed == 0)
}

// Health returns the state of the library. It does no I/O.
func (l *Library) Health() Health {
	status := l.catalogue.status.Load()
	h := Health{Read: status.lastRead, Err: status.err, Restored: status.restored, Reasons: map[Reason]int{}}
	h.Rebuilt = int(l.rebuilder.rebuilt.Load())
	l.table.mu.RLock()
	defer l.table.mu.RUnlock()
	for _, e := range l.table.sorted {
		if l.rebuilder.isOutdated(e.Version) {
			h.Outdated++
			if e.open == nil && e.failed == nil {
				h.Pending++
			}
		}
		if e.open != nil && !e.isOpen() {
			h.Behind++
		}
		switch {
		case e.isOpen():
			h.Open++
		case e.failed != nil: // a retry may be running
			h.Failed++
			h.Reasons[e.failed.reason]++
		case e.fetch != nil:
			h.Fetching++
		default:
			h.Cold++
		}
	}
	return h
}
