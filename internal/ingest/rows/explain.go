package rows

import (
	"cmp"
	"slices"
	"strconv"

	"herbarium/internal/herb"
)

// Explanation collects the candidates that a format has compared for each decision about a table.
// Formats that declare their columns add none.
type Explanation struct {
	Candidates []Candidate // by decision; of each, the one that is used first, the others by their scores
	// Encodings has the encoding that is used and the best other one, if the text is not UTF-8.
	Encodings []EncodingSample
}

// EncodingSample shows how words of a text look in an encoding.
type EncodingSample struct {
	Encoding string   `json:"encoding"`
	Used     bool     `json:"used"`
	Words    []string `json:"words"` // with characters beyond ASCII, in the order of the text
}

// Candidate is one way to decide.
type Candidate struct {
	Decision Decision     `json:"decision"`
	Text     string       `json:"text"` // such as "line 3 names the columns"
	Used     bool         `json:"used"`
	Settings herb.Reading `json:"settings,omitzero"` // that select it; empty for the one that is used
	Note     string       `json:"note,omitzero"`     // how to select it if no setting does
	Score    float64      `json:"score"`             // sum of the evidence
	Evidence []Term       `json:"evidence"`          // empty: it is used if the others are not
}

// Term is a named summand of a score.
type Term struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

// Decision is a decision about a table.
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

// maxCandidates is the number of candidates that are kept for a decision.
const maxCandidates = 3

// Add adds the candidates for a decision, of which the best are kept.
func (e *Explanation) Add(decision Decision, candidates ...Candidate) {
	for i := range candidates {
		c := &candidates[i]
		c.Decision, c.Score = decision, SumTerms(c.Evidence)
	}
	slices.SortStableFunc(candidates, func(a, b Candidate) int {
		if a.Used != b.Used {
			return map[bool]int{true: -1, false: 1}[a.Used]
		}
		return cmp.Compare(b.Score, a.Score)
	})
	e.Candidates = append(e.Candidates, candidates[:min(len(candidates), maxCandidates)]...)
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
