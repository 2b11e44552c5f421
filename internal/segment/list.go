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
		numbers, total := r.findPage(st, q)
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
func (r *Reader) findPage(st *guard.Steps, q *query.Request) (numbers []uint32, total int) {
	set, clauses := r.evaluate(st, q)
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
		numbers = r.columns[q.Sort].Page(st, set, from, to, q.Desc)
	case len(clauses) > 0:
		numbers = r.words.Page(st, set, clauses, from, to)
	default:
		numbers = selection(set, from, to)
	}
	r.words.Release(clauses)
	return numbers, total
}

// evaluate returns the matching records, nil for all, and the clauses for scoring.
func (r *Reader) evaluate(st *guard.Steps, q *query.Request) (set *roaring.Bitmap, scored []fulltext.Clause) {
	var sets, without []*roaring.Bitmap
	if q.Search != nil {
		if len(q.Search.Clauses) == 0 {
			return roaring.New(), nil
		}
		for _, c := range q.Search.Clauses {
			found := r.words.Match(st, c)
			if c.Exclude {
				without = append(without, found.Set)
				continue
			}
			sets = append(sets, found.Set)
			scored = append(scored, found)
		}
	}
	sets = append(sets, r.conditionSets(st, q.Conditions)...)
	if len(sets) == 0 {
		if len(without) == 0 {
			return nil, nil
		}
		sets = append(sets, r.all())
	}
	set = bitmap.Intersection(st, sets)
	for _, s := range without {
		st.Check()
		set = roaring.AndNot(set, s)
	}
	return set, scored
}

// all returns the set of all records.
func (r *Reader) all() *roaring.Bitmap {
	all := roaring.New()
	all.AddRange(0, uint64(r.Len()))
	return all
}

// conditionSets returns sets whose intersection is the records that meet all conditions. The sets must not be modified.
func (r *Reader) conditionSets(st *guard.Steps, conditions []query.Condition) (sets []*roaring.Bitmap) {
	type bounds struct{ field, from, to int }
	var ranges []bounds
	for _, cond := range conditions {
		c := &r.columns[cond.Field]
		from, to, ok := c.Bounds(cond)
		if !ok {
			sets = append(sets, c.Match(st, cond))
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
		sets = append(sets, r.columns[b.field].RankSet(st, b.from, max(b.from, b.to)))
	}
	return sets
}

// selection returns the members of a set at positions [from, to); nil is the set of all records.
func selection(set *roaring.Bitmap, from, to int) []uint32 {
	numbers := make([]uint32, 0, to-from)
	if set == nil {
		for n := from; n < to; n++ {
			numbers = append(numbers, uint32(n))
		}
		return numbers
	}
	first, err := set.Select(uint32(from))
	if err != nil {
		guard.Corrupt("a set: %v", err)
	}
	it := set.Iterator()
	for it.AdvanceIfNeeded(first); len(numbers) < to-from && it.HasNext(); {
		numbers = append(numbers, it.Next())
	}
	return numbers
}
