package charts

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/text"
	"herbarium/internal/web/view/columns"
	"herbarium/internal/web/view/format"
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
	req, err := query.ParseAggregate(s.Selection().With(params.Without(state.ParamKind, state.ParamSplit, state.ParamGaps)...).Encode(), s.Fields)
	if err != nil {
		return nil, err
	}
	q := &Question{
		By: req.By, Measure: req.Measures[0], Order: orderLargest, Top: defaultTop,
		Series: req.Labels[1], Gaps: params.Get(state.ParamGaps) == "1",
		Zone: params.Get(query.ParamZone), req: req, data: s.Dataset, fields: s.Fields,
	}
	if req.Returned > 1 {
		return nil, herb.Invalidf("%q is given %d times; a chart shows one measure", query.ParamMeasure, req.Returned)
	}
	switch sort := params.Get(query.ParamGroupSort); sort {
	case "", "-" + q.Measure.Name:
	case q.Measure.Name:
		q.Order = orderSmallest
	case "by1":
		q.Order = orderLabel
	default:
		return nil, herb.Invalidf("%s is %q; a chart is sorted by -%s, %s or by1", query.ParamGroupSort, sort, q.Measure.Name, q.Measure.Name)
	}
	if params.Get(query.ParamTopGroups) != "" {
		if q.Top = req.Top; q.Top > maxTop {
			return nil, herb.Invalidf("%s is %d; a chart shows 1 to %d groups", query.ParamTopGroups, q.Top, maxTop)
		}
	}
	kinds := q.kinds()
	if kind := plot.Kind(params.Get(state.ParamKind)); slices.Contains(kinds, kind) {
		q.Kind = kind
	} else if kind != "" && len(kinds) == 0 {
		return nil, herb.Invalidf("%s is %q, but there are no groups to draw; add %q", state.ParamKind, kind, query.ParamBy)
	} else if kind != "" {
		return nil, herb.Invalidf("%s is %q; it must be one of: %s%s", state.ParamKind, kind, joinKinds(kinds), q.intervalsHint(kind))
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
		if q.Split = state.ParseUpTo(split, most); q.Split == 0 {
			return nil, herb.Invalidf("%s is %q; it must be a whole number from 1 to %d", state.ParamSplit, split, most)
		}
	}
	if _, most := q.seriesLimits(); len(q.Series) > most {
		return nil, herb.Invalidf("%q is given %d times; this chart shows at most %d series", query.ParamSeries, len(q.Series), most)
	}
	return q, nil
}

// seriesLimits returns how many series a chart shows by default and at most. Those of heat maps and
// tables need no colors.
func (q *Question) seriesLimits() (usual, most int) {
	switch q.Kind {
	case plot.Heat:
		return 12, heatRows
	case kindTable:
		return pageSeries, pageSeries
	}
	return 4, plot.MaxSeries
}

// series returns how many series the chart shows.
func (q *Question) series() int {
	usual, _ := q.seriesLimits()
	return cmp.Or(len(q.Series), q.Split, usual)
}

func joinKinds(kinds []plot.Kind) string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = string(k)
	}
	return strings.Join(names, ", ")
}

// kinds returns the forms that suit the question, the best first; none if it has no groups.
func (q *Question) kinds() (kinds []plot.Kind) {
	switch {
	case len(q.By) == 0:
		return nil
	case len(q.By) == 1 && !q.By[0].HasIntervals():
		return []plot.Kind{plot.Bars, kindTable}
	case len(q.By) == 1 && q.isTime(q.By[0]):
		return []plot.Kind{plot.Lines, plot.Bars, kindTable}
	case len(q.By) == 1:
		return []plot.Kind{plot.Bars, plot.Lines, kindTable}
	}
	if q.isAdditive() {
		kinds = append(kinds, plot.Stacked)
	}
	kinds = append(kinds, plot.Grouped)
	switch {
	case q.isTime(q.By[0]):
		kinds = append([]plot.Kind{plot.Lines}, kinds...)
	case q.By[0].HasIntervals():
		kinds = append(kinds, plot.Lines)
	}
	if q.canScatter() {
		kinds = append(kinds, plot.ScatterPlot)
	}
	return append(kinds, plot.Heat, kindTable)
}

