// Package citation writes the citation of a version of a dataset in the notations that authors
// need.
package citation

import (
	"cmp"
	"strings"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/web/view/format"
)

// Source is what is cited. Texts come from publishers and may be hostile, long or empty.
type Source struct {
	Ref       herb.Ref
	Title     string
	Authors   []string  // empty: the publisher, or else the namespace
	Publisher string    // empty: unknown
	Version   string    // the version or its label; empty: rows are added one by one
	Published time.Time // zero: unknown
	Hash      string    // content hash; empty: unknown
	URL       string    // permalink to the version
}

// PlainText is the name of the notation that is plain text.
const PlainText = "Text"

// Citation is a citation in one notation.
type Citation struct{ Name, Text string }

// All returns the citations of a source: BibTeX and plain text.
func All(s Source) []Citation {
	s = s.cleaned()
	return []Citation{{"BibTeX", bibTeX(s)}, {PlainText, plain(s)}}
}

// Limits of the texts of a citation, in characters, and of its authors.
const (
	maxTitle   = 300
	maxName    = 120
	maxVersion = 80
	maxAuthors = 100
)

// cleaned returns a source whose texts have one line and a bounded length, and which has at least
// one author.
func (s Source) cleaned() Source {
	s.Title = cmp.Or(clean(s.Title, maxTitle), s.Ref.Name)
	s.Publisher, s.Version, s.Hash = clean(s.Publisher, maxName), clean(s.Version, maxVersion), clean(s.Hash, maxName)
	var authors []string
	for _, a := range s.Authors[:min(len(s.Authors), maxAuthors)] {
		a = clean(a, maxName)
		if a != "" {
			authors = append(authors, a)
		}
	}
	if authors == nil {
		authors = []string{cmp.Or(s.Publisher, s.Ref.Namespace)}
	}
	s.Authors = authors
	return s
}

// clean returns a text on one line, without control characters, with at most as many characters as
// the limit. Most of a text that is much longer is not read.
func clean(text string, limit int) string {
	const blanks = 4 // characters per character that remains
	text = strings.ToValidUTF8(strings.TrimSpace(text), "\uFFFD")
	return herb.Clip(format.PlainText(herb.Clip(text, blanks*limit)), limit)
}

// distinctPublisher returns the publisher unless it is the only author.
func (s Source) distinctPublisher() string {
	if len(s.Authors) == 1 && s.Authors[0] == s.Publisher {
		return ""
	}
	return s.Publisher
}

// details returns the version and the content hash in words.
func (s Source) details() string {
	var parts []string
	if s.Version != "" {
		parts = append(parts, "Version "+s.Version)
	}
	if s.Hash != "" {
		parts = append(parts, "content hash "+s.Hash)
	}
	return strings.Join(parts, ", ")
}

// plain returns the citation as text.
func plain(s Source) string {
	const most = 3
	names := strings.Join(s.Authors[:min(len(s.Authors), most)], ", ")
	if len(s.Authors) > most {
		names += " et al."
	}
	text := names + ": " + sentence(s.Title)
	if p := s.distinctPublisher(); p != "" {
		text += " " + sentence(p)
	}
	if !s.Published.IsZero() {
		text += " " + s.Published.UTC().Format("2 January 2006") + "."
	}
	if details := s.details(); details != "" {
		text += " " + sentence(strings.ToUpper(details[:1])+details[1:])
	}
	return text + " " + s.URL
}

// sentence ends a text with a full stop unless it ends with a mark.
func sentence(text string) string {
	if strings.HasSuffix(text, ".") || strings.HasSuffix(text, "?") || strings.HasSuffix(text, "!") ||
		strings.HasSuffix(text, "…") {
		return text
	}
	return text + "."
}
