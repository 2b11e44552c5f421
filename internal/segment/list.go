package segment

import (
	"context"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"herbarium/internal/query"
	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/fulltext"
	"herbarium/internal/segment/internal/guard"
)

// List returns the requested page. Its records point into the map.
func (r *Reader) List(ctx context.Context, q *query.Request) (page query.Page, err error) {
	err = r.file.Guard(func() error {
		st := guard.NewSteps(ctx)
		numbers, total, err := r.findPage(st, q)
		if err != nil {
			return err
		}
		page.Total = total
		page.Records = make([][]byte, len(numbers))
		for i, n := range numbers {
			page.Records[i] = r.records.JSON(n)
			prefault(st, page.Records[i])
		}
		return nil
	})
	if err != nil {
		return query.Page{}, err
	}
	return page, nil
}

// prefault reads from every memory page of a record, so that a fault in the map occurs here, where it is converted to
// an error, and not while the record is sent. The result must be used, or the compiler removes the reads.
func prefault(st *guard.Steps, record []byte) {
	const memoryPage = 4096
	zero := false
	for at := 0; at < len(record); at += memoryPage {
		st.Add(1)
		zero = zero || record[at] == 0
	}
	if zero || record[0] != '{' || record[len(record)-1] != '}' {
		guard.Corrupt("a record is not an object")
	}
}

// findPage returns the numbers of the records on the page, in order, and the total on all pages.
func (r *Reader) findPage(st *guard.Steps, q *query.Request) (numbers []uint32, total int, err error) {
	set, clauses, err := r.evaluate(st, q)
	if err != nil {
		return nil, 0, err
	}
	st.Check()
	total = r.Len()
	if set != nil {
		total = int(set.GetCardinality())
	}
	from := min(q.Offset(), total)
	to := min(from+q.PerPage, total)
	switch {
	case from == to:
	case q.Sort != query.NoSort:
		numbers, err = r.columns[q.Sort].Page(st, set, from, to, q.Desc)
	case len(clauses) > 0:
		numbers, err = r.words.Page(st, set, clauses, from, to)
	default:
		numbers, err = selection(set, from, to)
	}
	r.words.Release(clauses)
	return numbers, total, err
}

// evaluate returns the matching records, nil for all, and the clauses for scoring.
func (r *Reader) evaluate(st *guard.Steps, q *query.Request) (set *roaring.Bitmap, scored []fulltext.Clause, err error) {
	var sets, without []*roaring.Bitmap
	if q.Search != nil {
		if len(q.Search.Clauses) == 0 {
			return roaring.New(), nil, nil
		}
		for _, c := range q.Search.Clauses {
			found, err := r.words.Match(st, c)
			if err != nil {
				return nil, nil, err
			}
			if c.Exclude {
				without = append(without, found.Set)
				continue
			}
			sets = append(sets, found.Set)
			scored = append(scored, found)
		}
	}
	met, err := r.conditionSets(st, q.Conditions)
	if err != nil {
		return nil, nil, err
	}
	sets = append(sets, met...)
	if len(sets) == 0 {
		if len(without) == 0 {
			return nil, nil, nil
		}
		all := roaring.New()
		all.AddRange(0, uint64(r.Len()))
		sets = append(sets, all)
	}
	set = bitmap.Intersection(st, sets)
	for _, s := range without {
		st.Check()
		set = roaring.AndNot(set, s)
	}
	return set, scored, nil
}

// conditionSets returns sets whose intersection is the records that meet all conditions. The sets must not be modified.
func (r *Reader) conditionSets(st *guard.Steps, conditions []query.Condition) (sets []*roaring.Bitmap, err error) {
	type bounds struct{ field, from, to int }
	var ranges []bounds
	for _, cond := range conditions {
		c := &r.columns[cond.Field]
		from, to, ok := c.Bounds(cond)
		if !ok {
			set, err := c.Match(st, cond)
			if err != nil {
				return nil, err
			}
			sets = append(sets, set)
			continue
		}
		i := slices.IndexFunc(ranges, func(b bounds) bool { return b.field == cond.Field })
		if i < 0 {
			ranges = append(ranges, bounds{cond.Field, from, to})
			continue
		}
		ranges[i].from, ranges[i].to = max(ranges[i].from, from), min(ranges[i].to, to)
	}
	for _, b := range ranges {
		set, err := r.columns[b.field].RankSet(st, b.from, max(b.from, b.to))
		if err != nil {
			return nil, err
		}
		sets = append(sets, set)
	}
	return sets, nil
}

// selection returns the members of a set at positions [from, to); nil is the set of all records.
func selection(set *roaring.Bitmap, from, to int) ([]uint32, error) {
	numbers := make([]uint32, 0, to-from)
	if set == nil {
		for n := from; n < to; n++ {
			numbers = append(numbers, uint32(n))
		}
		return numbers, nil
	}
	first, err := set.Select(uint32(from))
	if err != nil {
		return nil, err
	}
	it := set.Iterator()
	for it.AdvanceIfNeeded(first); len(numbers) < to-from && it.HasNext(); {
		numbers = append(numbers, it.Next())
	}
	return numbers, nil
}
