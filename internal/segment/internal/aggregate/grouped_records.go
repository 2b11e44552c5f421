package aggregate

import (
	"cmp"
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/column"
	"herbarium/internal/segment/internal/guard"
)

// groupedRecords is the matching records with their groups, in sequence. A record in several groups
// occurs several times.
type groupedRecords struct {
	steps           *guard.Steps
	records, groups []uint32
}

// maxRepeated is the maximum number of times that records are repeated. Records with several
// elements in two list fields have the product of both, which no size of the dataset bounds.
const maxRepeated = 1 << 23

// Memory of a record.
const (
	bytesPerGrouped  = 8
	bytesPerSorted   = 12 // in byValue
	bytesPerExpanded = 12 // in a chunk
)

// repeats is the number of times that records are repeated.
type repeats int

// add counts repetitions. It ends the query if there are too many.
func (r *repeats) add(n int) {
	*r += repeats(n)
	if *r > maxRepeated {
		guard.Fail(herb.Invalidf("records with several elements count once for each combination of elements, which "+
			"are more than %d here; add a filter, or group by one list field",
			maxRepeated))
	}
}

// chunk is some matching records.
type chunk struct {
	records  []uint32
	groups   [query.MaxBy][]uint32
	expanded [query.MaxBy][]uint32 // buffers for records that are repeated
	selected [query.MaxBy][]uint32 // buffers for the records of selected groups
	reserved repeats               // for which memory is reserved
}

const recordsAtOnce = bitmap.EachAtOnce

// groupMatching looks up the groups of the matching records, some records at a time.
func (a *aggregation) groupMatching() *groupedRecords {
	n := a.total
	if len(a.fields) == 0 { // counts are enough
		n = 0
	}
	a.steps.Reserve(bytesPerGrouped * n)
	g := &groupedRecords{steps: a.steps, records: make([]uint32, 0, n), groups: make([]uint32, 0, n)}
	var c chunk
	var groups []uint32
	var all repeats
	a.eachMatching(func(records []uint32) {
		for records := range slices.Chunk(records, a.chunkSize()) {
			c.records = records
			a.group(&c)
			groups = a.table.appendIDs(groups[:0], &c)
			for _, id := range groups {
				a.table.counts[id]++
			}
			if len(a.fields) > 0 {
				repeated := max(0, len(c.records)-len(records))
				all.add(repeated)
				a.steps.Reserve(2 * bytesPerGrouped * repeated) // also while the arrays grow
				g.records, g.groups = append(g.records, c.records...), append(g.groups, groups...)
			}
		}
	})
	return g
}

// chunkSize returns the number of records to group at once: few if each has the combinations of the
// elements of two lists.
func (a *aggregation) chunkSize() int {
	for i := range a.request.By {
		if _, ok := a.groupers[i].(*listGrouper); !ok {
			return recordsAtOnce
		}
	}
	if len(a.request.By) < 2 {
		return recordsAtOnce
	}
	return recordsAtOnce / 64
}

// eachMatching calls f for all matching records, some at a time.
func (a *aggregation) eachMatching(f func(records []uint32)) {
	if a.input.Set != nil {
		a.input.Set.Each(a.steps, f)
		return
	}
	numbers := make([]uint32, 0, recordsAtOnce)
	for from := 0; from < a.input.Records; from += recordsAtOnce {
		numbers = numbers[:0]
		for rec := from; rec < min(from+recordsAtOnce, a.input.Records); rec++ {
			numbers = append(numbers, uint32(rec))
		}
		a.steps.Add(len(numbers))
		f(numbers)
	}
}

// group sets the groups of the records of a chunk in each By field, and repeats records that are in
// several.
func (a *aggregation) group(c *chunk) {
	for i := range a.request.By {
		switch g := a.groupers[i].(type) {
		case *listGrouper:
			a.expand(c, i, g)
		case recordGrouper:
			c.groups[i] = g.appendGroups(c.groups[i][:0], c.records)
		}
		a.steps.Add(len(c.records))
		a.selectRecords(c, i)
	}
}

