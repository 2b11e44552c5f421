package aggregate

import (
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/column"
	"herbarium/internal/segment/internal/guard"
)

// entries is the matching records of all parts with their groups, in sequence. A record in several
// groups occurs several times.
type entries struct {
	steps *guard.Steps
	parts []partEntries
}

// partEntries is the entries of one part. The tail is the last part.
type partEntries struct {
	part            int
	records, groups []uint32
}

// chunk is some records of a part.
type chunk struct {
	part     int
	records  []uint32
	groups   [query.MaxBy][]uint32
	expanded [query.MaxBy][]uint32 // buffers for records that are repeated
}

const recordsAtOnce = bitmap.EachAtOnce

// groupEntries looks up the groups of the matching records, some records at a time.
func (a *aggregation) groupEntries() *entries {
	e := &entries{steps: a.steps}
	for part := range len(a.input.Parts) + 1 {
		n := len(a.input.Tail)
		if part < len(a.input.Parts) {
			n = a.input.Parts[part].matching()
		}
		if len(a.fields) == 0 { // counts are enough
			n = 0
		}
		e.parts = append(e.parts, partEntries{part, make([]uint32, 0, n), make([]uint32, 0, n)})
	}
	var c chunk
	var groups []uint32
	a.eachMatching(func(part int, records []uint32) {
		c.part, c.records = part, records
		a.group(&c)
		groups = a.table.appendIDs(groups[:0], &c)
		for _, id := range groups {
			a.table.counts[id]++
		}
		if p := &e.parts[part]; len(a.fields) > 0 {
			p.records, p.groups = append(p.records, c.records...), append(p.groups, groups...)
		}
	})
	return e
}

// eachMatching calls f for all matching records, some of one part at a time. The tail is the last
// part.
func (a *aggregation) eachMatching(f func(part int, records []uint32)) {
	numbers := make([]uint32, 0, recordsAtOnce)
	each := func(part, n int) {
		for from := 0; from < n; from += recordsAtOnce {
			numbers = numbers[:0]
			for rec := from; rec < min(from+recordsAtOnce, n); rec++ {
				numbers = append(numbers, uint32(rec))
			}
			a.steps.Add(len(numbers))
			f(part, numbers)
		}
	}
	for i, p := range a.input.Parts {
		if p.Set == nil {
			each(i, p.Records)
		} else {
			p.Set.Each(a.steps, func(records []uint32) { f(i, records) })
		}
	}
	each(len(a.input.Parts), len(a.input.Tail))
}

// group sets the groups of the records of a chunk in each By field, and repeats records that are in
// several.
func (a *aggregation) group(c *chunk) {
	for i := range a.request.By {
		switch g := a.groupers[i].(type) {
		case *listGrouper:
			expand(c, i, g)
		case recordGrouper:
			c.groups[i] = g.appendGroups(c.groups[i][:0], c.part, c.records)
		}
		a.steps.Add(len(c.records))
	}
}

// expand repeats each record for each element of a list field.
func expand(c *chunk, by int, list *listGrouper) {
	records, groups := c.expanded[by][:0], c.groups[by][:0]
	var others []uint32 // groups of the repeated records in the field before this one
	for i, rec := range c.records {
		n := len(groups)
		groups = list.appendElements(groups, c.part, rec)
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

// sortedEntries is the groups of entries, sorted by the codes of a field.
type sortedEntries struct {
	steps    *guard.Steps
	none     []uint32 // groups of missing values
	distinct []uint32 // codes
	ends     []uint32 // of each code in groups
	groups   []uint32
}

func (e *entries) byValue(d *column.Dictionary) groupsByValue {
	s := &sortedEntries{steps: e.steps}
	n := 0
	for _, p := range e.parts {
		n += len(p.records)
	}
	pairs := make([]uint64, 0, n) // code and group
	add := func(code, group uint32) {
		if int(code) == d.Len {
			s.none = append(s.none, group)
		} else {
			pairs = append(pairs, uint64(code)<<32|uint64(group))
		}
	}
	var codes []uint32
	for _, p := range e.parts {
		for from := 0; from < len(p.records); from += recordsAtOnce {
			to := min(from+recordsAtOnce, len(p.records))
			e.steps.Add(to - from)
			if d.Field.Type != herb.TypeList {
				codes = d.AppendCodes(codes[:0], p.part, p.records[from:to])
				for i, code := range codes {
					add(code, p.groups[from+i])
				}
				continue
			}
			for i, rec := range p.records[from:to] {
				if codes = d.AppendElements(codes[:0], p.part, rec); len(codes) == 0 {
					codes = append(codes, uint32(d.Len))
				}
				for _, code := range codes {
					add(code, p.groups[from+i])
				}
			}
		}
	}
	s.sort(pairs, d.Len)
	return s
}

// sort sorts pairs by their codes, which are less than n.
func (s *sortedEntries) sort(pairs []uint64, n int) {
	s.groups = make([]uint32, len(pairs))
	if n > 4*len(pairs) { // counting takes longer
		s.steps.Add(16 * len(pairs))
		slices.Sort(pairs)
		for i, pair := range pairs {
			s.groups[i] = uint32(pair)
			if code := uint32(pair >> 32); i+1 == len(pairs) || code != uint32(pairs[i+1]>>32) {
				s.distinct, s.ends = append(s.distinct, code), append(s.ends, uint32(i+1))
			}
		}
		return
	}
	s.steps.Add(n + len(pairs))
	starts := make([]uint32, n+1)
	for _, pair := range pairs {
		starts[pair>>32+1]++
	}
	for code := range n {
		if starts[code+1] > 0 {
			s.distinct, s.ends = append(s.distinct, uint32(code)), append(s.ends, starts[code]+starts[code+1])
		}
		starts[code+1] += starts[code]
	}
	for _, pair := range pairs {
		at := &starts[pair>>32]
		s.groups[*at] = uint32(pair)
		*at++
	}
}

func (s *sortedEntries) missing() []uint32 { return s.none }

func (s *sortedEntries) codes() []uint32 { return s.distinct }

func (s *sortedEntries) each(f func(i int, code uint32, groups []uint32)) {
	from := uint32(0)
	for i, code := range s.distinct {
		s.steps.Add(int(s.ends[i] - from))
		f(i, code, s.groups[from:s.ends[i]])
		from = s.ends[i]
	}
}
