package build

import (
	"bytes"
	"context"
	"errors"

	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/column"
	"herbarium/internal/segment/internal/file"
	"herbarium/internal/segment/internal/guard"
)

// BlockCountRules determines the frequent values whose records are counted in blocks of the sorted rows.
type BlockCountRules struct {
	Share int // a value is frequent if at least one in so many records has it
	Max   int // maximum number of values; the most frequent ones are selected
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
		values := column.FrequentValues(st, columns, rules.Share, rules.Max)
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
		for i := range columns {
			if b.fields[i].Sortable {
				if err := b.writeBlockCountsOf(st, &columns[i], uint32(i), values); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// writeBlockCountsOf writes the block counts of the sorted rows of a field.
func (b *builder) writeBlockCountsOf(st *guard.Steps, c *column.Column, field uint32, values []column.FrequentValue) error {
	if err := b.w.Begin(file.TagBlockCounts, field); err != nil {
		return err
	}
	var counts []byte
	for _, v := range values {
		counts = c.AppendBlockCounts(st, v, counts[:0])
		if _, err := b.w.Write(counts); err != nil {
			return err
		}
	}
	b.w.End()
	return nil
}
