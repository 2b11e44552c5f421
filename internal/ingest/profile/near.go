package profile

import (
	"fmt"
	"slices"
	"strings"

	"herbarium/internal/herb"
)

// nearShare limits the values of a nearly typed column that are not of its type: at most one value
// in nearShare.
const nearShare = 10

// isAlmost reports whether nearly all values are of the type, in any notation.
func (c *candidate) isAlmost() bool {
	return c.typed > 0 && nearShare*c.other <= c.typed+c.other
}

// near returns the type and the notation that nearly all values of a text column have, or nil. The
// values that do not have it are counted later, when the segment is built.
func (c *column) near(name string, fileType herb.Type, shown *conventions) *herb.NearType {
	var n herb.NearType
	why := ""
	isOpen := fileType != herb.TypeText // see infer
	switch {
	case isOpen && c.number.isAlmost():
		n.Type = herb.TypeNumber
		n.Notation, why = c.numberNotation(name, fileType, shown)
	case c.time.isAlmost():
		n.Type = herb.TypeDate
		if c.times.hasClock() {
			n.Type = herb.TypeDateTime
		}
		n.Notation.DateFormat, why = c.times.format(shown)
	case c.clock.isAlmost():
		n.Type, n.Notation.DateFormat, why = c.clocks.result(name)
	case isOpen && c.word.isAlmost() && c.booleans.hold():
		n.Type = herb.TypeBoolean
	}
	if n.Type == "" || why != "" {
		return nil
	}
	for _, s := range c.signs {
		n.Notation.Missing = append(n.Notation.Missing, s.value)
	}
	slices.Sort(n.Notation.Missing)
	return &n
}

// nearNote says how many values of a text column have the type that nearly all have, and what to do
// about the others. It is empty if other notes are about all of them.
func (c *column) nearNote(t herb.Type) string {
	k := c.candidate(t)
	typed, rest := k.typed, k.other
	others := slices.Clone(k.named)
	if t == herb.TypeNumber {
		for _, i := range c.infinities {
			others, rest = append(others, i), rest+i.count
		}
		if c.padded+c.long+c.flagged >= rest && rest > 0 {
			return ""
		}
	}
	if rest == 0 {
		remedy := "write them alike"
		if t == herb.TypeDate || t == herb.TypeDateTime {
			remedy += ", or declare their formats, as in %d.%m.%Y|%Y-%m-%d"
		}
		return fmt.Sprintf("all %s values are %ss, but not in one notation; %s", herb.Count(typed), t, remedy)
	}
	var quoted []string
	named := 0
	for _, o := range others[:min(len(others), maxNamed)] {
		quoted, named = append(quoted, fmt.Sprintf("%q", clip(o.value))), named+o.count
	}
	if named < rest {
		quoted = append(quoted, "…")
	}
	return fmt.Sprintf(`%s of %s values are %ss; if all should be, correct the others or declare "missingValues": [%s]`,
		herb.Count(typed), herb.Count(typed+rest), t, strings.Join(quoted, ", "))
}
