package distributions

import (
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

// Misfits leads to the rows whose values keep a column from having a type.
type Misfits struct {
	Label    string // such as "3 not numbers"
	Evidence string // such as "4,806 of 4,812 are numbers; others are on request (2)"
	Href     string
}

// setReported draws what the publish report has of a text column, over all rows: the distribution
// of the values of a type that nearly all of them have, the most frequent words of long texts, or
// the lengths of texts. It returns false if the values are counted instead.
func (c *Distribution) setReported(s *state.State, note string) bool {
	r := s.Dataset.Meanings[c.Index].Report
	switch {
	case r == nil || s.Fields[c.Index].Type != herb.TypeText:
		return false
	case r.Near != nil && len(r.Near.Histogram) > 1:
		c.setNear(s, r.Near)
	case note == "":
		return false
	case len(r.Words) > 0 && r.Longest > columns.LongText:
		c.Kind, c.Words = "words", words(s, c.Index, r)
		c.Left, c.Right = note, Characters(r.Shortest, r.Longest)
	case len(r.Lengths) > 1 && s.Dataset.Meanings[c.Index].Kind == columns.KindText && !format.IsWebAddress(r.Min):
		c.Left, c.Right = note, Characters(r.Shortest, r.Longest)
		var labels []string
		for _, l := range r.Lengths {
			c.Histogram, labels = append(c.Histogram, query.Bucket{Count: l.Count}), append(labels, Characters(l.From, l.To))
		}
		c.setFixed(labels)
	default:
		return false
	}
	c.setTotals(s.Dataset)
	return true
}

// setNear draws the distribution of the values of a type that nearly all values have.
func (c *Distribution) setNear(s *state.State, near *herb.NearType) {
	column := columns.NewColumn(s.Dataset, c.Index)
	column.Type, column.Notation = near.Type, near.Notation
	c.Scale = query.Scale(near.Scale)
	var labels []string
	for _, b := range near.Histogram {
		c.Histogram = append(c.Histogram, query.Bucket(b))
		labels = append(labels, columns.FormatOperand(&column, b.From)+" – "+columns.FormatOperand(&column, b.To))
	}
	c.setFixed(labels)
	c.Left, c.Right = rangeLabels(&column, c.Histogram)
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
		if word.Active = s.Listing.Get(match.Name) == w.Value; !word.Active {
			ps = ps.With(match)
		}
		word.Href = s.Href(ps)
		words = append(words, word)
	}
	return words
}

// NewMisfits returns the rows that keep a column from having a type; nil if there are none, or too
// many.
func NewMisfits(s *state.State, field int) *Misfits {
	r := s.Dataset.Meanings[field].Report
	if r == nil || r.Near == nil || s.Fields[field].Type != herb.TypeText {
		return nil
	}
	near, nouns := r.Near, string(r.Near.Type)+"s"
	const maxNamed = 3
	count := near.OtherCount()
	m := &Misfits{
		Label:    herb.Count(count) + " not " + nouns,
		Evidence: "text: " + herb.Count(near.Values) + " of " + herb.Count(near.Values+count) + " are " + nouns,
	}
	if count == 1 {
		m.Label = "1 not a " + string(near.Type)
	}
	for i, o := range near.Others[:min(len(near.Others), maxNamed)] {
		separator := ", "
		if i == 0 {
			separator = "; not " + nouns + ": "
		}
		m.Evidence += separator + "“" + herb.Clip(format.PlainText(o.Value), maxBound) + "” (" + herb.Count(o.Count) + ")"
	}
	if more := len(near.Others) - maxNamed; more > 0 {
		m.Evidence += " and " + herb.Plural(more, "other value", "other values")
	}
	if s.Fields[field].Filterable {
		ps := s.WithoutFilters(field)
		for _, o := range near.Others {
			ps = ps.With(s.EqFilter(field, o.Value))
		}
		m.Href = s.Href(ps)
	}
	return m
}
