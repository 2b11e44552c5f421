package profile

import (
	"slices"

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
		n.Notation, why = c.numbers.notation(shown)
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
