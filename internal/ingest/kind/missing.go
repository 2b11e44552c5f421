package kind

import (
	"bytes"
	"strings"
)

// maxRun is the length of a run of one character that means a missing value.
const maxRun = 20

// IsMissing reports whether a value means a missing one in columns of scalar types: NA, null and
// the like in any case, or a run of one of the characters ? * - and the point. It is false for an
// empty value.
func IsMissing(v []byte) bool {
	if len(v) == 0 {
		return false
	}
	switch v[0] {
	case '?', '*', '-', '.':
		return len(v) <= maxRun && len(bytes.Trim(v, string(v[:1]))) == 0
	case '\\':
		return string(v) == `\N`
	case ':': // Eurostat, also with flags: ": c"
		rest, ok := cutFlags(v)
		return len(v) == 1 || ok && len(rest) == 1
	case '0': // MySQL
		return string(v) == "0000-00-00" || string(v) == "0000-00-00 00:00:00"
	case '#':
		return bytes.EqualFold(v, []byte("#N/A"))
	case 'n', 'N':
		for _, word := range [...]string{"na", "n/a", "nan", "null", "none"} {
			if len(v) == len(word) && strings.EqualFold(string(v), word) {
				return true
			}
		}
	}
	return false
}

// isRule reports whether a value is a line that separates rows of a table, such as "-----",
// "=====" or ":---:".
func isRule(v []byte) bool { return len(bytes.Trim(v, "-_=:")) == 0 }
