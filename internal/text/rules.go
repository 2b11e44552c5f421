package text

import (
	"fmt"
	"unicode"

	"golang.org/x/text/collate"
	"golang.org/x/text/unicode/norm"
)

// rulesNumber counts the changes of what Key, Fold, AppendWords and Elements return. A test compares them with a frozen
// table and asks for the next number when they differ, whether we changed the rules or a module that was updated did.
const rulesNumber = 1

// FirstRules is what Rules returned when there was no need yet to write it down: whatever was computed by rules that are
// not named was computed by these.
const FirstRules = "1, Unicode 15.0.0/15.0.0, CLDR 23"

// Rules names the rules of this program. What was computed by others, such as sort keys in a file, does not compare with
// what this program computes.
//
// Versions of Unicode are part of it because they do not follow from the source: the tables of the standard library and
// those that x/text chooses are the compiler's.
func Rules() string {
	return fmt.Sprintf("%d, Unicode %s/%s, CLDR %s", rulesNumber, unicode.Version, norm.Version, collate.CLDRVersion)
}
