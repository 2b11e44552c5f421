package table

import (
	"bytes"
	"regexp"
	"strings"
	"unicode/utf8"

	"herbarium/internal/ingest/kind"
)

// maxUnit is the length in characters of the longest text that may be a unit.
const maxUnit = 30

// unitProof says how much a text proves that its row has units.
type unitProof int

const (
	notUnit    unitProof = iota
	plainWord            // a word that also names columns, such as "count"
	letter               // one letter, or any text in brackets: records have such marks
	provenUnit           // a symbol or a word that is hardly anything else, such as "kg/m3"
)

// Words of units. Those in the first list have their own forms for several languages.
var (
	plainWords = `(?:number|count|counts|no\.|nr\.?|units?|index|ratio|fraction|score|rate|date|time|years?|months?|weeks?|days?|hours?|minutes?|seconds?|persons?|people|population|households?|` +
		`in|ns|pm|anzahl|personen|einwohner|jahre?|monate?|tage?|stunden|minuten|stück|stk\.?|nombre|personnes|habitants|années|ans|mois|jours|heures|` +
		`número|personas|habitantes|años|meses|días|horas|pessoas|anos|dias|antal|aantal|personer|liczba|osoby)`
	unitWords = `(?:percent|per ?cent|pct\.?|per ?mil(?:le?)?|prozent|procent|pourcent|porcentaje|ppmv?|ppbv?|pptv?|psu|dimensionless|unitless|capita|inhabitants|` +
		`deg|deg\.? ?[CFK]|degrees?|celsius|fahrenheit|kelvin|rad|radians|yrs?|hrs?|hr|mins?|secs?|utc|gmt|y{2,4}[-/. ]?m{1,2}[-/. ]?d{1,2}|yyyy|hh:mm(?::ss)?|` +
		`usd|eur|gbp|chf|jpy|cny|inr|aud|cad|nzd|sek|nok|dkk|pln|czk|huf|ron|brl|mxn|clp|cop|zar|rub|uah|krw|try|us ?\$|dollars?|euros?|cents?|` +
		`met(?:er|re)s?|(?:kilo|centi|milli)met(?:er|re)s?|miles?|mph|knots?|kts|kn|ft|feet|inch|inches|yd|yards?|acres?|hectares?|ha|tonnes?|tons?|kilograms?|grams?|kilos?|lbs?|pounds|oz|gal|gallons?|lit(?:er|re)s?|` +
		`barrels?|bbl|btu|mmbtu|watts?|volts?|amps?|kwh?|mwh?|gwh?|twh?|toe|ktoe|mtoe|atm|psi|mmhg|inhg|dba?|dbz|cfu|mpn|ntu|fnu|rpm|bpm|hz|px|pixels?|dpi|bytes?|bits?|[kmgt]i?b|cells|copies|` +
		`co2(?:-?eq?\.?)?|eq|c|n|p|a\.?s\.?l\.?|wt|vol)`
	unitScale  = `(?:10\^?\d+|1[ ,.]?000s?|100|thousands?|millions?|billions?|mill?\.?|mio\.?|mrd\.?|bn|tsd\.?|of|in|per)`
	unitSymbol = `(?:%|‰|°|º|[°º] ?[CFK]|℃|[$€£¥]|(?:da|[pnuµμmcdhkMGT])?(?:g|m|s|A|K|mol|cd|Hz|N|Pa|J|W|C|V|F|Ω|S|T|H|lm|lx|Bq|Gy|Sv|L|l|eV|Wh|Wp|bar|cal|t|B|bit)|d|a|h|M)`
	unitAtom   = `(?:` + unitSymbol + `|(?i:` + unitWords + `|` + plainWords + `|` + unitScale + `))(?:(?:\^|\*\*)?[-−+]?[1-9]|[⁻¹²³]+)?`

	unitPattern = regexp.MustCompile(`^` + unitAtom + `(?:(?: ?[/·*⋅×.] ?| |-)` + unitAtom + `)*$`)
	plainUnit   = regexp.MustCompile(`^(?i:` + plainWords + `)$`)
	bracketed   = regexp.MustCompile(`^(?:\([^()]*[^\d\s(),.][^()]*\)|\[[^\[\]]*[^\d\s\[\],.][^\[\]]*\])$`)
	unitLabel   = regexp.MustCompile(`^[(\[]?(?i:units?|unit of measure|uom|einheit(?:en)?|unités?|unidad(?:es)?|unidades?|unità|eenheid|enhet|enhed|jednostka|jednotka|единица|单位|単位)[)\]]?:?$`)
)

