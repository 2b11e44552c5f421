package store

import (
	"strconv"
	"strings"
)

// Numbered replaces the ? placeholders of a statement with $1, $2 and so on. Statements of this package use ? for
// placeholders only.
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
