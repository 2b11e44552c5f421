package changes

import (
	"context"
	"iter"
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// Pair is a selected change with the records of both versions in JSON. It is valid until the next
// one.
type Pair struct {
	Op       query.ChangeOp
	From, To []byte // nil: that version has no such record
	changes  *Changes
}

// IsChanged reports whether a field of the later version differs between the records of a pair with
// both.
func (p Pair) IsChanged(field int) bool { return p.changes.isChanged(field) }

// Pairs yields the selected changes from an offset on, at most limit.
func (s *Changes) Pairs(ctx context.Context, offset, limit int) iter.Seq2[Pair, error] {
	return func(yield func(Pair, error) bool) {
		for op, err := range s.loaded(ctx, offset, limit) {
			p := Pair{Op: op, changes: s}
			if op != query.OpAdded {
				p.From = s.from.record
			}
			if op != query.OpRemoved {
				p.To = s.to.record
			}
			if !yield(p, err) {
				return
			}
		}
	}
}

// ChangedFields returns in how many of the selected changed records each field of the later version
// differs, by its position.
func (s *Changes) ChangedFields(ctx context.Context) ([]int, error) {
	counts := make([]int, len(s.to.Fields))
	if s.request.IsUnfiltered() && slices.Contains(s.request.Ops, query.OpChanged) {
		for _, f := range s.comparison.ChangedFields {
			if i := herb.FieldIndex(s.to.Fields, f.Field); s.isSelected[i] {
				counts[i] = f.Records
			}
		}
		return counts, nil
	}
	changed := *s.request
	changed.Ops = slices.DeleteFunc(query.ChangeOps(), func(op query.ChangeOp) bool {
		return op != query.OpChanged || !slices.Contains(s.request.Ops, op)
	})
	steps := newPace(ctx)
	for d, err := range s.each(ctx, &changed) {
		if err == nil {
			err = s.load(d)
		}
		if err == nil {
			err = steps.add(1 + (len(s.from.record)+len(s.to.record))/64)
		}
		if err != nil {
			return nil, err
		}
		for i := range counts {
			if s.isSelected[i] && s.isChanged(i) {
				counts[i]++
			}
		}
	}
	return counts, nil
}
