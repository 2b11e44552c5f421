package telemetry

import (
	"context"
	"time"
)

// LibraryState is the state of the published datasets on this node, and what it has done for them
// since it started.
type LibraryState struct {
	Datasets   map[string]int // by state
	Unreadable map[string]int // by reason
	Behind     int            // datasets of which an older version is listed
	Read       time.Time      // of the last successful read of the catalogue; zero if there was none

	Opened       map[string]int64 // versions by origin of their file
	Failed       map[string]int64 // attempts to open a version, by reason
	FetchedBytes int64
	Evicted      int64
	EvictedBytes int64
}

// Library makes each scrape call state.
func (m *Metrics) Library(state func() LibraryState) {
	m.registry.register(func(_ context.Context, s *scrape) error {
		l := state()
		addBy(s.gauge, "herbarium_datasets",
			"Datasets by the state of their live version on this node.", "state", l.Datasets)
		addBy(s.gauge, "herbarium_datasets_unreadable",
			"Datasets whose live version cannot be opened.", "reason", l.Unreadable)
		s.gauge("herbarium_datasets_behind",
			"Datasets of which an older version than the live one is listed.", float64(l.Behind))
		if !l.Read.IsZero() {
			s.gauge("herbarium_catalogue_age_seconds",
				"Time since the last successful read of the catalogue.", time.Since(l.Read).Seconds())
		}
		addBy(s.counter, "herbarium_versions_opened_total",
			"Versions that were opened, by the origin of their file.", "origin", l.Opened)
		addBy(s.counter, "herbarium_versions_failed_total",
			"Attempts to open a version that failed.", "reason", l.Failed)
		s.counter("herbarium_cache_fetched_bytes_total",
			"Bytes of files fetched from the object store.", float64(l.FetchedBytes))
		s.counter("herbarium_cache_evictions_total", "Files evicted from the cache.", float64(l.Evicted))
		s.counter("herbarium_cache_evicted_bytes_total",
			"Bytes of files evicted from the cache.", float64(l.EvictedBytes))
		return nil
	})
}

// Indexes makes each scrape call state, which returns how many live versions have an index of
// another release, and how many indexes this process has rebuilt.
func (m *Metrics) Indexes(state func() (outdated, rebuilt int)) {
	m.registry.register(func(_ context.Context, s *scrape) error {
		outdated, rebuilt := state()
		s.gauge("herbarium_outdated_indexes",
			"Live versions on this node whose index another release has built and that are not rebuilt yet.",
			float64(outdated))
		s.counter("herbarium_rebuilt_indexes_total",
			"Indexes of versions of other releases that this process has rebuilt.", float64(rebuilt))
		return nil
	})
}
