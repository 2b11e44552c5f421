package build

import (
	"context"
	"iter"
	"math"

	"herbarium/internal/geo"
	"herbarium/internal/herb"
	"herbarium/internal/segment/internal/file"
)

// InMemory builds a segment of a few thousand records in memory. It writes no files: spill files
// stay in their buffers. The segment has no indexes of frequent words and values, which accelerate
// queries of many records only, and no coordinates.
func InMemory(ctx context.Context, fields []herb.Field, records []herb.Record) (*file.File, error) {
	const perRecord, least = 1 << 9, 1 << 15 // bytes for sorting; a build allocates a part of them in advance
	memory := max(perRecord*len(records), least)
	b := &builder{
		opts: Options{Memory: memory, Indexes: IndexRules{MinRecords: math.MaxInt},
			Declared: geo.Declaration{None: true}}.withDefaults(),
		fields: fields, tmp: newTempDir(ctx, nil, "", memory, len(fields)), w: file.NewMemoryWriter(),
	}
	b.tmp.buffer, b.tmp.tables.limit = math.MaxInt, math.MaxInt
	if err := recovered(func() error { return b.build(yieldRecords(records)) }); err != nil {
		return nil, err
	}
	if err := b.tmp.close(); err != nil {
		return nil, err
	}
	return b.w.Map(b.meta())
}

func yieldRecords(records []herb.Record) iter.Seq2[herb.Record, error] {
	return func(yield func(herb.Record, error) bool) {
		for _, r := range records {
			if !yield(r, nil) {
				return
			}
		}
	}
}
