package charts

import (
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/web/view/columns"
	"herbarium/internal/web/view/plot"
	"herbarium/internal/web/view/state"
)

// FirstQuestion returns what the chart of a dataset shows without a question: on its page, in
// previews and on the front page. It is the first chart in the descriptor, else the best one that
// the columns suggest, else the number of rows.
func FirstQuestion(d *columns.Dataset) query.Params {
	count := query.Params{{Name: query.ParamMeasure, Value: string(query.MeasureCount)}}
	return append(questions(d), count)[0]
}

// questions returns the charts in the descriptor of a dataset, and those that its columns suggest.
func questions(d *columns.Dataset) []query.Params {
	all := Pinned(d)
	for _, c := range d.Charts {
		all = append(all, questionOf(d, c))
	}
	return all
}

// Pinned returns the questions in the descriptor of a dataset that are valid: fields may have
// changed since it was published.
func Pinned(d *columns.Dataset) (all []query.Params) {
	if d.Descriptor == nil {
		return nil
	}
	for _, c := range d.Descriptor.Charts {
		var ps query.Params
		for _, by := range c.By {
			ps = ps.WithValue(query.ParamBy, by)
		}
		ps = ps.WithValue(query.ParamMeasure, c.Measure)
		if q, err := parseQuestion(&state.State{Dataset: d, Fields: d.Fields}, ps); err == nil {
			all = append(all, q.params())
		}
	}
	return all
}

// questionOf returns a chart that columns suggest as a question.
func questionOf(d *columns.Dataset, c columns.Chart) (ps query.Params) {
	isPair := len(c.By) == 2 && isScatterAxis(&d.Fields[c.By[0]]) && isScatterAxis(&d.Fields[c.By[1]])
	if isPair {
		ps = ps.WithValue(state.ParamKind, string(plot.ScatterPlot))
	}
	for k, i := range c.By {
		by := byOf(d, i)
		if isPair {
			by = eachValue(&d.Fields[i], i)
		}
		if k == 0 && c.Grain != "" {
			by = withGrain(d, i, c.Grain)
		}
		ps = ps.WithValue(query.ParamBy, by.Name)
	}
	for _, i := range c.Fields {
		ps = ps.WithValue(query.ParamMeasure, string(c.Measure)+":"+d.Fields[i].Name)
	}
	return ps
}

// FirstLabel says in a few words what the first chart of a dataset shows. It is empty if nothing is
// known of the columns.
func FirstLabel(d *columns.Dataset) string {
	s := &state.State{Dataset: d, Fields: d.Fields}
	q, err := parseQuestion(s, FirstQuestion(d))
	if err != nil || len(q.By) == 0 {
		return ""
	}
	const longest = 60
	title := titleOf(q.sentence(Aggregates{}), "kind", "interval", "interval2", "top", "series")
	return herb.Clip(upperFirst(strings.TrimPrefix(title, "The ")), longest)
}

// Suggestion is a small chart of the rows of a listing that leads to a question about them.
type Suggestion struct {
	state.Link
	Image string // address
}

// NewSuggestions returns charts that the dataset suggests. image is the path of their images.
func NewSuggestions(s *state.State, image, version string) (out []Suggestion) {
	isListed := map[string]bool{}
	for _, ps := range questions(s.Dataset) {
		q, err := parseQuestion(s, ps)
		if err != nil || isListed[q.params().Encode()] || len(out) == columns.MaxCharts {
			continue // err: no query can have the name
		}
		isListed[q.params().Encode()] = true
		small := s.Selection().With(q.params()...).WithValue(state.ParamSmall,
			version).WithValue(query.ParamVersion, s.Version)
		out = append(out, Suggestion{
			Link:  state.Link{Label: titleOf(q.sentence(Aggregates{}), "kind"), Href: questionHref(s, q)},
			Image: state.Join(image, small.Encode()),
		})
	}
	return out
}
