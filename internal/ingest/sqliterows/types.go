package sqliterows

import (
	"strings"
	"time"

	"herbarium/internal/herb"
)

// column describes the values of a column so far.
type column struct {
	affinity herb.Type // what its declared type says about its values: text, numbers or nothing
	isText   bool      // some value is not a number
	isOther  bool      // some value is not text that looks like a date
}

// affinityOf follows the rules of SQLite, except that dates and booleans have no affinity: SQLite stores them as text or
// as numbers.
func affinityOf(declared string) herb.Type {
	for _, rule := range []struct {
		affinity herb.Type
		parts    []string
	}{
		{herb.TypeNumber, []string{"INT"}},
		{herb.TypeText, []string{"CHAR", "CLOB", "TEXT"}},
		{"", []string{"BLOB"}},
		{herb.TypeNumber, []string{"REAL", "FLOA", "DOUB", "NUM", "DEC"}},
	} {
		for _, part := range rule.parts {
			if strings.Contains(strings.ToUpper(declared), part) {
				return rule.affinity
			}
		}
	}
	return ""
}

// declaredType returns the type of a column once all values have been read. SQLite enforces no types: numbers are declared
// only if all values are stored as numbers. Dates are stored as text, so a text column of dates is left to inference.
func (c *column) declaredType() herb.Type {
	if c.affinity == herb.TypeNumber && !c.isText || c.affinity == herb.TypeText && c.isOther {
		return c.affinity
	}
	return ""
}

// startsWithDate reports whether text begins like 2024-02-29.
func startsWithDate(s string) bool {
	_, err := time.Parse(time.DateOnly, s[:min(len(s), len(time.DateOnly))])
	return err == nil
}
