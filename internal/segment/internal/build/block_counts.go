package build

import (
	"bytes"
	"context"
	"errors"

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
func (b *builder) writeBlockCounts(ctx context.Context) (err error) {
	rules := b.opts.Indexes.BlockCounts
	if b.records < max(b.opts.Indexes.MinRecords, column.LongRun) {
		return nil
	}
	f, err := b.w.Map(file.Meta{Fields: b.fields, Records: b.records})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return f.Guard(func() error {
		st, pool := guard.NewSteps(ctx), &bitmap.Pool{Records: b.records}
		columns := make([]column.Column, len(b.fields))
		for i := range columns {
			if columns[i], err = column.Open(f, nil, pool, i); err != nil {
				return err
			}
		}
		values := column.FrequentValues(st, columns, rules.Share, rules.most(b.fields))
		if len(values) == 0 {
			return nil
		}
		var names []byte
		for _, v := range values {
			names = v.AppendName(names)
		}
		if err := b.w.Section(file.TagFrequent, file.NoField, bytes.NewReader(names)); err != nil {
			return err
		}
		return b.writeBlockCountsOf(ctx, f, columns, values)
	})
}

// writeBlockCountsOf writes the block counts of the sorted rows of all sortable fields, which it counts concurrently.
func (b *builder) writeBlockCountsOf(ctx context.Context, f *file.File, columns []column.Column, values []column.FrequentValue) error {
	counts := make([]*spillFile, len(columns))
	var group errgroup.Group
	group.SetLimit(workers())
	for i := range columns {
		if !b.fields[i].Sortable {
			continue
		}
		counts[i] = b.tmp.newSpillFile()
		start(&group, func() error {
			return f.Guard(func() error { return countBlocks(ctx, &columns[i], values, counts[i]) })
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for i, c := range counts {
		if c == nil {
			continue
		}
		if err := writeSections(b.w, uint32(i), section{file.TagBlockCounts, c}); err != nil {
			return err
		}
	}
	return nil
}

// countBlocks writes the block counts of a field.
func countBlocks(ctx context.Context, c *column.Column, values []column.FrequentValue, out *spillFile) error {
	st := guard.NewSteps(ctx)
	var counts []byte
	for _, v := range values {
		counts = c.AppendBlockCounts(st, v, counts[:0])
		if _, err := out.Write(counts); err != nil {
			return err
		}
	}
	return nil
}
