package sqliterows

import (
	"strings"
	"time"

	"herbarium/internal/herb"
)

// affinity is what the declared type of a column says about its values.
type affinity int

const (
	affinityNone affinity = iota
	affinityText
	affinityNumber
)

// affinityOf follows the rules of SQLite, except that dates and booleans have no affinity: SQLite stores them as text or
// as numbers.
func affinityOf(declared string) affinity {
	for _, rule := range []struct {
		part     string
		affinity affinity
	}{
		{"INT", affinityNumber}, {"CHAR", affinityText}, {"CLOB", affinityText}, {"TEXT", affinityText}, {"BLOB", affinityNone},
		{"REAL", affinityNumber}, {"FLOA", affinityNumber}, {"DOUB", affinityNumber}, {"NUM", affinityNumber}, {"DEC", affinityNumber},
	} {
		if strings.Contains(strings.ToUpper(declared), rule.part) {
			return rule.affinity
		}
	}
	return affinityNone
}

// declaredType returns the type of a column once all values have been read. SQLite enforces no types: numbers are declared
// only if all values are stored as numbers. Dates are stored as text, so a text column of dates is left to inference.
func (c *column) declaredType() herb.Type {
	switch {
	case c.affinity == affinityNumber && !c.isText:
		return herb.TypeNumber
	case c.affinity == affinityText && c.isOther:
		return herb.TypeText
	default:
		return ""
	}
}

// startsWithDate reports whether text begins like 2024-02-29.
func startsWithDate(s string) bool {
	_, err := time.Parse(time.DateOnly, s[:min(len(s), len(time.DateOnly))])
	return err == nil
}
