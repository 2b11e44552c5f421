package table

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"herbarium/internal/ingest/value"
)

// headerScore returns the mean evidence that the values of a row are names of the columns below.
// joined are the names that it gives together with rows above it; nil: there are none.
func (e *evidence) headerScore(names Row, joined []string, below []int) float64 {
	kinds := e.sequenceKinds(names, below)
	width := min(len(names.Cells), maxColumns)
	for _, i := range below {
		width = max(width, len(e.kinds[i]))
	}
	var sum, weight float64
	for c := range width {
		isPart := c < len(joined) && joined[c] != string(names.cell(c))
		got, w := e.nameScore(names, c, below, kinds, isPart)
		sum += w * got
		weight += w
	}
	if weight == 0 {
		return 0
	}
	return sum / weight
}

// nameScore returns the evidence that a value is the name of the column below, and the weight of
// the column. kinds are those that sequenceKinds returns.
func (e *evidence) nameScore(names Row, c int, below []int, kinds value.Kind, isPart bool) (score, weight float64) {
	const null = `\N` // of MySQL and PostgreSQL
	var count [256]int
	n := 0
	for _, i := range below {
		if k := e.kind(i, c); k != value.Missing {
			count[k]++
			n++
		}
	}
	name, k := names.cell(c), names.kind(c)
	switch texts := count[value.Text]; {
	case string(name) == null:
		return -contrast, 1
	case len(name) == 0 || k == value.Missing:
		if len(below) == 0 || c == 0 && n == len(below) { // row labels often have no name
			return 0, float64(min(n, 1))
		}
		return -unnamed, float64(n) / float64(len(below))
	case k&kinds != 0 && 2*texts > n:
		return 0, 1
	case k&kinds != 0: // a year above years is a value
		return sequence * confidence(n) * (1 - 2*e.shareOfSequence(c, below, name)), 1
	case k != value.Text && n == 0:
		return -aboveNothing, 1
	case k != value.Text && count[k] > 0:
		return -contrast * confidence(n) * float64(count[k]) / float64(n), 1
	case k == value.Date && 2*count[value.Number] > n:
		return dateAboveNumbers * confidence(n), 1
	case k != value.Text:
		return -unlikeKinds, 1
	case n == 0:
		return nameLikeness(name), emptyWeight
	case 2*texts < n:
		return contrast * confidence(n) * (1 - 2*float64(texts)/float64(n)), 1
	default:
		return e.textEvidence(name, c, below, isPart), 1
	}
}

// shareOfSequence returns the share of the values of a column that may be the next names of a
// sequence: years, or dates.
func (e *evidence) shareOfSequence(c int, below []int, name []byte) float64 {
	n, same := 0, 0
	for _, i := range below {
		k := e.kind(i, c)
		if k == value.Missing {
			continue
		}
		n++
		next := e.Rows[i].cell(c)
		isDates := k == value.Date && value.KindOf(name) == value.Date
		if isYear(name) && isYear(next) || isDates || bytes.Equal(name, next) {
			same++
		}
	}
	if n == 0 {
		return 0
	}
	return float64(same) / float64(n)
}

// textEvidence compares a text with the texts of a column below it. A value recurs, or has the form
// of codes; a name differs from values of one form, or is much shorter.
func (e *evidence) textEvidence(name []byte, c int, below []int, isPart bool) float64 {
	form, code, n, equal, codes, long := formOf(name), shapeOf(name), 0, 0, 0, 0
	forms := map[string]int{}
	for _, i := range below {
		if e.kind(i, c) != value.Text {
			continue
		}
		n++
		value := e.Rows[i].cell(c)
		if bytes.Equal(value, name) && !isPart {
			equal++
		}
		forms[formOf(value)]++
		if shapeOf(value) == code {
			codes++
		}
		if len(value) > 4*len(name) {
			long++
		}
	}
	common := 0
	for _, count := range forms {
		common = max(common, count)
	}
	score, alike := nameLikeness(name), forms[form]
	if 10*alike > n {
		score = min(score, 0)
	}
	switch {
	case equal > 1 || equal > 0 && n == 1 && len(below) > 1:
		return -recurringName
	case strings.Contains(code, "0") && 10*codes >= 8*n && n > 1:
		return -contrast * confidence(n)
	case 10*alike <= n && 2*common > n:
		score += otherForm * confidence(n) * (2*float64(common)/float64(n) - 1)
	}
	if 2*long > n {
		score += muchShorter * confidence(n)
	}
	return score
}

var (
	// pair matches a text that has a value, such as "id=7", "{id}" or "Author:" left of one.
	pair = regexp.MustCompile(`[{}]|^=|[^<>! ]=\S|:$`)
	// properName matches names of persons and places, such as "Lee, Ann".
	properName = regexp.MustCompile(`, +\p{Lu}`)
)

// nameLikeness returns how much a text looks like a name rather than a value, without regard to
// others.
func nameLikeness(text []byte) float64 {
	digits := len(text) - len(bytes.TrimFunc(text, unicode.IsDigit))
	isOther := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' }
	switch {
	case bytes.Contains(text, []byte("://")) || bytes.ContainsRune(text, '@') || utf8.RuneCount(text) > 120:
		return -addressLike
	case 2*digits > len(text), pair.Match(text):
		return -pairLike
	case properName.Match(text):
		return -properNameLike
	case bytes.ContainsRune(text, '_') && !bytes.ContainsFunc(text, isOther):
		return identifierLike
	}
	return 0
}

// formOf returns the form of a text, such as "A0-0" of "RO1-0001": each run of small letters,
// capitals or digits becomes one sign, other characters remain. It has up to 12 signs.
func formOf(text []byte) string {
	return signs(text, true)
}