// intervalsHint says which intervals of the first field make a form possible; empty: none.
func (q *Question) intervalsHint(kind plot.Kind) string {
	if kind != plot.Lines || q.By[0].HasIntervals() {
		return ""
	}
	by := byOf(q.data, q.By[0].Field)
	if f := &q.fields[by.Field]; !by.HasIntervals() && f.Type == herb.TypeNumber { // few numbers
		if by.Width = bucketWidth(f, q.data.Meanings[by.Field].Report, defaultTop); by.Width != "" {
			by.Name += ":" + by.Width
		}
	}
	if !by.HasIntervals() {
		return ""
	}
	return "; lines need intervals, such as " + strconv.Quote(query.ParamBy+"="+by.Name)
}

// hasDefaultKind reports whether the chart has the form that suits the question best.
func (q *Question) hasDefaultKind() bool {
	kinds := q.kinds()
	return len(kinds) == 0 || q.Kind == kinds[0]
}

// isTime reports whether groups are intervals of time: of dates, or of years.
func (q *Question) isTime(b query.By) bool {
	return b.Grain != "" && !b.IsCyclic() || b.Width != "" && q.data.Meanings[b.Field].IsYear
}

// isAdditive reports whether the values of groups add up to that of all of them.
func (q *Question) isAdditive() bool {
	switch q.Measure.Kind {
	case query.MeasureCount, query.MeasureFilled, query.MeasureSum:
		return true
	}
	return false
}

// isCount reports whether the measure counts, so that it is zero where there are no rows. Others,
// also sums, have no value there.
func (q *Question) isCount() bool {
	switch q.Measure.Kind {
	case query.MeasureCount, query.MeasureFilled, query.MeasureDistinct:
		return true
	}
	return false
}

