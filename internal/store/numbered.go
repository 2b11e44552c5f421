package store

import (
	"strconv"
	"strings"
)

// Numbered turns every ? of a statement into $1, $2 and so on, for databases that want their values numbered. Statements
// of this package have no ? but for a value.
func Numbered(statement string) string {
	var b strings.Builder
	b.Grow(len(statement) + 16)
	for n := 1; ; n++ {
		before, rest, found := strings.Cut(statement, "?")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		b.WriteByte('$')
		b.WriteString(strconv.Itoa(n))
		statement = rest
	}
}
