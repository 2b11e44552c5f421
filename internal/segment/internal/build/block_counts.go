package build

import (
	"bytes"

	"golang.org/x/sync/errgroup"

	"herbarium/internal/herb"
	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/column"
	"herbarium/internal/segment/internal/file"
	"herbarium/internal/segment/internal/guard"
)

// BlockCountRules determines the frequent values whose records are counted in blocks of the sorted rows.
type BlockCountRules struct {
	Share    int // a value is frequent if at least 1/Share of the records have it
	Max      int // maximum number of values; the most frequent ones are selected
	MaxPairs int // maximum number of pairs of a value and a sortable field, so that many fields do not take long to count
}

// most returns the maximum number of values.
func (r BlockCountRules) most(fields []herb.Field) int {
	sortable := 0
	for _, f := range fields {
		if f.Sortable {
			sortable++
		}
	}
	return min(r.Max, r.MaxPairs/max(sortable, 1))
}

// writeBlockCounts writes the frequent values and their block counts. It reads the sections of the fields, which must be
// written already.
func (b *builder) writeBlockCounts() {
	rules := b.opts.Indexes.BlockCounts
	if b.records < max(b.opts.Indexes.MinRecords, column.LongRun) {
		return
	}
	f, err := b.w.Map(file.Meta{Fields: b.fields, Records: b.records})
	check(err)
	defer func() { check(f.Close()) }()
	columns := make([]column.Column, len(b.fields))
	var values []column.FrequentValue
	check(f.Guard(func() (err error) {
		pool := &bitmap.Pool{Records: b.records}
		for i := range columns {
			if columns[i], err = column.Open(f, nil, pool, i); err != nil {
				return err
			}
		}
		values = column.FrequentValues(guard.NewSteps(b.tmp.ctx), columns, rules.Share, rules.most(b.fields))
		return nil
	}))
	if len(values) == 0 {
		return
	}
	var names []byte
	for _, v := range values {
		names = v.AppendName(names)
	}
	writeSections(b.w, file.NoField, section{file.TagFrequent, bytes.NewReader(names)})
	counts := make([]*spillFile, len(columns))
	var group errgroup.Group
	group.SetLimit(workers())
	for i := range columns {
		if b.fields[i].Sortable {
			counts[i] = b.tmp.newSpillFile()
			b.tmp.start(&group, func() {
				check(f.Guard(func() error { return b.countBlocks(&columns[i], values, counts[i]) }))
			})
		}
	}
	check(group.Wait())
	for i, c := range counts {
		if c != nil {
			writeSections(b.w, uint32(i), section{file.TagBlockCounts, c})
		}
	}
}

// countBlocks writes the block counts of a field.
func (b *builder) countBlocks(c *column.Column, values []column.FrequentValue, out *spillFile) error {
	st := guard.NewSteps(b.tmp.ctx)
	var counts []byte
	for _, v := range values {
		counts = c.AppendBlockCounts(st, v, counts[:0])
		out.Write(counts)
	}
	return nil
}
