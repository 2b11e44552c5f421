package query

import (
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// ParamWords with the value WordsExact makes a search find words only as they are written, without
// their other forms.
const (
	ParamWords = "_words"
	WordsExact = "exact"
)

// Words are the words of a request of which other forms are searched as well: by word, the word and
// its forms that occur in the dataset.
type Words map[string][]string

// Words returns the words of the request that have other forms for which occurs returns true. It is
// nil if there are none. More than MaxSearchWords words, including these forms, are an error.
func (r *Request) Words(occurs func(word string) bool) (found Words, err error) {
	count := r.words
	for _, c := range r.clauses() {
		if c.Forms == nil {
			continue
		}
		word := c.Words[0]
		words, known := found[word]
		if !known {
			words = append(words, word)
			for _, form := range c.Forms {
				if occurs(form) {
					words = append(words, form)
				}
			}
		}
		if len(words) == 1 {
			continue
		}
		if found == nil {
			found = Words{}
		}
		found[word] = words
		count += len(words) - 1
	}
	if count > MaxSearchWords {
		return nil, herb.Invalidf("the search has %d words, including those of [match], and %d other forms of them; at "+
			"most %d are searched; write words in quotation marks or add %s=%s to find them only as they are written",
			r.words, count-r.words, MaxSearchWords, ParamWords, WordsExact)
	}
	return found, nil
}

// MayExceedWords reports whether Words may return an error.
func (r *Request) MayExceedWords() bool {
	count := r.words
	for _, c := range r.clauses() {
		count += len(c.Forms)
	}
	return count > MaxSearchWords
}

// formsKey returns the part of ResultKey about other forms; empty if no clause has some.
func formsKey(clauses []Clause) string {
	if !slices.ContainsFunc(clauses, func(c Clause) bool { return c.Forms != nil }) {
		return ""
	}
	return " forms " + text.FormRules
}

// FormsKey is the part of Request.ResultKey about other forms, without the fields of a dataset.
func (s String) FormsKey() string {
	exact, key := s.Get(ParamWords) == WordsExact, ""
	for _, p := range s.params {
		name, value := p.Name, p.Value
		if name == ParamFilter {
			name, value, _ = strings.Cut(value, "=")
		}
		if _, op := splitOperator(name); name != ParamSearch && op != OpMatch {
			continue
		}
		if search, _ := parseSearch(value, exact); search != nil && key == "" {
			key = formsKey(search.Clauses)
		}
	}
	return key
}

// clauses returns the clauses of the search and of OpMatch.
func (r *Request) clauses() (all []Clause) {
	if r.Search != nil {
		all = r.Search.Clauses
	}
	for _, c := range r.Conditions {
		if c.Op == OpMatch {
			for _, o := range c.Values {
				all = slices.Concat(all, o.Search.Clauses)
			}
		}
	}
	return all
}