// proofOfUnit returns how much a text proves that its row has units.
func proofOfUnit(text []byte) unitProof {
	content := text
	if bracketed.Match(text) {
		content = bytes.TrimSpace(text[1 : len(text)-1])
	}
	switch n := utf8.RuneCount(text); {
	case n > maxUnit:
		return notUnit
	case !unitPattern.Match(content):
		if len(content) < len(text) {
			return letter
		}
		return notUnit
	case plainUnit.Match(content) && len(content) == len(text):
		return plainWord
	case utf8.RuneCount(content) == 1 && !strings.ContainsAny(string(content), "%‰°º℃$€£¥"):
		return letter
	}
	return provenUnit
}

// hasUnits reports whether a row below names has the units of the columns and cannot be a record:
//
//   - each of its values is below a name, and no two of the names are equal;
//   - its values in columns of numbers and dates are units, and there is at least one;
//   - it has no value of its own in columns of text but the word unit, a unit, or a text beside
//     several different units.
//
// Letters and words that also name columns prove units only if the row lacks the texts that the
// records have.
func (e *evidence) hasUnits(row int) bool {
	if row == 0 || e.Rows[row].Gap || e.filled[row] == 0 || !e.nameUnits(row) {
		return false
	}
	var below []int
	for i := row + 1; i < len(e.Rows) && len(below) < maxBelow; i++ {
		if e.filled[i] > 0 {
			below = append(below, i)
		}
	}
	isLabeled, hasLabel, lacksText := false, false, false
	units, proven := 0, map[string]bool{}
	least := provenUnit
	for c := range e.kinds[row] {
		cell, got := e.Rows[row].cell(c), e.kind(row, c)
		isTyped, dominant, n := e.dominantKind(below, c)
		proof := notUnit
		if got == kind.Text {
			proof = proofOfUnit(cell)
		}
		switch {
		case got == kind.Missing:
			lacksText = lacksText || !isTyped && n == len(below)
		case isTyped && (got == dominant || proof == notUnit):
			return false
		case isTyped:
			if units++; proof == provenUnit {
				proven[string(cell)] = true
			}
			least = min(least, proof)
		case unitLabel.Match(cell):
			hasLabel = true
		case proof == notUnit || proof == plainWord:
			isLabeled = true
		}
	}
	switch {
	case units == 0 || len(below) < minRecords:
		return false
	case hasLabel || lacksText && !isLabeled:
		return true
	case isLabeled:
		return least == provenUnit && len(proven) > 1
	}
	return len(proven) > 0 || least == letter && units > 1
}

// nameUnits reports whether different names are above the values of a row. The row above the names
// may have groups of them, or a name above an empty cell.
func (e *evidence) nameUnits(row int) bool {
	if !e.areNames(row-1, row) {
		return false
	}
	var upper Row
	if row > 1 && !e.Rows[row-1].Gap {
		upper = e.Rows[row-2]
	}
	seen, group := map[string]bool{}, ""
	for c := range e.kinds[row] {
		if text := upper.cell(c); len(text) > 0 {
			group = string(text)
		}
		if e.kind(row, c) == kind.Missing {
			continue
		}
		name := e.Rows[row-1].cell(c)
		if len(name) == 0 {
			name = upper.cell(c)
		}
		key := group + "\n" + string(name)
		if len(name) == 0 && c > 0 || seen[key] {
			return false
		}
		seen[key] = true
	}
	return true
}
