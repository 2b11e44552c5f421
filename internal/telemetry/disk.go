package telemetry

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"herbarium/internal/herb"
)

// DiskUsage is the disk space of published files.
type DiskUsage struct {
	Folders    map[string]int64 // bytes by folder
	Files      map[string]int64 // bytes by file name
	CacheLimit int64            // of a node with an object store; 0: none
}

// Disk makes each scrape call usage. file returns the name of the file of a version.
func (m *Metrics) Disk(usage func() DiskUsage, file func(version string) string) {
	m.registry.MustRegister(diskCollector{m.datasets, usage, file})
}

// diskCollector measures disk space at each scrape.
type diskCollector struct {
	datasets func(context.Context) ([]herb.LiveVersion, error)
	usage    func() DiskUsage
	file     func(version string) string
}

// Describe implements prometheus.Collector. It describes nothing, like that of datasetCollector.
func (diskCollector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector. A version that a node has not fetched has no size.
func (c diskCollector) Collect(out chan<- prometheus.Metric) {
	size := prometheus.NewDesc("herbarium_dataset_bytes", "Size of the file of the live version.", []string{"dataset"}, nil)
	stored := prometheus.NewDesc("herbarium_stored_bytes", "Disk space of the files in a folder.", []string{"folder"}, nil)
	limit := prometheus.NewDesc("herbarium_cache_limit_bytes", "Disk space that files fetched from the object store may take.", nil, nil)
	u := c.usage()
	for name, bytes := range u.Folders {
		out <- prometheus.MustNewConstMetric(stored, prometheus.GaugeValue, float64(bytes), name)
	}
	if u.CacheLimit > 0 {
		out <- prometheus.MustNewConstMetric(limit, prometheus.GaugeValue, float64(u.CacheLimit))
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	datasets, err := c.datasets(ctx)
	if err != nil {
		out <- prometheus.NewInvalidMetric(size, err)
	}
	for _, d := range datasets {
		if bytes, ok := u.Files[c.file(d.Version)]; ok {
			out <- prometheus.MustNewConstMetric(size, prometheus.GaugeValue, float64(bytes), d.Ref.String())
		}
	}
}
