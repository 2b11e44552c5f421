package charts

import (
	"encoding/json"
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/web/view/columns"
	"herbarium/internal/web/view/state"
)

// maxSuggestions is the number of charts that a page suggests.
const maxSuggestions = 5

// chartFields are the fields of a dataset that make good charts, the best first.
type chartFields struct {
	dates, names, numbers []int
}

// newChartFields rates the fields by their type and by the publish report.
func newChartFields(d *columns.Dataset) (c chartFields) {
	for i, f := range d.Fields {
		r := d.Meanings[i].Report
		isConstant := r != nil && (r.Distinct < 2 || 2*r.Filled < d.Records)
		if !f.Filterable || isConstant {
			continue
		}
		switch kind := d.Meanings[i].Kind; {
		case kind == columns.KindDate:
			c.dates = append(c.dates, i)
		case kind == columns.KindNumber:
			c.numbers = append(c.numbers, i)
		case kind == columns.KindText && d.Meanings[i].Mode == columns.ModeValues && (r == nil || r.Distinct < d.Records && r.Longest <= columns.LongText):
			c.names = append(c.names, i)
		case kind == columns.KindList && (r == nil || r.Distinct <= columns.ManyValues):
			c.names = append(c.names, i)
		}
	}
	slices.SortStableFunc(c.dates, func(a, b int) int { return dateScore(d, b) - dateScore(d, a) })
	slices.SortStableFunc(c.names, func(a, b int) int { return nameScore(d, b) - nameScore(d, a) })
	return c
}

// dateScore rates a field as an axis of time: a time of day is not one.
func dateScore(d *columns.Dataset, i int) int {
	if d.Fields[i].Type == herb.TypeTime {
		return 0
	}
	return 1
}

// nameScore rates a field as groups: a few values are best.
func nameScore(d *columns.Dataset, i int) int {
	r := d.Meanings[i].Report
	switch {
	case r == nil:
		return 1
	case d.Fields[i].Type == herb.TypeBoolean || r.Distinct < 4:
		return 2
	case r.Distinct <= 30:
		return 4
	case r.Distinct <= 200:
		return 3
	}
	return 1
}

// DefaultQuestion returns what the chart of a dataset shows first: rows by time, else by the best
// field of names, else by the range of a number, else their number.
func DefaultQuestion(d *columns.Dataset) query.Params {
	c := newChartFields(d)
	for _, fields := range [][]int{c.dates, c.names, c.numbers} {
		if len(fields) > 0 {
			return countBy(d, fields[0])
		}
	}
	return query.Params{{Name: query.ParamMeasure, Value: string(query.MeasureCount)}}
}

func countBy(d *columns.Dataset, fields ...int) (ps query.Params) {
	for _, i := range fields {
		ps = ps.WithValue(query.ParamBy, byOf(d, i).Name)
	}
	return ps
}

// suggestions returns questions that the fields of a dataset suggest.
func suggestions(d *columns.Dataset) (all []query.Params) {
	c := newChartFields(d)
	measure := func(ps query.Params, kind query.MeasureKind, field int) query.Params {
		return ps.WithValue(query.ParamMeasure, string(kind)+":"+d.Fields[field].Name)
	}
	add := func(ps query.Params) {
		isSame := func(o query.Params) bool { return slices.Equal(o, ps) }
		if len(all) < maxSuggestions && !slices.ContainsFunc(all, isSame) {
			all = append(all, ps)
		}
	}
	if len(c.names) > 0 {
		add(countBy(d, c.names[0]))
	}
	if len(c.dates) > 0 {
		add(countBy(d, c.dates[0]))
	}
	heat := query.Param{Name: state.ParamKind, Value: "heat"}
	switch {
	case len(c.names) > 0 && len(c.dates) > 0:
		add(countBy(d, c.dates[0], c.names[0]).With(heat))
	case len(c.names) > 1:
		add(countBy(d, c.names[0], c.names[1]).With(heat))
	}
	if len(c.numbers) > 0 {
		add(measure(nil, query.MeasureMean, c.numbers[0]))
		if len(c.names) > 0 {
			add(measure(countBy(d, c.names[min(1, len(c.names)-1)]), query.MeasureSum, c.numbers[0]))
		}
		add(countBy(d, c.numbers[0]))
	}
	for _, i := range slices.Concat(c.names, c.dates, c.numbers) {
		add(countBy(d, i))
	}
	for _, i := range c.numbers {
		add(measure(nil, query.MeasureMedian, i))
	}
	add(query.Params{{Name: query.ParamMeasure, Value: string(query.MeasureCount)}})
	for i, f := range d.Fields[:min(len(d.Fields), state.MaxOffered)] {
		if f.Filterable {
			add(measure(nil, query.MeasureDistinct, i))
		}
	}
	return all
}

// PinnedCharts returns the questions in the descriptor of a dataset. Malformed ones are ignored.
func PinnedCharts(d *herb.Dataset) (all []query.Params) {
	var parts struct {
		Resource struct {
			Herbarium struct {
				Charts []struct {
					By      json.RawMessage
					Measure string
				}
			}
		}
	}
	if json.Unmarshal(d.Descriptor, &parts) != nil {
		return nil
	}
	for _, c := range parts.Resource.Herbarium.Charts {
		by, one := []string(nil), ""
		if json.Unmarshal(c.By, &one) == nil {
			by = []string{one}
		} else {
			_ = json.Unmarshal(c.By, &by)
		}
		var ps query.Params
		for _, b := range by {
			ps = ps.WithValue(query.ParamBy, b)
		}
		if ps = ps.WithValue(query.ParamMeasure, c.Measure); len(ps) > 0 {
			all = append(all, ps)
		}
	}
	return all
}

// Suggestion is a small chart that leads to a question about all rows.
type Suggestion struct {
	state.Link
	Image string // address
}

// NewSuggestions returns charts that the dataset suggests. image is the path of their images.
func NewSuggestions(s *state.State, image, version string) (out []Suggestion) {
	all := *s
	all.Listing = nil
	for _, ps := range suggestions(s.Dataset) {
		q, err := parseQuestion(&all, ps)
		if err != nil {
			continue // a name that cannot be written in a query
		}
		small := q.params().WithValue(state.ParamSmall, version).WithValue(query.ParamVersion, s.Version)
		out = append(out, Suggestion{
			Link:  state.Link{Label: titleOf(q.sentence(&all, Aggregates{}), "kind"), Href: questionHref(s, q)},
			Image: state.Join(image, small.Encode()),
		})
	}
	return out
}
