package telemetry

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// kind is the type of a metric in the text format of Prometheus.
type kind string

const (
	counterKind   kind = "counter"
	gaugeKind     kind = "gauge"
	histogramKind kind = "histogram"
	summaryKind   kind = "summary"
)

// collector adds the current values of some metrics to a scrape.
type collector func(context.Context, *scrape) error

// collectTimeout limits a scrape, so that metrics are served while the database hangs.
const collectTimeout = 5 * time.Second

// registry is a set of collectors. It is safe for concurrent use.
type registry struct {
	mu         sync.Mutex
	collectors []collector
}

func (r *registry) register(c collector) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.collectors = append(r.collectors, c)
}

// text returns the values of all metrics in the text format, or the errors of collectors.
// Collectors run concurrently, so that a slow one does not take the time of the others.
func (r *registry) text(ctx context.Context) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, collectTimeout)
	defer cancel()
	r.mu.Lock()
	collectors := slices.Clone(r.collectors)
	r.mu.Unlock()
	s := &scrape{metrics: map[string]*metric{}}
	errs := make([]error, len(collectors))
	var running sync.WaitGroup
	for i, collect := range collectors {
		running.Go(func() { errs[i] = collect(ctx, s) })
	}
	running.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return s.text(), nil
}

// scrape is the values of metrics at one time. It is safe for concurrent use.
type scrape struct {
	mu      sync.Mutex
	metrics map[string]*metric // by name
}

type metric struct {
	kind   kind
	help   string
	series []series
}

// series is the lines of one combination of labels.
type series struct{ labels, lines string }

// gauge adds a series of a gauge. labels alternates names and values.
func (s *scrape) gauge(name, help string, value float64, labels ...string) {
	encoded := encodeLabels(labels...)
	s.add(gaugeKind, name, help, series{encoded, line(name, encoded, value)})
}

// counter adds a series of a counter. labels alternates names and values.
func (s *scrape) counter(name, help string, value float64, labels ...string) {
	encoded := encodeLabels(labels...)
	s.add(counterKind, name, help, series{encoded, line(name, encoded, value)})
}

func (s *scrape) add(k kind, name, help string, added ...series) {
	if len(added) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.metrics[name]
	if m == nil {
		m = &metric{kind: k, help: help}
		s.metrics[name] = m
	}
	m.series = append(m.series, added...)
}

// addBy adds a series for each value of one label, with the method of a gauge or a counter.
func addBy[N int | int64](
	add func(name, help string, value float64, labels ...string), name, help, label string, values map[string]N,
) {
	for value, n := range values {
		add(name, help, float64(n), label, value)
	}
}

// text returns all series in the text format, sorted by name and labels.
func (s *scrape) text() []byte {
	escape := strings.NewReplacer(`\`, `\\`, "\n", `\n`)
	var b bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(s.metrics)) {
		m := s.metrics[name]
		slices.SortFunc(m.series, func(x, y series) int { return strings.Compare(x.labels, y.labels) })
		b.WriteString("# HELP " + name + " " + escape.Replace(m.help) + "\n")
		b.WriteString("# TYPE " + name + " " + string(m.kind) + "\n")
		for _, x := range m.series {
			b.WriteString(x.lines)
		}
	}
	return b.Bytes()
}

// encodeLabels returns pairs of names and values as in the braces of a series.
func encodeLabels(labels ...string) string {
	escape := strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
	var b strings.Builder
	for pair := range slices.Chunk(labels, 2) {
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(pair[0] + `="` + escape.Replace(strings.ToValidUTF8(pair[1], "\ufffd")) + `"`)
	}
	return b.String()
}

func line(name, labels string, value float64) string {
	if labels != "" {
		labels = "{" + labels + "}"
	}
	return name + labels + " " + formatValue(value) + "\n"
}

func formatValue(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// maxLabels is the largest number of labels of a vector.
const maxLabels = 3

// vector is a metric with one T for each combination of label values. It is safe for concurrent
// use.
type vector[T any] struct {
	kind       kind
	name, help string
	labels     []string
	mu         sync.RWMutex
	series     map[[maxLabels]string]*T
}

// with returns the series with label values in the order of the labels. It creates missing ones.
func (v *vector[T]) with(values ...string) *T {
	var key [maxLabels]string
	copy(key[:], values)
	v.mu.RLock()
	s := v.series[key]
	v.mu.RUnlock()
	if s != nil {
		return s
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	s = v.series[key]
	if s == nil {
		s = new(T)
		if v.series == nil {
			v.series = map[[maxLabels]string]*T{}
		}
		v.series[key] = s
	}
	return s
}

// collect adds the lines of all series to a scrape.
func (v *vector[T]) collect(s *scrape, lines func(labels string, of *T) string) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	var all []series
	for values, of := range v.series {
		var pairs []string
		for i, label := range v.labels {
			pairs = append(pairs, label, values[i])
		}
		labels := encodeLabels(pairs...)
		all = append(all, series{labels, lines(labels, of)})
	}
	s.add(v.kind, v.name, v.help, all...)
}

// numbers is a vector of counters or gauges.
type numbers = vector[atomic.Int64]

func (r *registry) numbers(k kind, name, help string, labels ...string) *numbers {
	v := &numbers{kind: k, name: name, help: help, labels: labels}
	r.register(func(_ context.Context, s *scrape) error {
		v.collect(s, func(labels string, n *atomic.Int64) string { return line(name, labels, float64(n.Load())) })
		return nil
	})
	return v
}

// maxBounds is the largest number of bounds of a histogram.
const maxBounds = 17

// histogram counts durations by the first bound that is not below them; the last element is beyond
// all bounds.
type histogram struct {
	counts [maxBounds + 1]atomic.Int64
	sum    atomic.Int64 // nanoseconds
}

// histograms is a vector of histograms with the same bounds, in seconds.
type histograms struct {
	vector[histogram]
	bounds []float64
}

func (r *registry) histograms(name, help string, bounds []float64, labels ...string) *histograms {
	v := &histograms{bounds: bounds}
	v.kind, v.name, v.help, v.labels = histogramKind, name, help, labels
	r.register(func(_ context.Context, s *scrape) error {
		v.collect(s, v.lines)
		return nil
	})
	return v
}

func (v *histograms) observe(took time.Duration, values ...string) {
	h := v.with(values...)
	i, _ := slices.BinarySearch(v.bounds, took.Seconds())
	h.counts[i].Add(1)
	h.sum.Add(int64(took))
}

// lines returns the cumulative buckets, the sum and the count of a histogram.
func (v *histograms) lines(labels string, h *histogram) string {
	var b strings.Builder
	separator := ""
	if labels != "" {
		separator = ","
	}
	total := int64(0)
	for i := range len(v.bounds) + 1 {
		bound := math.Inf(1)
		if i < len(v.bounds) {
			bound = v.bounds[i]
		}
		total += h.counts[i].Load()
		b.WriteString(line(v.name+"_bucket", labels+separator+`le="`+formatValue(bound)+`"`, float64(total)))
	}
	b.WriteString(line(v.name+"_sum", labels, time.Duration(h.sum.Load()).Seconds()))
	b.WriteString(line(v.name+"_count", labels, float64(total)))
	return b.String()
}
