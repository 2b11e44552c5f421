package charts

import (
	"slices"
	"strconv"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/web/view/columns"
	"herbarium/internal/web/view/plot"
	"herbarium/internal/web/view/state"
)

// kindTable shows all values in pages of a table instead of a chart.
const kindTable plot.Kind = "table"

// The limits of a chart.
const (
	defaultTop = 20
	maxTop     = 100
	// MaxChartCells is the number of values of a chart: its intervals, of each series.
	MaxChartCells = query.MaxGroupsReturned
	// tableRows is the number of groups that the table beside a chart lists.
	tableRows = 1000
	// seriesRows is the number of series that the table beside a chart lists.
	seriesRows = 250
	// heatRows is the number of series of a heat map.
	heatRows = 20
	// pageGroups and pageSeries are the numbers of rows and columns of a page of the table of all
	// values.
	pageGroups = 100
	pageSeries = 100
)

// order is the order of groups that are names.
type order string

const (
	orderLargest  order = "largest"
	orderSmallest order = "smallest"
	orderLabel    order = "first"
)

// Question is what a chart shows: a measure, what it is grouped and split by, and how it is drawn.
type Question struct {
	By      []query.By // the second one is the split
	Measure query.Measure
	Columns []query.Measure // of a wide question, which the measure is the first of
	Order   order
	Top     int
	Split   int      // number of series; 0: the default of the kind
	Series  []string // labels of the series to draw; none: the largest
	Gaps    bool     // lines end where intervals have no rows
	Kind    plot.Kind
	Page    int // of the table of all values, from 1
	Zone    string

	req *query.AggregateRequest // with the filters and the search of the rows that are counted
	// Of a scatter plot: the rows with a value of both axes, and the request for the extent of
	// these.
	complete query.Params
	extent   *query.AggregateRequest
	data     *columns.Dataset
	fields   []herb.Field
}

// ParseQuestion parses the question of a state, or the first one of the dataset if there is none.
// Errors have herb.CodeInvalid.
func ParseQuestion(s *state.State) (*Question, error) {
	params := s.Question
	if params.Get(query.ParamBy) == "" && params.Get(query.ParamMeasure) == "" {
		first := FirstQuestion(s.Dataset)
		if params.Get(state.ParamKind) != "" {
			first = first.Without(state.ParamKind)
		}
		params = first.With(params...)
	}
	return parseQuestion(s, params)
}

func parseQuestion(s *state.State, params query.Params) (*Question, error) {
	req, err := query.ParseAggregate(
		s.Selection().With(params.Without(state.ParamKind, state.ParamSplit, state.ParamGaps)...).Encode(), s.Fields)
	if err != nil {
		return nil, err
	}
	q := &Question{
		By: req.By, Measure: req.Measures[0], Order: orderLargest, Top: defaultTop,
		Series: req.Labels[1], Gaps: params.Get(state.ParamGaps) == "1",
		Zone: params.Get(query.ParamZone), req: req, data: s.Dataset,
	}
	if err := q.setColumns(req.Measures[:req.Returned]); err != nil {
		return nil, err
	}
	switch sort := params.Get(query.ParamGroupSort); sort {
	case "", "-" + q.Measure.Name:
	case q.Measure.Name:
		q.Order = orderSmallest
	case "by1":
		q.Order = orderLabel
	default:
		return nil, herb.Invalidf("%s is %q; a chart is sorted by -%s, %s or by1", query.ParamGroupSort, sort,
			q.Measure.Name, q.Measure.Name)
	}
	if params.Get(query.ParamTopGroups) != "" {
		q.Top = req.Top
		if q.Top > maxTop {
			return nil, herb.Invalidf("%s is %d; a chart shows 1 to %d groups", query.ParamTopGroups, q.Top, maxTop)
		}
	}
	kinds := q.kinds()
	if kind := plot.Kind(params.Get(state.ParamKind)); slices.Contains(kinds, kind) {
		q.Kind = kind
	} else if kind != "" && len(kinds) == 0 {
		return nil, herb.Invalidf("%s is %q, but there are no groups to draw; add %q", state.ParamKind, kind,
			query.ParamBy)
	} else if kind != "" {
		return nil, herb.Invalidf("%s is %q; it must be one of: %s%s", state.ParamKind, kind, joinKinds(kinds),
			q.intervalsHint(kind))
	} else if len(kinds) > 0 {
		q.Kind = kinds[0]
	}
	if q.isScatter() {
		if err := q.setScatter(s); err != nil {
			return nil, err
		}
	}
	q.Page = max(1, state.ParseUpTo(s.Listing.Get(query.ParamPage), query.MaxGroups/pageGroups))
	q.Gaps = q.Gaps && q.Kind == plot.Lines && !q.isCount()
	if split := params.Get(state.ParamSplit); split != "" {
		_, most := q.seriesLimits()
		q.Split = state.ParseUpTo(split, most)
		if q.Split == 0 {
			return nil, herb.Invalidf("%s is %q; it must be a whole number from 1 to %d", state.ParamSplit, split, most)
		}
	}
	if _, most := q.seriesLimits(); len(q.Series) > most {
		return nil, herb.Invalidf("%q is given %d times; this chart shows at most %d series", query.ParamSeries,
			len(q.Series), most)
	}
	return q, nil
}

