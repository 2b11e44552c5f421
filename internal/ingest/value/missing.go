package value

import (
	"bytes"
	"strings"
)

// maxRun is the length of a run of one character that means a missing value.
const maxRun = 20

// IsMissing reports whether a value means a missing one in columns of scalar types: NA, null and
// the like in any case, an error of a workbook, or a run of one of the characters ? * - – — and the
// point. It is false for an empty value.
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
		return isAny(v, "#n/a", "#div/0!", "#value!", "#ref!", "#name?", "#num!", "#null!", "#calc!", "#spill!")
	case 'n', 'N':
		return isAny(v, "na", "n/a", "nan", "null", "none", "n.a.", "n. a.")
	case 'k', 'K': // keine Angabe
		return isAny(v, "k.a.", "k. a.")
	case dash[0]:
		return len(v) <= maxRun && (len(bytes.ReplaceAll(v, []byte(dash), nil)) == 0 ||
			len(bytes.ReplaceAll(v, []byte(longDash), nil)) == 0)
	}
	return false
}

const dash, longDash = "\u2013", "\u2014"

// isAny reports whether a value is one of some words in any case.
func isAny(v []byte, words ...string) bool {
	for _, word := range words {
		if len(v) == len(word) && strings.EqualFold(string(v), word) {
			return true
		}
	}
	return false
}

// isRule reports whether a value is a line that separates rows of a table, such as "-----",
// "=====" or ":---:".
func isRule(v []byte) bool { return len(bytes.Trim(v, "-_=:")) == 0 }
