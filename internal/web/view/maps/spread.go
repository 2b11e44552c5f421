package maps

import (
	"math"
	"slices"
	"strconv"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/web/view/columns"
)

// The percentiles of coordinates that a map shows at least.
const (
	firstPercentile = 1
	lastPercentile  = 99
)

// Spread is the distribution of the coordinates of rows on one axis. The zero value means no rows.
type Spread struct {
	Known           bool
	Least, Greatest float64
	// First and Last are the percentiles that a map shows: a few wrong coordinates, such as 0, 0,
	// do not shrink the others to a dot.
	First, Last float64

	count, before int // rows, and those before First
}

// NewSpread returns the distribution of the numbers of a facet. The percentiles are the edges of
// the buckets around them.
func NewSpread(f *herb.Field, facet query.Facet) (s Spread) {
	s.Least, s.Greatest, s.Known = columns.ParseRange(f, facet.Min, facet.Max)
	s.First, s.Last, s.count = s.Least, s.Greatest, facet.Total-facet.Empty
	counts, edges := make([]int, len(facet.Histogram)), make([]float64, len(facet.Histogram)+1)
	for i, b := range facet.Histogram {
		counts[i] = b.Count
		edges[i], _ = strconv.ParseFloat(b.From, 64)
		edges[i+1], _ = strconv.ParseFloat(b.To, 64)
	}
	s.narrow(counts, edges)
	return s
}

// NewExactSpread returns the distribution of coordinates, which it sorts.
func NewExactSpread(values []float64) (s Spread) {
	if len(values) == 0 {
		return s
	}
	slices.Sort(values)
	s = Spread{Known: true, Least: values[0], Greatest: values[len(values)-1], count: len(values)}
	s.First, s.Last = values[s.rank(firstPercentile)-1], values[s.rank(lastPercentile)-1]
	return s
}

// rank returns the position of a percentile among the sorted values, from 1.
func (s *Spread) rank(percent int) int { return (percent*s.count + 99) / 100 }

// CutRequest returns the request that finds the percentiles more exactly; nil if a map shows all
// rows on this axis anyway.
func (s *Spread) CutRequest(req *query.Request, field int) *query.GridRequest {
	if !isEnlarged(s.Greatest-s.Least, s.Last-s.First) || math.IsInf(s.Greatest-s.Least, 0) || s.Last <= s.First {
		return nil
	}
	return &query.GridRequest{
		Request: req, X: field, Y: field, Columns: query.MaxGridSide, Rows: 1,
		Bounds: query.Bounds{MinX: s.First, MinY: s.First, MaxX: s.Last, MaxY: s.Last},
	}
}

// Cut sets the percentiles from the response to CutRequest.
func (s *Spread) Cut(q *query.GridRequest, grid query.Grid) {
	counts, edges := make([]int, q.Columns), make([]float64, q.Columns+1)
	for i := range edges {
		edges[i] = q.Bounds.MinX + (q.Bounds.MaxX-q.Bounds.MinX)*float64(i)/float64(q.Columns)
	}
	for _, c := range grid.Cells {
		counts[c.Column] = c.Count
	}
	s.narrow(counts, edges)
}

// narrow sets the percentiles to the edges around them. The counts begin after s.before rows.
func (s *Spread) narrow(counts []int, edges []float64) {
	first, last, sum := s.rank(firstPercentile), s.rank(lastPercentile), s.before
	for i, n := range counts {
		if sum < first && first <= sum+n {
			s.First, s.before = math.Max(edges[i], s.Least), sum
		}
		if sum < last && last <= sum+n {
			s.Last = math.Min(edges[i+1], s.Greatest)
		}
		sum += n
	}
}