// params returns the question as parameters, without default values.
func (q *Question) params() (ps query.Params) {
	for _, b := range q.By {
		ps = ps.WithValue(query.ParamBy, b.Name)
	}
	if q.Measure.Kind != query.MeasureCount || len(q.By) == 0 {
		ps = ps.WithValue(query.ParamMeasure, q.Measure.Name)
	}
	switch q.Order {
	case orderSmallest:
		ps = ps.WithValue(query.ParamGroupSort, q.Measure.Name)
	case orderLabel:
		ps = ps.WithValue(query.ParamGroupSort, "by1")
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
	if !slices.ContainsFunc(c.By, q.sharesZone) {
		c.Zone = ""
	}
	if len(c.By) == 0 || c.By[0].HasIntervals() {
		c.Top, c.Order = defaultTop, orderLargest
	}
	if kinds := c.kinds(); !slices.Contains(kinds, c.Kind) || c.Kind == q.Kind && q.hasDefaultKind() {
		if c.Kind = ""; len(kinds) > 0 {
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

// Call returns the parameters of the API call for the values that the chart shows: the request of
// its groups, or of its cells. That of a table returns the values of all its pages.
func (q *Question) Call(s *state.State, found Aggregates) query.Params {
	if q.isScatter() {
		return q.scatterCall(found).WithValue(query.ParamVersion, s.Version)
	}
	ps := s.Selection()
	for _, b := range q.By {
		ps = ps.WithValue(query.ParamBy, b.Name)
	}
	ps = ps.WithValue(query.ParamMeasure, q.Measure.Name)
	rest := query.Params(nil).WithValue(query.ParamZone, q.Zone).WithValue(query.ParamVersion, s.Version)
	switch {
	case len(q.By) == 1:
		r := q.GroupsRequest(found.Filled)
		if !q.By[0].HasIntervals() {
			ps = ps.WithValue(query.ParamGroupSort, q.sortName())
		} else if len(r.Sort) > 0 && found.Groups.Groups > r.Top {
			ps = ps.WithValue(query.ParamGroupSort, "-by1")
		}
		if r.Fill {
			ps = ps.WithValue(query.ParamFill, "zero")
		}
		if q.Kind == kindTable {
			r.Top = query.MaxGroupsReturned
		}
		ps = ps.WithValue(query.ParamTopGroups, strconv.Itoa(r.Top))
	case len(q.By) == 2 && q.Kind == kindTable:
		if q.fillsCells(found) {
			ps = ps.WithValue(query.ParamFill, "zero")
		}
		ps = withLabels(ps.WithValue(query.ParamTopGroups, strconv.Itoa(query.MaxGroupsReturned)), query.ParamSeries, q.Series)
	case len(q.By) == 2:
		r := q.CellsRequest(found)
		if r.Fill {
			ps = ps.WithValue(query.ParamFill, "zero")
		}
		ps = ps.WithValue(query.ParamTopGroups, strconv.Itoa(r.Top))
		series := withLabels(ps, query.ParamSeries, r.Labels[1])
		for _, all := range []query.Params{withLabels(series, query.ParamGroup, r.Labels[0]), series} {
			if len(all.With(rest...).Encode()) <= query.MaxQueryBytes { // else the call returns more groups
				return all.With(rest...)
			}
		}
	}
	return ps.With(rest...)
}

// FileCall returns the parameters of the CSV file with the values of an API call. The file of a
// table has all groups, also if they are more than a response in JSON can have.
func (q *Question) FileCall(call query.Params) query.Params {
	if q.Kind == kindTable {
		return call.Without(query.ParamTopGroups)
	}
	return call
}

// withLabels adds a parameter for each label of groups to return.
func withLabels(ps query.Params, name string, labels []string) query.Params {
	for _, label := range labels {
		if label == "" {
			ps = ps.With(query.Param{Name: name + "[empty]", Value: "true"})
			continue
		}
		ps = ps.With(query.Param{Name: name, Value: label})
	}
	return ps
}

func (q *Question) sortName() string {
	switch q.Order {
	case orderSmallest:
		return q.Measure.Name
	case orderLabel:
		return "by1"
	}
	return "-" + q.Measure.Name
}

// byOf returns how a field is grouped unless the reader chooses: dates by intervals of a suitable
// length, numbers with many values in buckets, others by their values.
func byOf(d *columns.Dataset, field int) query.By {
	f, c := d.Fields[field], d.Meanings[field].Report
	b := query.By{Name: f.Name, Field: field}
	switch {
	case len(query.Grains(&f)) > 0:
		return withGrain(d, field, defaultGrain(&f, c))
	case d.Meanings[field].IsYear:
		const most = 200 // intervals
		b.Width = "1"
		if low, high, ok := columns.ParseRange(&f, c.Min, c.Max); ok && high-low > most {
			b.Width = bucketWidth(&f, c, most)
		}
		b.Name += ":" + b.Width
	case (f.Type == herb.TypeNumber || f.Type == herb.TypeDuration) && d.Meanings[field].Kind != columns.KindCode && (c == nil || c.Distinct > defaultTop):
		if first := d.LogWidth(field); first != "" {
			return withLog(d, field, first)
		}
		if width := bucketWidth(&f, c, 20); width != "" {
			b.Width, b.Name = width, f.Name+":"+width
		}
	}
	return b
}

func withGrain(d *columns.Dataset, field int, g query.Grain) query.By {
	return query.By{Name: d.Fields[field].Name + ":" + string(g), Field: field, Grain: g}
}

func withLog(d *columns.Dataset, field int, first string) query.By {
	return query.By{Name: d.Fields[field].Name + ":log" + first, Field: field, Width: first, Log: true}
}

// defaultGrain returns the shortest grain of which a field has few intervals. Periods are shown one
// by one unless there are very many.
func defaultGrain(f *herb.Field, c *herb.ColumnReport) query.Grain {
	const few, most = 62, 400
	if f.Type == herb.TypeTime {
		return query.GrainHour
	}
	if period := text.PrecisionOf(f); period != text.PrecisionDay && (c == nil || c.Distinct <= most) {
		return query.Grain(period)
	}
	if c == nil {
		return query.GrainMonth
	}
	from, ok := columns.ParseTime(f, c.Min)
	to, ok2 := columns.ParseTime(f, c.Max)
	if !ok || !ok2 {
		return query.GrainMonth
	}
	hours := to.Sub(from).Hours()
	for _, g := range []struct {
		grain query.Grain
		hours float64
	}{{query.GrainHour, 1}, {query.GrainDay, 24}, {query.GrainMonth, 730}, {query.GrainQuarter, 2190}} {
		if hours/g.hours <= few && slices.Contains(query.Grains(f), g.grain) {
			return g.grain
		}
	}
	return query.GrainYear
}

// bucketWidth returns a round width of which the range of a number field has about count, in
// seconds for a duration; empty if the range is not known.
func bucketWidth(f *herb.Field, c *herb.ColumnReport, count float64) string {
	if c == nil {
		return ""
	}
	low, high, ok := columns.ParseRange(f, c.Min, c.Max)
	if !ok || high <= low || math.IsInf(high-low, 0) {
		return ""
	}
	step := plot.Step((high - low) / count)
	if f.Type == herb.TypeDuration {
		step = durationStep((high - low) / count)
	}
	return strconv.FormatFloat(step, 'f', -1, 64)
}

// durationStep returns a number of seconds that is a round duration, not less than the given one.
func durationStep(seconds float64) float64 {
	const minute, hour, day = 60, 60 * 60, 24 * 60 * 60
	if seconds <= 1 {
		return plot.Step(seconds)
	}
	for _, step := range []float64{
		2, 5, 10, 15, 30, minute, 2 * minute, 5 * minute, 10 * minute, 15 * minute, 30 * minute, hour, 2 * hour, 3 * hour, 6 * hour, 12 * hour, day,
	} {
		if step >= seconds {
			return step
		}
	}
	return day * plot.Step(seconds/day)
}

// canDraw reports whether a field has measures of a kind that are numbers or durations: a chart has
// no axis for the earliest date or the first text.
func canDraw(k query.MeasureKind, f *herb.Field) bool {
	t := k.ResultType(f.Type)
	return k.AppliesTo(f) && (t == herb.TypeNumber || t == herb.TypeDuration)
}

// isDuration reports whether the values of the measure are durations. The axis of a chart has them
// in hours.
func (q *Question) isDuration() bool {
	return q.Measure.Field >= 0 && q.Measure.Kind.ResultType(q.fields[q.Measure.Field].Type) == herb.TypeDuration
}

// unit returns the sign of the values of the measure; empty if there is none.
func (q *Question) unit() string {
	if q.isDuration() {
		return "h"
	}
	return q.Measure.Unit(q.fields)
}

// number returns the number that a value of the measure represents.
func (q *Question) number(value string) (n float64, ok bool) {
	if q.isDuration() {
		const hour = 60 * 60
		seconds, _, ok := columns.ParseRange(&herb.Field{Type: herb.TypeDuration}, value, value)
		return seconds / hour, ok && !math.IsInf(seconds, 0)
	}
	n, err := strconv.ParseFloat(value, 64)
	return n, err == nil && !math.IsInf(n, 0) && !math.IsNaN(n)
}

// exact formats a value of the measure with all its digits.
func (q *Question) exact(value string) string {
	if value == "" {
		return "–"
	}
	if q.isDuration() {
		return value
	}
	if !q.Measure.Kind.IsComputed() {
		return plot.WithUnit(value, q.unit()) // may be a year
	}
	return plot.WithUnit(format.GroupNumber(&herb.Field{}, value), q.unit())
}

// short formats a value of the measure, rounded to what a reader compares. Sums and counts are
// exact unless they are long.
func (q *Question) short(value string) string {
	switch exact := q.exact(value); {
	case value == "":
		return exact
	case q.isDuration():
		return format.CompactDuration(value)
	case q.Measure.Kind == query.MeasureMean || q.Measure.Kind == query.MeasureMedian:
		if len(exact) > format.LongNumber {
			exact = plot.WithUnit(format.Number(&herb.Field{}, value), q.unit())
		}
		fallthrough
	default:
		if _, ok := q.number(value); len(exact) > 2*format.LongNumber && (ok || q.Measure.Kind.IsComputed()) {
			return plot.WithUnit(format.Compact(value), q.unit())
		}
		return exact
	}
}

// label formats a value of the measure as a label of a chart.
func (q *Question) label(value string) string {
	_, ok := q.number(value)
	switch {
	case q.isDuration():
		return q.short(value)
	case !ok:
		return herb.Clip(q.short(value), state.MaxChipText)
	}
	return plot.WithUnit(format.Compact(value), q.unit())
}
