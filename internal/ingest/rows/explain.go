package rows

import (
	"cmp"
	"slices"
	"strconv"

	"herbarium/internal/herb"
)

// Explanation collects the readings of a table that a format has compared: which delimiter, which
// header, whether the last rows are footnotes, and what the records of a document are. Formats that
// declare their columns add none.
type Explanation struct {
	Readings []ScoredReading // the one that is used first, the others by their scores
	// Encodings has the encoding that is used and the best other one, if the text is not UTF-8.
	Encodings []EncodingSample
}

// EncodingSample shows how words of a text look in an encoding.
type EncodingSample struct {
	Encoding string   `json:"encoding"`
	Used     bool     `json:"used"`
	Words    []string `json:"words"` // with characters beyond ASCII, in the order of the text
}

// ScoredReading is one way to read a table.
type ScoredReading struct {
	Text     string       `json:"text"`              // such as "comma, line 3 names the columns"
	Settings herb.Reading `json:"settings,omitzero"` // that select it; empty for the one that is used
	Note     string       `json:"note,omitzero"`     // how to select it if no setting does
	Used     bool         `json:"used"`
	Score    float64      `json:"score"` // sum of the terms
	Terms    []Term       `json:"terms"`
}

// Term is a named summand of a score.
type Term struct {
	Decision Decision `json:"part"`
	Name     string   `json:"name"`
	Value    float64  `json:"value"`
}

// Decision is the decision that a term is about.
type Decision string

// The decisions about a table.
const (
	DecisionDelimiter Decision = "delimiter"
	DecisionHeader    Decision = "header"
	DecisionFootnotes Decision = "footnotes"
)

// SumTerms returns the score of terms.
func SumTerms(terms []Term) (sum float64) {
	for _, t := range terms {
		sum += t.Value
	}
	return sum
}

// Add adds a reading. It keeps the readings sorted.
func (e *Explanation) Add(r ScoredReading) {
	r.Score = SumTerms(r.Terms)
	isAfter := func(other ScoredReading) bool {
		return r.Used && !other.Used || r.Used == other.Used && other.Score < r.Score
	}
	i := slices.IndexFunc(e.Readings, isAfter)
	if i < 0 {
		i = len(e.Readings)
	}
	e.Readings = slices.Insert(e.Readings, i, r)
}

// DelimiterName names a delimiter for a message.
func DelimiterName(delimiter byte) string {
	named := map[byte]string{',': "comma", ';': "semicolon", '\t': "tab"}
	return cmp.Or(named[delimiter], strconv.Quote(string(rune(delimiter))))
}

// DelimiterFlag returns a delimiter as settings have it.
func DelimiterFlag(delimiter byte) string {
	if delimiter == '\t' {
		return "tab"
	}
	return string(rune(delimiter))
}