// params returns the question as parameters, without default values.
func (q *Question) params() (ps query.Params) {
	for _, b := range q.By { // the columns of a wide question have no name
		ps = ps.WithValue(query.ParamBy, b.Name)
	}
	if q.isWide() {
		for _, m := range q.Columns {
			ps = ps.WithValue(query.ParamMeasure, m.Name)
		}
	} else if q.Measure.Kind != query.MeasureCount || len(q.By) == 0 {
		ps = ps.WithValue(query.ParamMeasure, q.Measure.Name)
	}
	if q.Order != orderLargest {
		ps = ps.WithValue(query.ParamGroupSort, q.sortName())
	}
	if q.Top != defaultTop {
		ps = ps.WithValue(query.ParamTopGroups, strconv.Itoa(q.Top))
	}
	ps = withLabels(ps, query.ParamSeries, q.Series)
	if q.Gaps {
		ps = ps.WithValue(state.ParamGaps, "1")
	}
	if usual, _ := q.seriesLimits(); len(q.Series) == 0 && q.series() != usual {
		ps = ps.WithValue(state.ParamSplit, strconv.Itoa(q.Split))
	}
	if !q.hasDefaultKind() {
		ps = ps.WithValue(state.ParamKind, string(q.Kind))
	}
	return ps.WithValue(query.ParamZone, q.Zone)
}

// with returns a changed copy of the question. What does not suit it any more gets its default.
func (q *Question) with(change func(*Question)) *Question {
	c := *q
	c.By = slices.Clone(q.By)
	change(&c)
	if q.isWide() && c.setColumns(c.Columns) != nil { // other measures, or another split
		c.Columns = nil
	}
	if !slices.ContainsFunc(c.By, q.sharesZone) {
		c.Zone = ""
	}
	if len(c.By) == 0 || c.By[0].HasIntervals() {
		c.Top, c.Order = defaultTop, orderLargest
	}
	if kinds := c.kinds(); !slices.Contains(kinds, c.Kind) || c.Kind == q.Kind && q.hasDefaultKind() {
		c.Kind = ""
		if len(kinds) > 0 {
			c.Kind = kinds[0]
		}
	}
	if len(c.By) < 2 || len(q.By) < 2 || c.By[1].Name != q.By[1].Name {
		c.Series = nil
	}
	if _, most := c.seriesLimits(); len(c.By) < 2 || c.Split > most {
		c.Split = 0
	} else if len(c.Series) > most {
		c.Series = c.Series[:most]
	}
	c.Gaps = c.Gaps && c.Kind == plot.Lines && !c.isCount()
	return &c
}

// sharesZone reports whether groups depend on the zone of the question: those of a field that the
// question groups by as well.
func (q *Question) sharesZone(b query.By) bool {
	isSame := func(o query.By) bool { return o.Field == b.Field && o.UsesZone(q.fields) }
	return b.UsesZone(q.fields) && slices.ContainsFunc(q.By, isSame)
}
