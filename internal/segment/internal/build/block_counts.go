package build

import (
	"bytes"
	"errors"

	"herbarium/internal/herb"
	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/column"
	"herbarium/internal/segment/internal/file"
	"herbarium/internal/segment/internal/guard"
)

// BlockCountRules determines the frequent values whose records are counted in blocks of the sorted
// rows.
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

// writeBlockCounts writes the frequent values and their block counts in the sorted rows of all
// sortable fields. In small files, no value is frequent. It reads the sections of the fields, which
// must be written already.
func (b *builder) writeBlockCounts() (err error) {
	if b.records < b.opts.Indexes.MinRecords {
		return b.writeCountsOf(nil, nil)
	}
	f, err := b.w.Map(file.Meta{Fields: b.fields, Records: b.records})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return f.Guard(func() error {
		pool, columns := &bitmap.Pool{Records: b.records}, make([]column.Column, len(b.fields))
		for i := range columns {
			if columns[i], err = column.Open(f, nil, pool, i); err != nil {
				return err
			}
		}
		rules := b.opts.Indexes.BlockCounts
		return b.writeCountsOf(columns, column.FrequentValues(guard.NewSteps(b.tmp.ctx), columns, rules.Share, rules.most(b.fields)))
	})
}

// writeCountsOf writes frequent values and their block counts.
func (b *builder) writeCountsOf(columns []column.Column, values []column.FrequentValue) error {
	var encoded []byte
	for _, v := range values {
		encoded = v.AppendID(encoded)
	}
	if err := writeSections(b.w, file.NoField, section{file.TagFrequentValues, bytes.NewReader(encoded)}); err != nil {
		return err
	}
	steps := guard.NewSteps(b.tmp.ctx)
	for i := range b.fields {
		if !b.fields[i].Sortable {
			continue
		}
		counts := b.tmp.newSpillFile()
		for _, v := range values {
			encoded = columns[i].AppendBlockCounts(steps, v, encoded[:0])
			if _, err := counts.Write(encoded); err != nil {
				return err // before steps find the build canceled
			}
		}
		if err := writeSections(b.w, uint32(i), section{file.TagBlockCounts, counts}); err != nil {
			return err
		}
	}
	return nil
}
