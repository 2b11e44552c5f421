package charts

import (
	"cmp"
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

// The limits of scatter plots.
const (
	// MaxPoints is the number of rows up to which a scatter plot has a point for each. It counts
	// more in cells.
	MaxPoints = 4000
	// scatterColumns and scatterRows are the numbers of cells side by side, at most.
	scatterColumns = 50
	scatterRows    = 30
	// scatterListed is the number of points or cells that the table beside a scatter plot lists.
	scatterListed = 100
)

// isScatter reports whether the question is drawn as a scatter plot.
func (q *Question) isScatter() bool { return q.Kind == plot.ScatterPlot }

// canScatter reports whether the rows of the question can be drawn as a scatter plot.
func (q *Question) canScatter() bool {
	return len(q.By) == 2 && q.By[0].Field != q.By[1].Field && q.Measure.Kind == query.MeasureCount &&
		isScatterAxis(&q.fields[q.By[0].Field]) && isScatterAxis(&q.fields[q.By[1].Field])
}

// isScatterAxis reports whether a field can be an axis of a scatter plot.
func isScatterAxis(f *herb.Field) bool { return f.Filterable && f.Type == herb.TypeNumber }

// eachValue returns how a field is grouped by its values.
func eachValue(f *herb.Field, field int) query.By { return query.By{Name: f.Name, Field: field} }

// setScatter sets the axes of a scatter plot, and the request for their extent: of the rows that
// have a value of both.
func (q *Question) setScatter(s *state.State) (err error) {
	ps := s.Selection()
	for i, b := range q.By {
		f := &q.fields[b.Field]
		q.By[i] = eachValue(f, b.Field)
		ps = ps.With(query.Param{Name: query.FilterParam(f.Name, query.OpEmpty), Value: "false"})
	}
	q.complete = ps
	for _, b := range q.By {
		for _, k := range []query.MeasureKind{query.MeasureMin, query.MeasureMax, query.MeasureDistinct} {
			ps = ps.WithValue(query.ParamMeasure, string(k)+":"+q.fields[b.Field].Name)
		}
	}
	q.extent, err = query.ParseAggregate(ps.Encode(), s.Fields)
	return err
}

// runScatter computes the points of a scatter plot, or the numbers of rows of its cells.
func (q *Question) runScatter(aggregate func(*query.AggregateRequest) (query.Aggregate, error)) (found Aggregates,
	err error) {
	found.All, err = aggregate(q.AllRequest())
	if err != nil {
		return found, err
	}
	found.Groups, err = aggregate(q.extent)
	if err != nil {
		return found, err
	}
	found.Cells, err = aggregate(q.cellsOf(found))
	return found, err
}

// cellsOf returns the request for the points or the cells of a scatter plot with an extent.
func (q *Question) cellsOf(found Aggregates) *query.AggregateRequest {
	r := q.request(q.bins(found), nil, MaxChartCells)
	r.Request = q.extent.Request
	return r
}

// bins returns how a scatter plot groups rows: by their values, or by intervals if there are many
// rows. Columns with few values have an interval for each.
func (q *Question) bins(found Aggregates) []query.By {
	by := slices.Clone(q.By)
	if found.Groups.Total <= MaxPoints {
		return by
	}
	for i, most := range []int{scatterColumns, scatterRows} {
		values := found.Groups.Rows[0].Values[3*i:]
		distinct, _ := strconv.Atoi(values[2])
		count := max(1, min(most, distinct-1))
		by[i].Width = cmp.Or(bucketWidth(&herb.Field{Type: herb.TypeNumber},
			&herb.ColumnReport{Min: values[0], Max: values[1]}, count), "1")
		by[i].Name += ":" + by[i].Width
	}
	return by
}

// scatterCall returns the parameters of the API call for the points or the cells.
func (q *Question) scatterCall(found Aggregates) query.Params {
	r := q.cellsOf(found)
	ps := q.complete
	for _, b := range r.By {
		ps = ps.WithValue(query.ParamBy, b.Name)
	}
	return ps.WithValue(query.ParamMeasure, q.Measure.Name).WithValue(query.ParamTopGroups, strconv.Itoa(r.Top))
}

// setScatter draws the points or the cells of a scatter plot.
func (b *answerBuilder) setScatter(out *Answer) {
	bins := b.bins(b.Aggregates)
	s := &plot.Scatter{Cells: bins[0].Width != "", X: b.scatterAxis(0), Y: b.scatterAxis(1)}
	var counts query.Grid
	for _, row := range b.Cells.Rows {
		n, _ := strconv.Atoi(row.Values[0])
		p := plot.ScatterPoint{Count: n}
		p.X, p.NextX = b.scatterEnds(bins[0], row.By[0])
		p.Y, p.NextY = b.scatterEnds(bins[1], row.By[1])
		s.Points = append(s.Points, p)
		counts.Cells = append(counts.Cells, query.Cell{Count: n})
	}
	s.Levels = counts.Levels()
	s.Mark = func(points []int) plot.Mark { return b.scatterMark(bins, points) }
	out.data = plot.Data{Scatter: s}
	out.Labels = s.X.Title + ", " + s.Y.Title
	largest := slices.Clone(b.Cells.Rows)
	count := func(row query.GroupRow) int { n, _ := strconv.Atoi(row.Values[0]); return n }
	slices.SortStableFunc(largest, func(a, b query.GroupRow) int { return cmp.Compare(count(b), count(a)) })
	for _, row := range largest[:min(len(largest), scatterListed)] {
		out.Rows = append(out.Rows, AnswerRow{
			Label: b.scatterLabel(bins[0], row.By[0]) + ", " + b.scatterLabel(bins[1], row.By[1]),
			Value: herb.Count(count(row)), Exact: herb.Count(count(row)),
			Href: b.scatterHref(bins, []query.GroupRow{row}), Share: max(1, 100*count(row)/max(1, count(largest[0]))),
			Class: "s1",
		})
	}
	if len(s.Points) == 0 {
		return
	}
	description := "Scatter plot of " + herb.Plural(b.Groups.Total, "row", "rows")
	for i, axis := range []plot.ScatterAxis{s.X, s.Y} {
		values := b.Groups.Rows[0].Values[3*i:]
		description += ". " + axis.Title + " from " + values[0] + " to " + values[1]
	}
	out.draw(herb.Clip(description, longestTip) + ".")
}

// longestTip is the number of characters of the description of a scatter plot: numbers can have a
// thousand digits.
const longestTip = 400

func (b *answerBuilder) scatterAxis(at int) plot.ScatterAxis {
	field := b.By[at].Field
	f := b.Question.fields[field]
	return plot.ScatterAxis{
		Title: format.PlainText(herb.Clip(columns.Heading(f), state.MaxChipText)),
		Unit:  query.Measure{Kind: query.MeasureMin, Field: field}.Unit(b.Question.fields),
		Plain: b.Question.data.Meanings[field].IsCode,
	}
}

// scatterEnds returns the ends of a value or an interval with a label. Values beyond the numbers of
// a computer are infinite, which charts draw at the edge.
func (b *answerBuilder) scatterEnds(by query.By, label string) (from, to float64) {
	if by.Width != "" {
		interval := by.Interval(herb.TypeNumber, label)
		from, _ = strconv.ParseFloat(interval.From, 64)
		to, _ = strconv.ParseFloat(interval.Next, 64)
		return from, to
	}
	canonical, _ := text.Canonical(&b.Question.fields[by.Field], label)
	from, _ = strconv.ParseFloat(canonical, 64)
	return from, from
}

// scatterLabel returns a value or an interval as readers write it, with all digits of a value
// unless it is long.
func (b *answerBuilder) scatterLabel(by query.By, label string) string {
	if by.Width != "" {
		return b.groupLabel(by, label)
	}
	f := b.Question.fields[by.Field]
	if b.Question.data.Meanings[by.Field].IsCode {
		return herb.Clip(label, state.MaxChipText)
	}
	return herb.Clip(format.GroupNumber(&f, label), state.MaxChipText)
}

// scatterMark returns what a reader learns about points that are close together, or about a cell.
func (b *answerBuilder) scatterMark(bins []query.By, points []int) plot.Mark {
	rows := make([]query.GroupRow, len(points))
	count := 0
	for i, p := range points {
		rows[i] = b.Cells.Rows[p]
		n, _ := strconv.Atoi(rows[i].Values[0])
		count += n
	}
	var lines []string
	for i, by := range bins {
		least, greatest := b.scatterRange(by, rows, i)
		line := columns.Heading(b.Question.fields[by.Field]) + " " + b.scatterLabel(by, least)
		if least != greatest {
			line += " – " + b.scatterLabel(by, greatest)
		}
		lines = append(lines, format.PlainText(line))
	}
	m := plot.Mark{Group: strings.Join(lines, ", "), Values: []string{herb.Plural(count, "row", "rows")},
		Href: b.scatterHref(bins, rows)}
	m.Title = m.Group + ": " + m.Values[0]
	return m
}

// scatterRange returns the labels of the least and the greatest value of an axis of groups.
func (b *answerBuilder) scatterRange(by query.By, rows []query.GroupRow, at int) (least, greatest string) {
	compare := func(a, o query.GroupRow) int {
		x, _ := b.scatterEnds(by, a.By[at])
		y, _ := b.scatterEnds(by, o.By[at])
		return cmp.Compare(x, y)
	}
	return slices.MinFunc(rows, compare).By[at], slices.MaxFunc(rows, compare).By[at]
}

// scatterHref returns the link to the scatter plot of points that are close together, or of a cell,
// and to the table of the rows of a single point.
func (b *answerBuilder) scatterHref(bins []query.By, rows []query.GroupRow) string {
	ps := b.AnyPage()
	for i, by := range bins {
		least, greatest := b.scatterRange(by, rows, i)
		if by.Width != "" || least == greatest {
			ps = filterGroups(b.State, ps, b.Question, by, least, greatest)
			continue
		}
		isRange := func(p query.Param) bool {
			field, op, ok := query.ResolveFilter(p.Name, b.State.Fields)
			return ok && field == by.Field && slices.Contains(query.RangeOps(), op) // the new range is within it
		}
		name := b.State.Fields[by.Field].Name
		ps = slices.DeleteFunc(slices.Clone(ps), isRange).
			With(query.Param{Name: query.FilterParam(name, query.OpGte), Value: least},
				query.Param{Name: query.FilterParam(name, query.OpLte), Value: greatest})
	}
	if len(rows) == 1 && bins[0].Width == "" {
		return b.TableHref(b.paths.Table, ps)
	}
	other := *b.State
	other.Question = b.Question.params()
	return state.Join(b.paths.Chart, other.WithOwn(ps).Encode())
}

// noteScatter says what the points or the cells of a scatter plot are.
func (b *answerBuilder) noteScatter() (notes []string) {
	x, y := columns.Heading(b.Question.fields[b.By[0].Field]), columns.Heading(b.Question.fields[b.By[1].Field])
	bins := b.bins(b.Aggregates)
	notes = append(notes, herb.Plural(b.All.Total, "row", "rows")+".")
	if bins[0].Width != "" {
		notes = append(notes, "More than "+herb.Count(MaxPoints)+" rows are counted in cells of "+
			edgeText(bins[0].Width)+" "+x+" by "+edgeText(bins[1].Width)+" "+y+".")
	}
	if missing := b.All.Total - b.Groups.Total; missing > 0 {
		notes = append(notes, "Not drawn: "+herb.Plural(missing, "row", "rows")+" without a value of "+x+" or "+y+".")
	}
	if b.Cells.Groups > len(b.Cells.Rows) {
		notes = append(notes, "Only the first "+herb.Count(len(b.Cells.Rows))+" of "+herb.Count(b.Cells.Groups)+
			" cells are drawn; add a filter.")
	}
	if len(b.Cells.Rows) > scatterListed {
		notes = append(notes, "The table lists the "+herb.Count(scatterListed)+
			" with the most rows; the CSV file has all.")
	}
	return notes
}
