package filters

import (
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/text"
	"herbarium/internal/web/view/state"
)

// Limits of what is corrected of a listing.
const (
	maxCorrectedFilters = 4
	maxCorrectedWords   = 8 // of a search or a value
)

// Vocabulary is the words and values of a dataset.
type Vocabulary interface {
	// NearestWord returns the word that another one may be a typo of; empty if there is none, or
	// the word exists.
	NearestWord(word string, isPrefix bool) (string, error)
	// ValuesWith returns the most frequent values of a field that contain a text.
	ValuesWith(field int, text string) ([]string, error)
}

// Correct returns a listing without the typos of its search and of its filters by text, and what
// was corrected: the changed parameters only. Both are nil if nothing is misspelled.
func Correct(s *state.State, v Vocabulary) (whole, corrected query.Params, err error) {
	filters := 0
	for _, p := range s.AnyPage() {
		given := p.Value
		if p.Name == query.ParamSearch {
			p.Value, err = correctWords(p.Value, true, v)
		} else if i, op, ok := query.ResolveFilter(p.Name, s.Fields); ok && s.Fields[i].Searchable &&
			filters < maxCorrectedFilters {
			filters++
			p.Value, err = correctValue(i, op, p.Value, v)
		}
		if err != nil {
			return nil, nil, err
		}
		whole = append(whole, p)
		if p.Value != given {
			corrected = append(corrected, p)
		}
	}
	if corrected == nil {
		return nil, nil, nil
	}
	return whole, corrected, nil
}

// correctValue corrects the value of a filter.
func correctValue(field int, op query.Op, value string, v Vocabulary) (string, error) {
	switch op {
	case query.OpMatch:
		return correctWords(value, true, v)
	case query.OpContains, query.OpPrefix:
		return correctWords(value, false, v)
	case query.OpEq, query.OpIEq:
	default:
		return value, nil
	}
	words, err := correctWords(value, false, v)
	if err != nil || strings.TrimSpace(words) == "" {
		return value, err
	}
	values, err := v.ValuesWith(field, words)
	best := 0
	meant := value
	for _, other := range values {
		if other == value {
			return value, err
		}
		if d, ok := text.TypoDistance(value, other); ok && (meant == value || d < best) {
			meant, best = other, d
		}
	}
	return meant, err
}

// correctWords corrects the words of a text, which may be a search with prefixes and excluded
// words. What is correct stays as it is written.
func correctWords(value string, isSearch bool, v Vocabulary) (string, error) {
	chunks := strings.Fields(value)
	isChanged := false
	for i, chunk := range chunks[:min(len(chunks), maxCorrectedWords)] {
		if isSearch && strings.HasPrefix(chunk, "-") {
			continue
		}
		words := text.AppendWords(nil, chunk)
		stem, isPrefix := strings.CutSuffix(chunk, "*")
		isPrefix = isPrefix && isSearch && text.EndsInWord(stem) || !isSearch && i == len(chunks)-1
		if len(words) > maxCorrectedWords {
			continue
		}
		before := slices.Clone(words)
		for k, word := range words {
			nearest, err := v.NearestWord(word, isPrefix && k == len(words)-1)
			if err != nil {
				return value, err
			}
			if nearest != "" {
				words[k] = nearest
			}
		}
		if slices.Equal(words, before) {
			continue
		}
		isChanged = true
		chunks[i] = strings.Join(words, " ")
		if isSearch { // a phrase of several chunks stays one
			if strings.HasPrefix(chunk, `"`) {
				chunks[i] = `"` + chunks[i]
			}
			if strings.HasSuffix(strings.TrimSuffix(chunk, "*"), `"`) {
				chunks[i] += `"`
			}
		}
	}
	if !isChanged {
		return value, nil
	}
	return strings.Join(chunks, " "), nil
}

// Meant is a listing that has rows, which the visitor of one without rows may have meant.
type Meant struct {
	Label string // the corrected words
	Href  string
	Rows  int
}

// NewMeant returns the link to a corrected listing with a number of rows.
func NewMeant(s *state.State, listing, corrected query.Params, rows int) *Meant {
	var words []string
	for _, p := range corrected {
		words = append(words, herb.Clip(p.Value, state.MaxChipText))
	}
	return &Meant{Label: strings.Join(words, ", "), Href: s.Href(listing), Rows: rows}
}
