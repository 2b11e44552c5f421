package layout

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
)

// Units returns the unit of each column if a row below the header states them, else nil: every value is a unit above
// numbers, most columns of numbers have one, and columns of text have none. Several units in parentheses may be above anything
// else than such.
func Units(row Row, below []Row) []string {
	if len(below) < 2 {
		return nil
	}
	isPlain := func(c []byte) bool { return len(c) > 0 && (!isEnclosed(c) || KindOf(bytes.Trim(c, "()")) == Number) } // (5) may be -5
	hasEnclosed := func(r Row) bool { return slices.ContainsFunc(r.Cells, isEnclosed) }
	areEnclosed := row.Filled() > 1 && !slices.ContainsFunc(row.Cells, isPlain) && !slices.ContainsFunc(below, hasEnclosed)
	units := make([]string, len(row.Cells))
	stated, bare, scales := 0, 0, 0 // columns of numbers with a unit, without one, and with a power of ten instead
	width := len(row.Cells)
	for _, r := range below {
		width = max(width, len(r.Cells))
	}
	for i := range width {
		cell := row.cell(i)
		k, n := ColumnKind(below, i)
		isNumeric := n > 0 && k == Number
		switch {
		case KindOf(cell) == Missing:
			if isNumeric {
				bare++
			}
		case isNumeric && isUnit(string(cell)), areEnclosed && n > 0:
			units[i] = strings.Trim(string(cell), "()[]")
			stated++
		case isNumeric && isScale(cell):
			units[i] = string(cell)
			scales++
		case n > 0 && k == Text && slices.Contains([]string{"unit", "units", "einheit", "unité", "unidad"}, strings.Trim(strings.ToLower(string(cell)), "()[]:")):
		default:
			return nil
		}
	}
	if stated == 0 || stated < bare || stated < scales {
		return nil
	}
	return units
}

// isScale reports whether a number is a power of ten from 100.
func isScale(cell []byte) bool {
	digits := bytes.ReplaceAll(cell, []byte(","), nil)
	return len(digits) > 2 && digits[0] == '1' && len(bytes.Trim(digits[1:], "0")) == 0
}

// withoutUnits returns the rows below a header without a row that states units.
func withoutUnits(below []Row) []Row {
	if len(below) > 0 && Units(below[0], below[1:]) != nil {
		return below[1:]
	}
	return below
}

// isUnit reports whether a text is a unit: one in parentheses or brackets, or words and symbols of which all are known,
// such as km², m/s, US$ million or per 1000 people.
func isUnit(s string) bool {
	if len(s) > 40 || isEnclosed([]byte(s)) {
		return len(s) <= 40
	}
	words := strings.FieldsFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.Is(unicode.Sc, r) && !strings.ContainsRune("%‰°", r)
	})
	return len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool { return !isUnitWord(w) })
}

// isEnclosed reports whether a value is in parentheses or brackets, as units are.
func isEnclosed(cell []byte) bool {
	cell = bytes.TrimSpace(cell)
	last := len(cell) - 1
	return last > 1 && (cell[0] == '(' && cell[last] == ')' || cell[0] == '[' && cell[last] == ']')
}

// The words of units. Symbols of the first list may have a metric prefix.
const (
	metricUnits = " m g s A K mol cd Hz N Pa J W Wh V VA F Ω S T H lm lx Bq Gy Sv L l t B b bit bar cal eV Bit Byte ha "
	otherUnits  = " % ‰ ° °C °F °K C degC degF dB mmHg " // as written
	unitWords   = " degrees percent pct min h hr hrs d day days week weeks month months y yr yrs year years sec second seconds minute minutes " +
		"hour hours ft in inch inches mi mile miles mph yd lb lbs oz gal acre acres ppm ppb rpm psi atm mb tonne tonnes ton tons cwt pound pounds " +
		"kilometers kilometres meters metres liters litres grams kilograms barrel barrels bushel bushels head " +
		"$ € £ ¥ us$ usd eur gbp jpy chf cad aud cny inr dollar dollars euro euros cent cents " +
		"thousand thousands million millions billion billions trillion mn bn " +
		"number count no person persons people population inhabitants capita household households per of " // in any case
)

func isUnitWord(w string) bool {
	if strings.Contains(otherUnits+metricUnits, " "+w+" ") || strings.Contains(unitWords, " "+strings.ToLower(w)+" ") {
		return true
	}
	for _, prefix := range []string{"da", "Y", "Z", "E", "P", "T", "G", "M", "k", "K", "h", "d", "c", "m", "µ", "μ", "u", "n", "p", "f"} {
		if base, ok := strings.CutPrefix(w, prefix); ok && base != "" && strings.Contains(metricUnits, " "+base+" ") {
			return true
		}
	}
	return false
}