// shapeOf returns the shape of a code, such as "AA0-0000" of "RO1-0001": unlike in formOf, each
// letter and each digit becomes a sign.
func shapeOf(text []byte) string {
	return signs(text, false)
}

// signs replaces characters by signs for their classes; runs means that equal adjacent signs become
// one.
func signs(text []byte, runs bool) string {
	const maxForm = 12
	form := make([]byte, 0, maxForm)
	first := true
	for _, r := range string(text[:min(len(text), 4*maxForm)]) {
		sign := byte('.')
		switch {
		case unicode.IsDigit(r):
			sign = '0'
		case unicode.IsUpper(r):
			sign = 'A'
		case unicode.IsLetter(r):
			sign = 'a'
		case r < utf8.RuneSelf:
			sign = byte(r)
		}
		if first || !runs || sign != form[len(form)-1] {
			form = append(form, sign)
		}
		first = false
		if len(form) == maxForm {
			break
		}
	}
	return string(form)
}

// sequenceKinds returns the kinds of values, other than text, that name the columns in a row:
// years, at least three dates in ascending order, numbers that are consecutive, at least five
// ascending ones, or the ends of ranges such as ages. Most rows below have no such sequence.
func (e *evidence) sequenceKinds(row Row, below []int) (kinds value.Kind) {
	if isSequence(dates(row)) && !e.mostBelow(below, func(r Row) bool { return isSequence(dates(r)) }) {
		kinds |= value.Date
	}
	if endsRanges(row) && !e.mostBelow(below, endsRanges) {
		return kinds | value.Number
	}
	names := numbers(row)
	isAlike := func(r Row) bool { return areYears(numbers(r)) }
	switch {
	case areYears(names):
	case areConsecutive(names) && (names[0] == 0 || hasRowLabel(row) || names[0] == 1 &&
		e.mostBelow(below, hasRowLabel)):
		isAlike = func(r Row) bool { return areConsecutive(numbers(r)) }
	case hasRowLabel(row) && isAscending(row):
		isAlike = isAscending
	default:
		return kinds
	}
	if !e.mostBelow(below, isAlike) && (len(below) > 1 || areYears(names) || len(names) > 0 && names[0] == 0) {
		kinds |= value.Number
	}
	return kinds
}

// rangePattern matches a range of numbers, such as "10-19", and openRange its end, such as "80+".
var (
	rangePattern = regexp.MustCompile(`^\d+ ?[-–] ?\d+$`)
	openRange    = regexp.MustCompile(`^\d+ ?\+$`)
)

// endsRanges reports whether a row has ranges of numbers, and no number but their ends.
func endsRanges(r Row) bool {
	ranges, ends := 0, 0
	for c := range r.Cells[:min(len(r.Cells), maxColumns)] {
		switch cell := r.cell(c); {
		case rangePattern.Match(cell):
			ranges++
		case r.kind(c) == value.Number && !openRange.Match(cell):
			return false
		case r.kind(c) == value.Number:
			ends++
		}
	}
	return ranges > 0 && ends > 0
}

// hasRowLabel reports whether the first value of a row is a text, as labels of rows are.
func hasRowLabel(r Row) bool {
	first := slices.IndexFunc(r.Cells, isFilled)
	return first >= 0 && r.kind(first) == value.Text
}

// mostBelow reports whether more than half of the rows below satisfy a test.
func (e *evidence) mostBelow(below []int, test func(Row) bool) bool {
	n := 0
	for _, i := range below {
		if test(e.Rows[i]) {
			n++
		}
	}
	return 2*n > len(below)
}

// dates returns the dates in a row.
func dates(r Row) (found []string) {
	for c := range r.Cells[:min(len(r.Cells), maxColumns)] {
		if r.kind(c) == value.Date {
			found = append(found, string(r.cell(c)))
		}
	}
	return found
}

func isSequence(names []string) bool {
	return len(names) >= 3 && slices.IsSorted(names) && len(slices.Compact(slices.Clone(names))) == len(names)
}

// numbers returns the numbers in a row, nil if one of them is not a natural number.
func numbers(r Row) (found []int) {
	for c := range r.Cells[:min(len(r.Cells), maxColumns)] {
		if r.kind(c) != value.Number {
			continue
		}
		n, err := strconv.Atoi(string(r.cell(c)))
		if err != nil || n < 0 {
			return nil
		}
		found = append(found, n)
	}
	return found
}

// areConsecutive reports whether numbers follow each other, at least three or two from 0. They may
// begin again.
func areConsecutive(names []int) bool {
	for i := 1; i < len(names); i++ {
		if names[i] != names[i-1]+1 && names[i] != names[0] {
			return false
		}
	}
	return len(names) >= 3 && names[1] > names[0] || len(names) == 2 && names[0] == 0 && names[1] == 1
}

// isAscending reports whether a row has at least five numbers that ascend, such as wavelengths, and
// none is negative.
func isAscending(r Row) bool {
	n, last := 0, -1.0
	for c := range r.Cells[:min(len(r.Cells), maxColumns)] {
		if r.kind(c) != value.Number {
			continue
		}
		number, err := strconv.ParseFloat(strings.Replace(string(r.cell(c)), ",", ".", 1), 64)
		if err != nil || number <= last {
			return false
		}
		n, last = n+1, number
	}
	return n >= 5
}

func areYears(numbers []int) bool {
	return len(numbers) > 0 && !slices.ContainsFunc(numbers, func(n int) bool { return n < 1500 || n > 2200 })
}

func isYear(cell []byte) bool {
	n, err := strconv.Atoi(string(cell))
	return err == nil && areYears([]int{n})
}
