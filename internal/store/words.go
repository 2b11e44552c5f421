package store

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"unicode"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// SearchWords are the words and keywords by which a dataset is found in the catalogue, each after a
// line feed. A keyword begins with keywordMark, which is in no word. The first line names the text
// rules of the words, unless they are the first ones.
type SearchWords string

const (
	keywordMark = "#"
	rulesMark   = "%"
	firstRules  = "1"
)

// rulesLine returns the first line of words by the text rules of this program.
func rulesLine() string {
	if number, _, _ := strings.Cut(text.Rules(), ","); number != firstRules {
		return "\n" + rulesMark + number
	}
	return ""
}

// isCurrent reports whether the words follow the text rules of this program.
func (w SearchWords) isCurrent() bool {
	line, hasRules := rulesLine(), strings.HasPrefix(string(w), "\n"+rulesMark)
	return hasRules == (line != "") && strings.HasPrefix(string(w), line+"\n")
}

// NewSearchWords returns the words of a dataset: those of its names, its title, its description,
// its keywords and its fields. The keywords of a dataset that requires a key are not public.
func NewSearchWords(d herb.Dataset) SearchWords {
	texts := []string{d.Namespace, d.Name, d.Title, d.Description}
	var keywords []string
	if (herb.Principal{}).See(d).Values && d.Descriptor != nil {
		keywords = d.Descriptor.Keywords
		texts = append(texts, keywords...)
	}
	for _, f := range d.Fields {
		texts = append(texts, f.Name, f.Title)
	}
	var words []string
	for _, k := range keywords {
		words = append(words, keywordMark+oneLine(k))
	}
	for _, s := range texts {
		words = text.AppendWords(words, s)
	}
	slices.Sort(words)
	return SearchWords(rulesLine() + "\n" + strings.Join(slices.Compact(words), "\n") + "\n")
}

// oneLine replaces control characters: they would end a line, or are not allowed in a database.
func oneLine(keyword string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, keyword)
}

// SearchFilter selects datasets by their words.
type SearchFilter struct {
	lines   []string // prefixes of lines that the words must contain
	keyword string   // line that they must contain; empty if none
}

// NewSearchFilter returns a filter for datasets that have a word with each word of the search as
// its prefix and, unless it is empty, the keyword.
func NewSearchFilter(search, keyword string) SearchFilter {
	var f SearchFilter
	for _, word := range text.AppendWords(text.AppendWords(nil, search), keyword) {
		f.lines = append(f.lines, "\n"+word)
	}
	if keyword != "" {
		f.keyword = "\n" + keywordMark + oneLine(keyword) + "\n"
	}
	return f
}

// Match reports whether words match.
func (f SearchFilter) Match(w SearchWords) bool {
	for _, line := range f.lines {
		if !strings.Contains(string(w), line) {
			return false
		}
	}
	return strings.Contains(string(w), f.keyword)
}

// VersionWords are the words of a version.
type VersionWords struct {
	herb.Ref
	Version string
	Words   SearchWords
}

// Words returns the words of the live versions that changed after a generation, or of all if it is
// negative. It omits versions whose words are not stored, or follow the text rules of another
// release.
func (s Tables) Words(ctx context.Context, since int64) ([]VersionWords, error) {
	query, args := "SELECT namespace, name, version, words FROM live_versions JOIN version_words USING (namespace, "+
		"name, version)", []any(nil)
	if since >= 0 {
		query, args = query+" WHERE generation > ?", []any{since}
	}
	all, err := readRows(ctx, s, "reading words of the catalogue", func(rows *sql.Rows) (v VersionWords, err error) {
		err = rows.Scan(&v.Namespace, &v.Name, &v.Version, &v.Words)
		return v, err
	}, query, args...)
	return slices.DeleteFunc(all, func(v VersionWords) bool { return !v.Words.isCurrent() }), err
}
