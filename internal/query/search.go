package query

import (
	"slices"
	"strings"
	"unicode"

	"herbarium/internal/text"
)

// Search is a full-text query. A search without clauses contained no words and matches nothing.
type Search struct {
	Clauses []Clause // sorted, without duplicates
}

// Clause is a word or phrase that a record must contain, or must not contain.
type Clause struct {
	Words   []string // folded; several words are a phrase: adjacent words of one field
	Prefix  bool     // the last word is a prefix
	Exclude bool
	// Forms are the other forms of the only word, which are searched as well; see text.Forms. Those
	// that occur in no record make no difference.
	Forms []string
	Exact bool // the only word has other forms, which are not searched
}

// String returns the clause in query syntax.
func (c Clause) String() string {
	s := strings.Join(c.Words, " ")
	if len(c.Words) > 1 || c.Prefix || c.Exact {
		s = `"` + s + `"`
	}
	if c.Prefix {
		s += "*"
	}
	if c.Exclude {
		s = "-" + s
	}
	return s
}

// String returns the search in canonical form. A search without words is "-".
func (s *Search) String() string {
	if len(s.Clauses) == 0 {
		return "-"
	}
	parts := make([]string, len(s.Clauses))
	for i, c := range s.Clauses {
		parts[i] = c.String()
	}
	return strings.Join(parts, " ")
}

// parseSearch parses a full-text query, and returns the number of its words. It returns nil for a
// blank query. If exact is true, no other forms of words are searched.
//
// The query is split at white space into chunks; each chunk is one clause. A quotation mark at the
// start of a chunk begins a phrase that ends at the next quotation mark. Anything else is
// punctuation that separates words. A chunk of one word, without quotation marks, has other forms.
func parseSearch(s string, exact bool) (search *Search, words int) {
	if strings.ContainsAny(s, "“”„«»") {
		s = strings.NewReplacer("“", `"`, "”", `"`, "„", `"`, "«", `"`, "»", `"`).Replace(s)
	}
	if strings.TrimSpace(s) == "" {
		return nil, 0
	}
	search = &Search{}
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimSpace(s) {
		var c Clause
		c, s = cutClause(s, exact)
		words += len(c.Words)
		if len(c.Words) > 0 {
			search.Clauses = append(search.Clauses, c)
		}
	}
	slices.SortFunc(search.Clauses, func(a, b Clause) int { return strings.Compare(a.String(), b.String()) })
	search.Clauses = slices.CompactFunc(search.Clauses, func(a, b Clause) bool { return a.String() == b.String() })
	return search, words
}

// cutClause parses one clause at the start of s, which must not begin with white space, and returns
// the rest.
func cutClause(s string, exact bool) (c Clause, rest string) {
	s, c.Exclude = strings.CutPrefix(s, "-")
	if quoted, ok := strings.CutPrefix(s, `"`); ok {
		if phrase, after, ok := strings.Cut(quoted, `"`); ok {
			c.Words = text.AppendWords(nil, phrase)
			after, c.Prefix = strings.CutPrefix(after, "*")
			c.inflect(true)
			return c, after
		}
	}
	chunk := s
	if i := strings.IndexFunc(s, unicode.IsSpace); i >= 0 {
		chunk, rest = s[:i], s[i:]
	}
	c.Words = text.AppendWords(nil, chunk)
	if stem, ok := strings.CutSuffix(chunk, "*"); ok {
		c.Prefix = text.EndsInWord(stem) // as in "ros*" and "foo_*" but not in "rose-*"
	}
	c.inflect(exact)
	return c, rest
}

// inflect adds the forms of the clause, or if exact is true, records that it has some.
func (c *Clause) inflect(exact bool) {
	if len(c.Words) != 1 || c.Prefix || c.Exclude {
		return
	}
	c.Forms = text.Forms(c.Words[0])
	if exact {
		c.Exact, c.Forms = len(c.Forms) > 0, nil
	}
}
