package text

// rules names the rules of this program: a number, and what it stands for. The number is
// incremented, and the rest replaced, whenever the results of Key, Fold, AppendWords or Elements
// change, whether by our changes, by an updated module or by the tables of another compiler. A test
// compares the results with a frozen table and fails if they differ.
const rules = "1, Unicode 15.0.0/15.0.0, CLDR 23"

// Rules identifies the rules of this program. Data computed by different rules, such as sort keys
// in a file, must not be compared with what this program computes. It is the same for every build
// of a release: the compiler does not determine it.
func Rules() string { return rules }
