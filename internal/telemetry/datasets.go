package telemetry

import (
	"context"

	"herbarium/internal/herb"
)

// DiskUsage is the disk space of published files.
type DiskUsage struct {
	Folders    map[string]int64 // bytes by folder
	Files      map[string]int64 // bytes by file name
	CacheLimit int64            // of a node with an object store; 0: none
	Free       uint64           // free disk space of the data folder
	FreeKnown  bool
}

// Disk makes each scrape call usage. file returns the name of the file of a version. A version that
// a node has not fetched has no size.
func (m *Metrics) Disk(usage func() DiskUsage, file func(version string) string) {
	m.registry.register(func(ctx context.Context, s *scrape) error {
		u := usage()
		addBy(s.gauge, "herbarium_stored_bytes", "Disk space of the files in a folder.", "folder", u.Folders)
		if u.FreeKnown {
			s.gauge("herbarium_disk_free_bytes", "Free disk space of the data folder.", float64(u.Free))
		}
		if u.CacheLimit > 0 {
			s.gauge("herbarium_cache_limit_bytes",
				"Disk space that files fetched from the object store may take.", float64(u.CacheLimit))
		}
		datasets, err := m.datasets(ctx)
		sizes := map[string]int64{}
		for _, d := range datasets {
			if bytes, ok := u.Files[file(d.Version)]; ok {
				sizes[d.Ref.String()] = bytes
			}
		}
		addBy(s.gauge, "herbarium_dataset_bytes", "Size of the file of the live version.", "dataset", sizes)
		return err
	})
}

// Sources makes each scrape call failed, which returns the errors of sources.
func (m *Metrics) Sources(failed func(context.Context) ([]herb.SourceError, error)) {
	m.registry.register(func(ctx context.Context, s *scrape) error {
		sources, err := failed(ctx)
		counts := map[string]int{}
		for _, source := range sources {
			name := ""
			if source.Ref != (herb.Ref{}) {
				name = source.Ref.String()
			}
			if !source.Skipped {
				counts[name]++
			}
		}
		addBy(s.gauge, "herbarium_source_failed",
			"Sources of a dataset that could not be published; an empty label stands for sources whose dataset is "+
				"unknown.",
			"dataset", counts)
		return err
	})
}

// addDatasets adds the records and the publication times of live versions.
func addDatasets(s *scrape, datasets []herb.LiveVersion) {
	for _, d := range datasets {
		name := d.Ref.String()
		s.gauge("herbarium_dataset_records",
			"Records of the live version.", float64(d.Records), "dataset", name)
		if !d.Published.IsZero() {
			s.gauge("herbarium_dataset_published_timestamp_seconds", "When the live version was published.",
				float64(d.Published.UnixMilli())/1000, "dataset", name)
		}
		if f := d.FreshnessAt(d.Published); !f.Overdue.IsZero() {
			s.gauge("herbarium_dataset_overdue_timestamp_seconds",
				"When the next version is overdue, by the frequency that the descriptor declares.",
				float64(f.Overdue.UnixMilli())/1000, "dataset", name)
		}
	}
}
