package sqliterows

import (
	"strings"

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
	contains := func(parts ...string) bool {
		for _, p := range parts {
			if strings.Contains(strings.ToUpper(declared), p) {
				return true
			}
		}
		return false
	}
	switch {
	case contains("INT"):
		return affinityNumber
	case contains("CHAR", "CLOB", "TEXT"):
		return affinityText
	case declared == "", contains("BLOB", "DATE", "TIME", "BOOL"):
		return affinityNone
	case contains("REAL", "FLOA", "DOUB", "NUM", "DEC"):
		return affinityNumber
	default:
		return affinityNone
	}
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
	const pattern = "0000-00-00"
	if len(s) < len(pattern) {
		return false
	}
	for i := range pattern {
		if digit := '0' <= s[i] && s[i] <= '9'; digit != (pattern[i] == '0') || !digit && s[i] != '-' {
			return false
		}
	}
	return true
}
