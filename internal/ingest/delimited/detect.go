package delimited

import (
	"bytes"
	"fmt"
	"regexp"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/table"
	"herbarium/internal/ingest/value"
)

// The sample in which the dialect is detected. It is extended if it has few lines.
const (
	sampleBytes     = 64 << 10
	longSampleBytes = 1 << 20
	sampleRecords   = 200
)

// sample is the part of a text in which the dialect is detected.
type sample struct {
	text    []byte
	all     bool         // it is the rest of the text
	line    int          // of its first byte
	options rows.Options // as given
	tabular bool         // the file name promises delimited text, not text aligned by blanks
}

// Factors of the score of a delimiter, which is the mean number of delimiters in a record, without
// records that are wider than the header.
const (
	proof    = 10    // of tabs that split all records alike, and of delimiters beside decimal commas
	inValues = 0.25  // of a delimiter that occurs in values, too: some records are wider than the header
	blanks   = 0.2   // of runs of blanks, which are often part of values
	mixed    = 0.5   // of runs of blanks and tabs
	contrary = 0.001 // of a delimiter that contradicts the records, but is better than none: reading reports these
)

// detect returns the reading with the highest score: in each of the usual delimiters, or of runs of
// blanks. Without a delimiter that splits the lines, each line is one value.
func (s sample) detect(d dialect) (best reading) {
	if d.separates() {
		return s.read(d)
	}
	var tried []reading
	for _, delimiter := range []byte(",;\t| ") {
		d.Delimiter, d.blanks = delimiter, delimiter == ' '
		r := s.read(d)
		r.terms = s.delimiterTerms(r)
		if len(tried) == 0 || rows.SumTerms(r.terms) > rows.SumTerms(best.terms) {
			best = r
		}
		tried = append(tried, r)
	}
	if rows.SumTerms(best.terms) == 0 && len(best.records) > 0 {
		d.Delimiter, d.blanks = 0, false
		best = s.read(d)
	}
	if s.options.Explain != nil {
		best.tried = tried
	}
	return best
}

// delimiterTerms returns the evidence that the delimiter of a reading separates its values. The sum
// is 0 if it cannot.
func (s sample) delimiterTerms(r reading) (terms []rows.Term) {
	if r.header < 2 && !s.mayContradict(r) {
		return nil
	}
	score := float64(r.header - 1)
	name := "delimiters in the header, without records"
	if r.total > 0 {
		score = float64(r.delimiters) / float64(r.total)
		name = fmt.Sprintf("delimiters in a record, on average; %d of %s fit the header", r.fitting,
			herb.Plural(r.total, "record", "records"))
	}
	add := func(name string, value float64) {
		terms = append(terms, rows.Term{Name: name, Value: value})
	}
	multiply := func(factor float64, name string) {
		add(name, score*(factor-1)+0) // not -0
		score *= factor
	}
	add(name, score)
	switch {
	case r.dialect.blanks && (r.broken || r.fitting < r.total || !s.isAligned(r)):
		multiply(0, "blanks do not separate columns of which one has numbers only")
	case r.dialect.blanks && s.tabular:
		multiply(contrary, "blanks in a file whose name promises another delimiter")
	case r.dialect.blanks && bytes.IndexByte(s.text, '\t') >= 0 && bytes.Contains(s.text, []byte("  ")):
		multiply(mixed, "blanks are often part of values")
	case r.dialect.blanks:
		multiply(blanks, "blanks are often part of values")
	case (score == 0 || r.exceeds && 2*r.fitting < r.total) && s.mayContradict(r):
		add("few records fit the header, but no other delimiter separates them", contrary-score)
	case r.exceeds && 2*r.fitting < r.total:
		multiply(0, "most records have another number of values than the header")
	case r.broken:
		multiply(contrary, "a quote is not closed")
	case r.exceeds:
		multiply(inValues, "some records have more values than the header")
	case r.fitting < r.total:
	case r.dialect.Delimiter == '\t' && r.header > 2:
		multiply(proof, "tabs are hardly ever part of values")
	case r.dialect.Delimiter != ',' && r.hasDecimalCommas():
		multiply(proof, "the values have decimal commas")
	}
	return terms
}

// mayContradict reports whether a delimiter is more likely than none although most records do not
// fit the header: all records have the same number of values, quotes enclose the delimiter, or the
// name of the file promises a table, and its header has at least three names.
func (s sample) mayContradict(r reading) bool {
	if r.total == 0 || r.dialect.blanks || s.isProse(r.dialect) || r.dialect.Delimiter == '|' && !r.protects {
		return false
	}
	isEven := r.even && len(r.records[r.found.First+1].Cells) > 1
	return isEven || r.header > 1 && !r.broken && (r.protects || s.tabular && r.header > 2)
}

// decimalComma matches a number with a decimal comma.
var decimalComma = regexp.MustCompile(`^ *[-+]?\d*,\d+ *$`)

// hasDecimalCommas reports whether every comma in the values belongs to a number.
func (r reading) hasDecimalCommas() bool {
	found := false
	for _, record := range r.records {
		for _, c := range record.Cells {
			if bytes.IndexByte(c, ',') < 0 {
				continue
			}
			found = true
			if !decimalComma.Match(c) {
				return false
			}
		}
	}
	return found
}

// isAligned reports whether all records of a reading with blanks have the same number of values and
// either all names are in quotes, as R writes them, or some column has numbers or dates only.
// Single blanks in a file that promises delimited text may be part of values.
func (s sample) isAligned(r reading) bool {
	if r.total < 2 || !r.even {
		return false
	}
	if r.quotedHeader {
		return true
	}
	others := r.records[r.found.First+1:]
	if s.tabular && !bytes.Contains(s.text, []byte("  ")) {
		return s.areNumbers(others)
	}
	for i := range others[0].Cells {
		if k, n := table.ColumnKind(others, i); n > 0 && k != value.Text && (i > 0 || !r.rowNames) {
			return true
		}
	}
	return false
}

// areNumbers reports whether records that were split at blanks are nothing but numbers: several of
// them rather than one with blanks between thousands or between the parts of a phone number.
func (s sample) areNumbers(records []table.Row) bool {
	thousands := true
	for _, r := range records {
		for i, c := range r.Cells {
			if value.KindOf(c) != value.Number {
				return false
			}
			digits, _, _ := bytes.Cut(c, []byte("."))
			thousands = thousands && (i == 0 || len(digits) == 3)
		}
	}
	return !thousands && (len(records[0].Cells) > 2 || bytes.IndexByte(s.text, '.') >= 0)
}

// isProse reports whether the delimiter is a comma that a blank always follows, as in sentences and
// addresses.
func (s sample) isProse(d dialect) bool {
	return d.Delimiter == ',' && bytes.Count(s.text, []byte(",")) == bytes.Count(s.text, []byte(", "))
}
