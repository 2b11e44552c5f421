package table

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"herbarium/internal/ingest/rows"
)

// Limits of what Detect examines.
const (
	maxStart   = 60  // rows that may be above the header
	maxHeader  = 4   // rows that may name the columns together, if cells are merged; otherwise two
	maxBelow   = 30  // rows that names are compared with
	maxColumns = 256 // columns that are compared
)

// Merge is a range of merged cells: lines from 1, columns from 0.
type Merge struct{ Top, Left, Bottom, Right int }

// Sample is the start of a table.
type Sample struct {
	Rows []Row
	// Merges returns the merged cells. It is called if rows may name columns together. nil: there
	// are none.
	Merges func() []Merge
	// Tabular reports that the name of the file or its format promises a table, whose first
	// complete row usually names the columns.
	Tabular bool
	// AtTop reports that the header, if there is one, begins in the first row.
	AtTop bool
}

func (s Sample) merges() []Merge {
	if s.Merges == nil {
		return nil
	}
	return s.Merges()
}

// Layout is the position of the header in a sample.
type Header struct {
	First, End int         // the rows of the header; both are equal if there is none
	Names      []string    // that the rows of the header give together; nil: the values in each column are joined
	Terms      []rows.Term // of the score
	Score      float64     // sum of the terms
	Doubtful   bool        // the evidence is not clear: the header may be a record, or a record the header
}

// add adds a term to the score, unless it is zero.
func (l *Header) add(name string, value float64) {
	if value != 0 {
		l.Terms = append(l.Terms, rows.Term{Name: name, Value: value})
		l.Score += value
	}
}

// HasHeader reports whether some row names the columns.
func (l Header) Exists() bool { return l.End > l.First }

// detect chooses the header of a table: the first candidate with the highest score. The rows above
// it are no records.
func detect(s Sample) Header {
	if len(s.Rows) == 0 {
		return Header{}
	}
	best := slices.MaxFunc(candidates(s), func(a, b Header) int { return cmp.Compare(a.Score, b.Score) })
	if best.Exists() {
		best.Doubtful = best.Score < clearScore && best.End < len(s.Rows)
	}
	return best
}

// candidates returns the layouts that are possible: each header, in the order of the rows, and last
// that without a header.
func candidates(s Sample) (all []Header) {
	e := newEvidence(s)
	for first := range e.starts() {
		for end := first + 1; end <= min(first+maxHeader, len(s.Rows)); end++ {
			if c, ok := e.candidate(first, end); ok {
				all = append(all, c)
			}
		}
	}
	first := e.firstRecord()
	none := Header{First: first, End: first}
	isPossible := func(c Header) bool { return c.Score > -minScore }
	none.Doubtful = len(all) == 0 || slices.ContainsFunc(all, isPossible)
	none.add("no row names the columns", minScore)
	return append(all, none)
}

// Choose returns the layout that the options give, or else the one that Detect chooses.
func Detect(s Sample, o rows.Options) Header {
	given := Header{End: min(1, len(s.Rows))}
	switch {
	case o.Header == rows.HeaderNone:
		return Header{}
	case len(o.HeaderRows) > 0:
		for given.End < len(s.Rows) && s.Rows[given.End].Line <= slices.Max(o.HeaderRows) {
			given.End++
		}
		if n := given.End; n == len(o.HeaderRows) && n > 1 {
			if j := join(s.Rows[:n], s.merges(), o.HeaderJoin); j.isGrouped {
				given.Names = j.names
			}
		}
		return given
	case o.Header == rows.HeaderPresent:
		return given
	}
	if l := matchAllNames(s, o.HeaderNames); l.Exists() {
		return l
	}
	if len(o.Names) > 0 {
		if l := matchNames(s, o.Names); l.Exists() {
			return l
		}
	}
	if o.Skip == 0 {
		return detect(s)
	}
	s.AtTop = true
	if l := detect(s); l.Exists() {
		return l
	}
	return given
}

// matchAllNames returns the first row that has all names.
func matchAllNames(s Sample, names []string) Header {
	for i, row := range s.Rows[:min(maxStart, len(s.Rows))] {
		cells := JoinNames(nil, row.Cells, "")
		isMissing := func(name string) bool { return !slices.Contains(cells, name) }
		if len(names) > 0 && !slices.ContainsFunc(names, isMissing) {
			return Header{First: i, End: i + 1}
		}
	}
	return Header{}
}

// matchNames returns the rows with the most of the names that a descriptor or another part of the
// table gives. At least half of the values of the first of these rows must be such names, or there
// is no header.
func matchNames(s Sample, names []string) (best Header) {
	expected := map[string]bool{}
	for _, name := range names {
		expected[strings.ToLower(name)] = true
	}
	most := 0
	for first := range min(maxStart, len(s.Rows)) {
		for end := first + 1; end <= min(first+maxHeader, len(s.Rows)); end++ {
			var joined []string
			for _, row := range s.Rows[first:end] {
				joined = JoinNames(joined, row.Cells, "")
			}
			found := 0
			for _, name := range joined {
				if expected[strings.ToLower(name)] {
					found++
				}
			}
			if found > most && 2*found >= s.Rows[first].Filled() {
				best, most = Header{First: first, End: end}, found
				if end-first > 1 {
					best.Names = joined
				}
			}
		}
		if s.AtTop {
			break
		}
	}
	return best
}

// doubt returns why the header may be wrong, or why there is none, for a message; "" if the header
// is clear. unit is what the format calls a row, line the number of the header or the first record.
func (l Header) doubt(unit string, line int) string {
	switch {
	case l.Exists() && l.Doubtful:
		return fmt.Sprintf("%s %d names the columns, although little distinguishes it from the %ss below it",
			unit, line, unit)
	case l.Exists():
		return ""
	case l.Doubtful:
		return fmt.Sprintf("no %s clearly names the columns", unit)
	}
	return fmt.Sprintf("%s %d has values, not names", unit, line)
}
