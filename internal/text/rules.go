package text

import (
	"fmt"
	"unicode"

	"golang.org/x/text/collate"
	"golang.org/x/text/unicode/norm"
)

// rulesNumber is incremented whenever the results of Key, Fold, AppendWords or Elements change,
// whether by our changes or by an updated module. A test compares the results with a frozen table
// and fails if they differ.
const rulesNumber = 1

// Rules identifies the rules of this program. Data computed by different rules, such as sort keys
// in a file, must not be compared with what this program computes.
//
// The Unicode versions are included because they do not follow from the source: the compiler
// determines the tables of the standard library and those that x/text selects.
func Rules() string {
	return fmt.Sprintf("%d, Unicode %s/%s, CLDR %s", rulesNumber, unicode.Version, norm.Version, collate.CLDRVersion)
}
