package store

import (
	"strings"
	"testing"
)

func TestNumbered(t *testing.T) {
	t.Parallel()
	for statement, want := range map[string]string{
		"":                               "",
		"SELECT 1":                       "SELECT 1",
		"?":                              "$1",
		"a = ? AND b IN (?,?) LIMIT ?":   "a = $1 AND b IN ($2,$3) LIMIT $4",
		strings.Repeat("?,", 11) + "end": "$1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,end",
	} {
		if got := Numbered(statement); got != want {
			t.Errorf("%q became %q; want %q", statement, got, want)
		}
	}
}
