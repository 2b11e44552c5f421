package operations

import (
	"context"
	"iter"
	"time"
	"unicode/utf8"

	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/query"
)

// maxMatched is the limit in bytes of the beginning of a value in which matches are found.
const maxMatched = 64 << 10

// FieldMatch is a value in which a request matches, in the parts of query.Marker.Excerpt.
type FieldMatch struct {
	Field string
	Parts []string
}

// Matches yields the values of each record in which the request matches, in the order of its
// fields.
func (found *Records) Matches(ctx context.Context, v *library.View) iter.Seq2[[]FieldMatch, error] {
	return func(yield func([]FieldMatch, error) bool) {
		f := newMatchFinder(ctx, found.Request, v.Fields)
		release, err := reserve(ctx, f.memory(found.Records))
		if err != nil {
			yield(nil, err)
			return
		}
		defer release()
		for _, record := range found.Records {
			matches, err := f.find(record)
			if !yield(matches, err) || err != nil {
				return
			}
		}
	}
}

// matchFinder finds the matches of the records of a page.
type matchFinder struct {
	ctx       context.Context
	fields    []herb.Field
	marker    *query.Marker
	positions []int // of the fields that can have matches, in the order of the result
	limits    []int // by field, in bytes
	since     time.Time
	steps     int // since the last yield
}

func newMatchFinder(ctx context.Context, req *query.Request, fields []herb.Field) *matchFinder {
	f := &matchFinder{ctx: ctx, fields: fields, marker: req.NewMarker(), limits: make([]int, len(fields)),
		since: time.Now()}
	add := func(position int) {
		if f.marker.Marks(position) {
			f.positions, f.limits[position] = append(f.positions, position), maxMatched
		}
	}
	for _, position := range req.Selected {
		add(position)
	}
	if req.Selected == nil {
		for position := range fields {
			add(position)
		}
	}
	return f
}

// memory returns about how many bytes the finder needs in addition to what a lane accounts for: the
// values of a record, and the origins of the characters of one value.
func (f *matchFinder) memory(records [][]byte) int {
	const inLane, perByte = 256 << 10, 64
	most := 0
	for _, record := range records {
		values := min(len(record), len(f.positions)*maxMatched)
		most = max(most, values+perByte*min(values, maxMatched))
	}
	if most <= inLane {
		return 0
	}
	return most
}

// find returns the matches of a record.
func (f *matchFinder) find(record []byte) (matches []FieldMatch, err error) {
	if len(f.positions) == 0 {
		return nil, f.ctx.Err()
	}
	values, err := herb.DecodeClipped(f.fields, record, func(field int) int { return f.limits[field] })
	if err != nil {
		return nil, err
	}
	for _, i := range f.positions {
		value := values[i]
		if err := f.count(len(value)); err != nil {
			return nil, err
		}
		if parts := f.marker.Excerpt(i, value, len(value) > maxMatched-utf8.UTFMax); parts != nil {
			matches = append(matches, FieldMatch{f.fields[i].Name, parts})
		}
	}
	return matches, nil
}

// count reports the steps for a value to the pacer of the request.
func (f *matchFinder) count(bytes int) error {
	const stepsPerYield = 1 << 14
	f.steps += bytes
	if f.steps < stepsPerYield {
		return nil
	}
	err := query.Yield(f.ctx, f.steps, time.Since(f.since))
	f.steps, f.since = 0, time.Now()
	if err == nil {
		err = f.ctx.Err()
	}
	return err
}