// expand repeats each record for each element of a list field.
func (a *aggregation) expand(c *chunk, by int, list *listGrouper) {
	records, groups := c.expanded[by][:0], c.groups[by][:0]
	var others []uint32 // groups of the repeated records in the field before this one
	for i, rec := range c.records {
		n := len(groups)
		groups = list.appendElements(groups, rec)
		a.steps.Add(len(groups) - n)
		if more := 2*len(groups) - int(c.reserved); more > len(groups) {
			c.reserved.add(more)
			a.steps.Reserve(bytesPerExpanded * more)
		}
		for range len(groups) - n {
			records = append(records, rec)
			if by > 0 {
				others = append(others, c.groups[0][i])
			}
		}
	}
	c.records, c.expanded[by], c.groups[by] = records, records, groups
	if by > 0 {
		c.groups[0] = others
	}
}

// sortedGroups is the groups of records, sorted by the codes of a field.
type sortedGroups struct {
	steps    *guard.Steps
	none     []uint32 // groups of missing values
	distinct []uint32 // codes
	ends     []uint32 // of each code in groups
	groups   []uint32
}

func (g *groupedRecords) byValue(d *column.Dictionary) groupsByValue {
	s := &sortedGroups{steps: g.steps}
	n := len(g.records)
	g.steps.Reserve(bytesPerSorted * n)
	pairs := make([]uint64, 0, n) // code and group
	add := func(code, group uint32) {
		if int(code) == d.Len {
			s.none = append(s.none, group)
		} else {
			pairs = append(pairs, uint64(code)<<32|uint64(group))
		}
	}
	var codes []uint32
	var all repeats
	for from := 0; from < n; from += recordsAtOnce {
		to := min(from+recordsAtOnce, n)
		g.steps.Add(to - from)
		if d.Field.Type != herb.TypeList {
			codes = d.AppendCodes(codes[:0], g.records[from:to])
			for i, code := range codes {
				add(code, g.groups[from+i])
			}
			continue
		}
		for i, rec := range g.records[from:to] {
			codes = d.AppendElements(codes[:0], rec)
			if len(codes) == 0 {
				codes = append(codes, uint32(d.Len))
			}
			g.steps.Add(len(codes))
			all.add(len(codes) - 1)
			g.steps.Reserve(2 * bytesPerSorted * (len(codes) - 1))
			for _, code := range codes {
				add(code, g.groups[from+i])
			}
		}
	}
	s.sort(pairs, d.Len)
	return s
}

// sort sorts pairs by their codes, which are less than n.
func (s *sortedGroups) sort(pairs []uint64, n int) {
	s.groups = make([]uint32, len(pairs))
	if n > 4*len(pairs) { // counting takes longer
		slices.SortFunc(pairs, func(x, y uint64) int {
			s.steps.Add(1)
			return cmp.Compare(x, y)
		})
		s.steps.Reserve(8 * len(pairs))
		s.steps.Add(len(pairs))
		for i, pair := range pairs {
			s.groups[i] = uint32(pair)
			if code := uint32(pair >> 32); i+1 == len(pairs) || code != uint32(pairs[i+1]>>32) {
				s.distinct, s.ends = append(s.distinct, code), append(s.ends, uint32(i+1))
			}
		}
		return
	}
	s.steps.Reserve(4*n + 8*min(n, len(pairs)))
	starts := make([]uint32, n+1)
	s.steps.Blocks(0, len(pairs), func(from, to int) {
		for _, pair := range pairs[from:to] {
			starts[pair>>32+1]++
		}
	})
	s.steps.Blocks(0, n, func(from, to int) {
		for code := from; code < to; code++ {
			if starts[code+1] > 0 {
				s.distinct, s.ends = append(s.distinct, uint32(code)), append(s.ends, starts[code]+starts[code+1])
			}
			starts[code+1] += starts[code]
		}
	})
	s.steps.Blocks(0, len(pairs), func(from, to int) {
		for _, pair := range pairs[from:to] {
			at := &starts[pair>>32]
			s.groups[*at] = uint32(pair)
			*at++
		}
	})
}

func (s *sortedGroups) missing(f func(groups []uint32)) {
	s.steps.Blocks(0, len(s.none), func(from, to int) { f(s.none[from:to]) })
}

func (s *sortedGroups) codes() []uint32 { return s.distinct }

func (s *sortedGroups) each(f func(i int, code uint32, groups []uint32)) {
	from := uint32(0)
	for i, code := range s.distinct {
		s.steps.Blocks(int(from), int(s.ends[i]), func(from, to int) { f(i, code, s.groups[from:to]) })
		from = s.ends[i]
	}
}
