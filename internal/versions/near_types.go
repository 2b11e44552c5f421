package versions

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment"
	"herbarium/internal/text"
)

// Limits of a column that misses a type by a few values. The values fit into the query of a
// listing.
const (
	maxOthers     = 50
	maxOtherBytes = 2000
	nearBuckets   = 20
)

// nearColumn finds the values of a text column that are not of its near type, and the distribution
// of those that are.
type nearColumn struct {
	field  herb.Field // of the near type
	near   herb.NearType
	others map[string]int
	bytes  int // of others
	key    []byte

	// The least and the greatest value with their sort keys, and those next to zero.
	low, high, negative, positive keyedValue
	linear, log                   *histogram
}

type keyedValue struct{ key, value string }

// describeNear completes what a report says about columns that miss a type by a few values. It
// reads all records twice, and nothing if there is no such column.
func describeNear(ctx context.Context, r *segment.Reader, d herb.Dataset, columns []herb.ColumnReport) error {
	near := make([]*nearColumn, len(columns))
	for i := range columns {
		if n := columns[i].Near; n != nil && d.Fields[i].Type == herb.TypeText {
			f := herb.Field{Type: n.Type, Notation: n.Notation}
			near[i] = &nearColumn{field: f, near: herb.NearType{Type: n.Type, Notation: n.Notation}, others: map[string]int{}}
		}
		columns[i].Near = nil
	}
	if err := eachNear(ctx, r, d.Fields, near, (*nearColumn).observe); err != nil {
		return err
	}
	for i, c := range near {
		if c != nil && !c.isNear() {
			near[i] = nil
		} else if c != nil {
			c.setBuckets()
		}
	}
	if err := eachNear(ctx, r, d.Fields, near, (*nearColumn).count); err != nil {
		return err
	}
	for i, c := range near {
		if c != nil {
			columns[i].Near = c.result()
		}
	}
	return nil
}

// eachNear calls f with all values of some columns.
func eachNear(ctx context.Context, r *segment.Reader, fields []herb.Field, columns []*nearColumn, f func(*nearColumn, []byte)) error {
	if !slices.ContainsFunc(columns, func(c *nearColumn) bool { return c != nil }) {
		return nil
	}
	decoder := herb.NewRecordDecoder(fields)
	return r.Each(ctx, func(record []byte) error {
		i := 0
		return decoder.Decode(record, func(value []byte) {
			if c := columns[i]; c != nil {
				f(c, value)
			}
			i++
		})
	})
}

// observe adds a value to the counts, and to the range of the histogram.
func (c *nearColumn) observe(value []byte) {
	if c.others == nil {
		return
	}
	var status text.Status
	c.key, status = text.AppendPublished(c.key[:0], &c.field, value)
	switch status {
	case text.Invalid:
		if _, known := c.others[string(value)]; !known {
			c.bytes += len(value)
		}
		if c.others[string(value)]++; len(c.others) > maxOthers || c.bytes > maxOtherBytes {
			c.others = nil
		}
	case text.Valid:
		c.near.Values++
		c.widen(value)
	}
}

// widen extends the range to a value, whose canonical form is in c.key.
func (c *nearColumn) widen(value []byte) {
	key, _ := text.Key(c.field.Type, string(c.key))
	if c.low.value == "" || key < c.low.key {
		c.low = keyedValue{key, string(value)}
	}
	if key > c.high.key {
		c.high = keyedValue{key, string(value)}
	}
	if c.field.Type != herb.TypeNumber {
		return
	}
	isNegative := c.key[0] == '-'
	isZero := strings.Trim(string(c.key), "-0.") == ""
	if isNegative && !isZero && key > c.negative.key {
		c.negative = keyedValue{key, string(value)}
	}
	if !isNegative && !isZero && (c.positive.value == "" || key < c.positive.key) {
		c.positive = keyedValue{key, string(value)}
	}
}

// isNear reports whether the column has the near type but for a few values.
func (c *nearColumn) isNear() bool { return len(c.others) > 0 && c.near.Values > 0 }

// setBuckets prepares the histograms.
func (c *nearColumn) setBuckets() {
	if !query.HasRange(c.field.Type) {
		return
	}
	c.linear = newHistogram(&c.field, query.Buckets(c.field, c.low.value, c.high.value, nearBuckets))
	if c.field.Type == herb.TypeNumber {
		c.log = newHistogram(&c.field, query.LogBuckets(c.field, query.Range{
			Min: c.low.value, Max: c.high.value, GreatestNegative: c.negative.value, LeastPositive: c.positive.value,
		}, nearBuckets))
	}
}

// count adds a value to the histograms.
func (c *nearColumn) count(value []byte) {
	if c.linear == nil {
		return
	}
	var status text.Status
	if c.key, status = text.AppendPublished(c.key[:0], &c.field, value); status != text.Valid {
		return
	}
	key, _ := text.Key(c.field.Type, string(c.key))
	c.linear.add(key)
	c.log.add(key)
}

func (c *nearColumn) result() *herb.NearType {
	for value, count := range c.others {
		c.near.Others = append(c.near.Others, herb.ValueCount{Value: value, Count: count})
	}
	slices.SortFunc(c.near.Others, func(a, b herb.ValueCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Value, b.Value))
	})
	h, scale := c.linear, query.ScaleLinear
	if c.linear != nil && c.log != nil && query.IsSkewed(c.linear.buckets) && !query.IsSkewed(c.log.buckets) {
		h, scale = c.log, query.ScaleLog
	}
	if h != nil {
		c.near.Scale = string(scale)
		for _, b := range h.buckets {
			c.near.Histogram = append(c.near.Histogram, herb.RangeCount(b))
		}
	}
	return &c.near
}

// histogram counts values in buckets.
type histogram struct {
	buckets []query.Bucket
	keys    []string // sort keys of the starts of all buckets but the first
}

// newHistogram returns nil if there are no buckets.
func newHistogram(f *herb.Field, buckets []query.Bucket) *histogram {
	if len(buckets) == 0 {
		return nil
	}
	h := &histogram{buckets: buckets}
	for _, b := range buckets[1:] {
		canonical, _ := text.Bound(f, b.From)
		key, _ := text.Key(f.Type, canonical)
		h.keys = append(h.keys, key)
	}
	return h
}

func (h *histogram) add(key string) {
	if h == nil {
		return
	}
	at, isStart := slices.BinarySearch(h.keys, key)
	if isStart {
		at++
	}
	h.buckets[at].Count++
}
