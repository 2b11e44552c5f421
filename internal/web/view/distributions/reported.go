package distributions

import (
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/web/view/columns"
	"herbarium/internal/web/view/format"
	"herbarium/internal/web/view/state"
)

// TopWord is one of the most frequent words of a column of long texts.
type TopWord struct {
	Text, Label string
	Href        string // filters by the word, or removes that filter
	Active      bool
}

// Exceptions leads to the rows whose values are not of the type of their column.
type Exceptions struct {
	Label string // such as "3 not numbers"
	Named string // such as "on request (2), sold out (1)"
	Href  string
}

// setReported draws what the publish report has of a text column, over all rows: the most frequent
// words of long texts, or the lengths of texts. It returns false if the values are counted instead.
func (c *Distribution) setReported(s *state.State, note string) bool {
	r := s.Dataset.Meanings[c.Index].Report
	switch {
	case r == nil || s.Fields[c.Index].Type != herb.TypeText || note == "":
		return false
	case len(r.Words) > 0 && r.Longest > columns.LongText:
		c.Kind, c.Words = "words", words(s, c.Index, r)
		c.Left, c.Right = note, Characters(r.Shortest, r.Longest)
	case len(r.Lengths) > 1 && s.Dataset.Meanings[c.Index].Kind == columns.KindText && !format.IsWebAddress(r.Min):
		c.Left, c.Right = note, Characters(r.Shortest, r.Longest)
		var labels []string
		for _, l := range r.Lengths {
			c.Histogram, labels = append(c.Histogram, query.Bucket{Count: l.Count}),
				append(labels, Characters(l.From, l.To))
		}
		c.setFixed(labels)
	default:
		return false
	}
	c.setTotals(s.Dataset)
	return true
}

// setFixed draws the histogram, whose bars do not filter.
func (c *Distribution) setFixed(labels []string) {
	c.Kind, c.Bars = "fixed", newBars(c.Histogram)
	for k := range c.Bars {
		c.Bars[k].Label = labels[k] + ": " + herb.Plural(c.Bars[k].Count, "row", "rows")
	}
}

// Characters formats a range of lengths.
func Characters(shortest, longest int) string {
	if shortest == longest {
		return herb.Plural(longest, "character", "characters")
	}
	return herb.Count(shortest) + "–" + herb.Count(longest) + " characters"
}

// words returns the most frequent words of a column with the links that filter by them.
func words(s *state.State, field int, r *herb.ColumnReport) (words []TopWord) {
	f := s.Fields[field]
	if !f.Searchable || !f.Filterable {
		return nil
	}
	for _, w := range r.Words {
		word := TopWord{Text: w.Value, Label: w.Value + ": " + herb.Plural(w.Count, "row", "rows")}
		match := query.Param{Name: query.FilterParam(f.Name, query.OpMatch), Value: w.Value}
		ps := s.WithoutFilters(field, query.OpMatch)
		word.Active = s.Listing.Get(match.Name) == w.Value
		if !word.Active {
			ps = ps.With(match)
		}
		word.Href = s.Href(ps)
		words = append(words, word)
	}
	return words
}

// NewExceptions returns the rows whose values are not of the type of their column; nil if there are
// none.
func NewExceptions(s *state.State, field int) *Exceptions {
	r := s.Dataset.Meanings[field].Report
	if r == nil || len(r.Exceptions) == 0 {
		return nil
	}
	const maxNamed = 3
	count, named := 0, []string{}
	for i, e := range r.Exceptions {
		count += e.Count
		if i < maxNamed {
			named = append(named, herb.Clip(format.PlainText(e.Value), maxBound)+" ("+herb.Count(e.Count)+")")
		}
	}
	if more := len(r.Exceptions) - maxNamed; more > 0 {
		named = append(named, herb.Plural(more, "other value", "other values"))
	}
	noun := string(s.Fields[field].Type)
	x := &Exceptions{Label: herb.Plural(count, "not a "+noun, "not "+noun+"s"), Named: strings.Join(named, ", ")}
	if s.Fields[field].Filterable {
		ps := s.WithoutFilters(field)
		for _, e := range r.Exceptions {
			ps = ps.With(s.EqFilter(field, e.Value))
		}
		x.Href = s.Href(ps)
	}
	return x
}
