package query

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// Search is a full-text query. One without clauses finds nothing: there was no word in it.
type Search struct {
	Clauses []Clause // sorted, no two alike
}

// Clause is one thing that a record must contain, or must not.
type Clause struct {
	Words   []string // folded; several must stand next to each other in one field
	Prefix  bool     // the last word may go on
	Exclude bool
}

// String returns the clause as it would be written in a query.
func (c Clause) String() string {
	s := strings.Join(c.Words, " ")
	if len(c.Words) > 1 || c.Prefix {
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

// String returns the search in canonical form. A search without a word is written as a mark that is none.
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

// parseSearch reads a full-text query. Nothing in it is an error but too many words; blank is no search.
//
// The query is cut at blanks into chunks, and one chunk is one clause. A quotation mark at the start of a chunk begins a
// phrase that runs to the next one. What cannot be read that way is punctuation and separates words.
func parseSearch(s string) (*Search, error) {
	s = strings.NewReplacer("“", `"`, "”", `"`, "„", `"`, "«", `"`, "»", `"`).Replace(s)
	search, words := &Search{}, 0
	blank := true
	for {
		s = strings.TrimLeftFunc(s, unicode.IsSpace)
		if s == "" {
			break
		}
		blank = false
		var c Clause
		c, s = cutClause(s)
		if words += len(c.Words); words > MaxSearchWords {
			return nil, herb.Invalidf("the search has more than %d words; give at most %d", MaxSearchWords, MaxSearchWords)
		}
		if len(c.Words) > 0 {
			search.Clauses = append(search.Clauses, c)
		}
	}
	if blank {
		return nil, nil
	}
	slices.SortFunc(search.Clauses, func(a, b Clause) int { return strings.Compare(a.String(), b.String()) })
	search.Clauses = slices.CompactFunc(search.Clauses, func(a, b Clause) bool { return a.String() == b.String() })
	return search, nil
}

// cutClause reads one clause from the beginning of s, which is not blank, and returns what is left.
func cutClause(s string) (c Clause, rest string) {
	s, c.Exclude = strings.CutPrefix(s, "-")
	if quoted, ok := strings.CutPrefix(s, `"`); ok {
		if phrase, after, ok := strings.Cut(quoted, `"`); ok {
			c.Words = text.AppendWords(nil, phrase)
			after, c.Prefix = strings.CutPrefix(after, "*")
			return c, after
		}
	}
	chunk := s
	if i := strings.IndexFunc(s, unicode.IsSpace); i >= 0 {
		chunk, rest = s[:i], s[i:]
	}
	c.Words = text.AppendWords(nil, chunk)
	if stem, ok := strings.CutSuffix(chunk, "*"); ok {
		c.Prefix = endsInWord(stem)
	}
	return c, rest
}

// endsInWord reports whether a star behind s stands directly behind a word, as in "ros*" but not in "rose-*".
func endsInWord(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(s)
	return len(text.AppendWords(nil, string(r))) > 0 || unicode.IsMark(r)
}
