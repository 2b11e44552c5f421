package column

import (
	"sort"
	"strings"

	"herbarium/internal/query"
	"herbarium/internal/segment/internal/guard"
	"herbarium/internal/segment/internal/plan"
	"herbarium/internal/text"
)

// numberPrefixes returns the condition that a number begins with any of several prefixes. The runs
// of numbers of equal length are found once for all of them, because there may be as many as
// numbers have digits.
func (c *Column) numberPrefixes(st *guard.Steps, prefixes []query.Operand) plan.AnyOf {
	all := plan.AnyOf{}
	lengths := c.numberLengths(st)
	for _, prefix := range prefixes {
		name := c.Field.Name + " " + string(query.OpPrefix) + " " + prefix.Text
		all = append(all, plan.StoredCondition{Name: name}) // names it even if no number begins with it
		for _, l := range lengths {
			r, ok := text.NumberPrefixRange(prefix.Text, l.digits)
			if !ok || l.isNegative != strings.HasPrefix(prefix.Text, "-") {
				continue
			}
			st.Check()
			first := l.from + sort.Search(l.to-l.from, func(i int) bool { return c.runKey(l.from+i) >= r.From })
			end := first + sort.Search(l.to-first, func(i int) bool { return c.runKey(first+i) >= r.To })
			if first < end {
				all = append(all, RankRange{c: c, from: int(c.runs.At(first)), to: int(c.runs.At(end)), run: anyRun,
					name: name})
			}
		}
	}
	return all
}

// numberLength is the runs [from, to) of numbers of one sign with so many digits before the decimal
// point.
type numberLength struct {
	isNegative       bool
	digits, from, to int
}

// numberLengths returns the runs of numbers of each length.
func (c *Column) numberLengths(st *guard.Steps) (lengths []numberLength) {
	for from := 0; from < c.Distinct(); {
		st.Check()
		l := numberLength{from: from}
		l.isNegative, l.digits = text.NumberLength(c.runKey(from))
		l.to = from + sort.Search(c.Distinct()-from, func(i int) bool {
			isNegative, digits := text.NumberLength(c.runKey(from + i))
			return isNegative != l.isNegative || digits != l.digits
		})
		lengths, from = append(lengths, l), l.to
	}
	return lengths
}
