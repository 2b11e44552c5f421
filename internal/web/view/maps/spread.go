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

// Axis is an axis of the positions of records.
type Axis int

const (
	Latitudes Axis = iota
	Longitudes
)

// WorldRequest returns the request that counts the positions of rows in strips of the world across
// an axis. NewPositionSpread reads the response.
func (a Axis) WorldRequest(req *query.Request) *query.GridRequest {
	if a == Longitudes {
		return a.request(req, -worldWidth/2, worldWidth/2)
	}
	return a.request(req, -worldHeight/2, worldHeight/2)
}

// request returns the request for strips between two coordinates.
func (a Axis) request(req *query.Request, low, high float64) *query.GridRequest {
	q := &query.GridRequest{Request: req, X: -1, Y: -1, Columns: 1, Rows: 1}
	if a == Longitudes {
		q.Columns, q.Bounds = query.MaxGridSide, query.Bounds{MinX: low, MinY: -worldHeight / 2, MaxX: high,
			MaxY: worldHeight / 2}
	} else {
		q.Rows, q.Bounds = query.MaxGridSide,
			query.Bounds{MinX: -worldWidth / 2, MinY: low, MaxX: worldWidth / 2, MaxY: high}
	}
	return q
}

// NewPositionSpread returns the distribution of positions along an axis by their numbers in strips.
// narrower is the request that finds the distribution more exactly; nil if it is exact enough.
func NewPositionSpread(a Axis, q *query.GridRequest, grid query.Grid) (s Spread, narrower *query.GridRequest) {
	counts, edges := alongAxis(q, grid)
	first := slices.IndexFunc(counts, func(n int) bool { return n > 0 })
	if first < 0 {
		return s, nil
	}
	last := len(counts) - 1
	for counts[last] == 0 {
		last--
	}
	s = Spread{Known: true, Least: edges[first], Greatest: edges[last+1], count: grid.Inside}
	s.First, s.Last = s.Least, s.Greatest
	s.narrow(counts, edges)
	const enough, leastWidth = query.MaxGridSide / 8, 1e-5 // strips; degrees, about a meter
	if last-first+1 >= enough || s.Greatest-s.Least < leastWidth {
		return s, nil
	}
	return s, a.request(q.Request, s.Least, s.Greatest)
}

// CutPositions returns the request that finds the percentiles of positions more exactly; nil if a
// map shows all rows on this axis anyway.
func (s *Spread) CutPositions(a Axis, req *query.Request) *query.GridRequest {
	if !isEnlarged(s.Greatest-s.Least, s.Last-s.First) || s.Last <= s.First {
		return nil
	}
	return a.request(req, s.First, s.Last)
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

// Cut sets the percentiles from the response to CutRequest or CutPositions.
func (s *Spread) Cut(q *query.GridRequest, grid query.Grid) { s.narrow(alongAxis(q, grid)) }

// alongAxis returns the counts of the strips of a grid of one row or one column, and their edges.
func alongAxis(q *query.GridRequest, grid query.Grid) (counts []int, edges []float64) {
	low, high := q.Bounds.MinX, q.Bounds.MaxX
	if q.Columns == 1 {
		low, high = q.Bounds.MinY, q.Bounds.MaxY
	}
	n := max(q.Columns, q.Rows)
	counts, edges = make([]int, n), make([]float64, n+1)
	for i := range edges {
		edges[i] = low + (high-low)*float64(i)/float64(n)
	}
	for _, c := range grid.Cells {
		counts[max(c.Column, c.Row)] = c.Count
	}
	return counts, edges
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
