package charts

import (
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/web/view/columns"
	"herbarium/internal/web/view/format"
	"herbarium/internal/web/view/plot"
	"herbarium/internal/web/view/state"
)

// FirstQuestion returns what the chart of a dataset shows without a question: on its page, in
// previews and on the front page. It is the first chart in the descriptor, else the best one that
// the columns suggest, else the number of rows.
func FirstQuestion(d *columns.Dataset) query.Params {
	switch pinned := pinnedQuestions(d); {
	case len(pinned) > 0:
		return pinned[0].params()
	case len(d.Charts) > 0:
		return questionOf(d, d.Charts[0])
	}
	return query.Params{{Name: query.ParamMeasure, Value: string(query.MeasureCount)}}
}

// pinnedQuestions returns the questions in the descriptor of a dataset that are valid: fields may
// have changed since it was published.
func pinnedQuestions(d *columns.Dataset) (all []*Question) {
	for _, ps := range d.Pinned {
		if q, err := parseQuestion(&state.State{Dataset: d, Fields: d.Fields}, ps); err == nil {
			all = append(all, q)
		}
	}
	return all
}

// questionOf returns a chart that columns suggest as a question: the mean of a number, or the
// number of rows. Means by time are lines; numbers of rows by two columns are a heat map.
func questionOf(d *columns.Dataset, c columns.Chart) (ps query.Params) {
	for _, i := range c.By {
		ps = ps.WithValue(query.ParamBy, byOf(d, i).Name)
	}
	switch {
	case c.Measure < 0 && len(c.By) > 1:
		return ps.WithValue(state.ParamKind, string(plot.Heat))
	case c.Measure >= 0:
		ps = ps.WithValue(query.ParamMeasure, string(query.MeasureMean)+":"+d.Fields[c.Measure].Name)
	}
	if d.Meanings[c.By[0]].IsYear {
		ps = ps.WithValue(state.ParamKind, string(plot.Lines))
	}
	return ps
}

// FirstLabel says in a few words what the first chart of a dataset shows, with the ends of its
// axis. It is empty if nothing is known of the columns.
func FirstLabel(d *columns.Dataset) string {
	if pinned := pinnedQuestions(d); len(pinned) > 0 {
		const longest = 60
		return herb.Clip(titleOf(pinned[0].sentence(Aggregates{}), "kind", "top", "series"), longest)
	}
	if len(d.Charts) == 0 || d.Report == nil {
		return ""
	}
	c := d.Charts[0]
	heading := func(i int) string { return herb.Clip(format.PlainText(columns.Heading(d.Fields[i])), 24) }
	axis := c.By[0]
	ends := axisEnds(d, axis)
	label := heading(axis)
	switch {
	case c.Measure >= 0 && len(c.By) > 1:
		label = heading(c.Measure) + " by " + heading(c.By[1])
	case c.Measure >= 0 && ends != "":
		label = heading(c.Measure)
	case c.Measure >= 0:
		label = heading(c.Measure) + " by " + label
	}
	return strings.TrimSpace(label + " " + ends)
}

// axisEnds returns the least and the greatest value of an axis; of dates, the years.
func axisEnds(d *columns.Dataset, i int) string {
	f, c := &d.Fields[i], d.Meanings[i].Report
	if !query.HasRange(f.Type) || c == nil || c.Min == "" || c.Max == "" {
		return ""
	}
	column := columns.NewColumn(d, i)
	from, to := columns.ShortOperand(&column, c.Min), columns.ShortOperand(&column, c.Max)
	const year = 4 // digits
	if isDate := f.Type == herb.TypeDate || f.Type == herb.TypeDateTime; isDate && len(from) > year && len(to) > year &&
		from[:year] != to[:year] {
		from, to = from[:year], to[:year]
	}
	return from + " – " + to
}

// Suggestion is a small chart of the rows of a listing that leads to a question about them.
type Suggestion struct {
	state.Link
	Image string // address
}

// NewSuggestions returns charts that the dataset suggests. image is the path of their images.
func NewSuggestions(s *state.State, image, version string) (out []Suggestion) {
	questions := pinnedQuestions(s.Dataset)
	for _, c := range s.Dataset.Charts {
		q, err := parseQuestion(s, questionOf(s.Dataset, c))
		isPinned := func(p *Question) bool { return p.params().Encode() == q.params().Encode() }
		if err == nil && !slices.ContainsFunc(questions, isPinned) { // err: no query can have the name
			questions = append(questions, q)
		}
	}
	for _, q := range questions[:min(len(questions), columns.MaxCharts)] {
		small := s.Selection().With(q.params()...).WithValue(state.ParamSmall,
			version).WithValue(query.ParamVersion, s.Version)
		out = append(out, Suggestion{
			Link:  state.Link{Label: titleOf(q.sentence(Aggregates{}), "kind"), Href: questionHref(s, q)},
			Image: state.Join(image, small.Encode()),
		})
	}
	return out
}
