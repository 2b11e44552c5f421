package maps

import (
	"math"

	"herbarium/internal/query"
	"herbarium/internal/web/view/columns"
)

// The numbers of cells of maps and of their previews, at most.
const (
	MapColumns     = 144
	PreviewColumns = 240
)

// Fit is the part of the world that a map shows.
type Fit struct {
	Grid *query.GridRequest // its cells
	West float64            // western end of the world
	All  *query.Bounds      // of the part with all rows; nil: Grid has it, or the URL names the part
	// InAll is the number of rows within All. The caller counts them.
	InAll int
}

// NewFit returns the part of the world that shows rows with these coordinates: all of them, or
// those between the percentiles if that enlarges the map considerably.
//
// shown is the bounds to show instead; empty: none.
func NewFit(d *columns.Dataset, p columns.Pair, latitude, longitude Spread, req *query.Request, columns int,
	shown string) Fit {
	west := westOf(d, p, longitude)
	q := &query.GridRequest{Request: RequestOf(p, req), X: p.Longitude, Y: p.Latitude, Columns: columns}
	if p.IsOneField() {
		q.X, q.Y = -1, -1 // the positions of records
	}
	if b, err := query.ParseBounds(shown); err == nil {
		q.Bounds = withinWorld(b, west)
		across, high := Stretch(q.Bounds)*(q.Bounds.MaxX-q.Bounds.MinX), q.Bounds.MaxY-q.Bounds.MinY
		q.Rows = max(1, min(columns, int(math.Round(float64(columns)*high/across))))
		return Fit{Grid: q, West: west}
	}
	all := boundsOf([2]float64{longitude.Least, longitude.Greatest}, [2]float64{latitude.Least, latitude.Greatest},
		west, longitude.Known && latitude.Known)
	most := boundsOf([2]float64{longitude.First, longitude.Last}, [2]float64{latitude.First, latitude.Last}, west,
		longitude.Known && latitude.Known)
	fit := Fit{Grid: q, West: west}
	isPoint := longitude.First == longitude.Last && latitude.First == latitude.Last
	if !isPoint && (isEnlarged(all.MaxX-all.MinX, most.MaxX-most.MinX) ||
		isEnlarged(all.MaxY-all.MinY, most.MaxY-most.MinY)) {
		fit.All = &all
		fit.setCells(most, columns)
	} else {
		fit.setCells(all, columns)
	}
	return fit
}

// isEnlarged reports whether a map is considerably larger if it shows less of an axis.
func isEnlarged(all, less float64) bool { return all > 1.5*less }

// setCells sets the cells of a part of the world: squares on the map, and at most half as many rows
// as columns. They may extend beyond the part.
func (f *Fit) setCells(b query.Bounds, columns int) {
	c, q := Stretch(b), f.Grid
	cell := math.Max(c*(b.MaxX-b.MinX)/float64(columns), (b.MaxY-b.MinY)/float64(columns/2))
	across := func(length float64) int { return max(1, int(math.Ceil(length/cell-1e-9))) }
	q.Columns, q.Rows = across(c*(b.MaxX-b.MinX)), across(b.MaxY-b.MinY)
	q.Bounds = query.Bounds{MinX: b.MinX, MinY: b.MinY, MaxX: b.MinX + float64(q.Columns)*cell/c,
		MaxY: b.MinY + float64(q.Rows)*cell}
}

// Sizes in degrees.
const (
	worldWidth, worldHeight = 360, 180
	leastSide               = 0.0002 // of a part that a map shows
	fineBelow               = 100    // width of a part that has the detailed coast
)

// LeastSide returns the smallest side of a part of the world that a map shows, in degrees.
func (m *Map) LeastSide() float64 { return leastSide }

// FineBelow returns the width of a part of the world below which it has the detailed coast, in
// degrees.
func (m *Map) FineBelow() float64 { return fineBelow }

// IsFine reports whether a part of the world is small enough for the detailed coast, which is
// loaded for such parts only.
func IsFine(b query.Bounds) bool { return b.MaxX-b.MinX < fineBelow }

// withinWorld moves and shrinks bounds such that their center is on the map, and enlarges those
// that are too small.
func withinWorld(b query.Bounds, west float64) query.Bounds {
	side := func(low, high, from, length float64) (float64, float64) {
		center := math.Max(from, math.Min((low+high)/2, from+length))
		size := math.Max(leastSide, math.Min(high-low, 2*length))
		return center - size/2, center + size/2
	}
	b.MinX, b.MaxX = side(b.MinX, b.MaxX, west, worldWidth)
	b.MinY, b.MaxY = side(b.MinY, b.MaxY, -worldHeight/2, worldHeight)
	return b
}

// RequestOf returns a listing for counts of its rows by the positions of a pair, if one field has
// both coordinates.
func RequestOf(p columns.Pair, req *query.Request) *query.Request {
	if !p.IsOneField() {
		return req
	}
	other := *req
	other.Area.Coordinates = p.Name()
	return &other
}

// westOf returns the western end of the world for a field of longitudes: 0 if they are from 0 to
// 360. It depends on all rows, if their range is known, so that a filter does not change it.
func westOf(d *columns.Dataset, p columns.Pair, longitude Spread) float64 {
	if c := d.Meanings[p.Longitude].Report; c != nil && !p.IsOneField() {
		if least, greatest, ok := columns.ParseRange(&d.Fields[p.Longitude], c.Min, c.Max); ok {
			longitude = Spread{Known: true, Least: least, Greatest: greatest}
		}
	}
	if longitude.Known && longitude.Least >= 0 && longitude.Greatest > 180 {
		return 0
	}
	return -180
}

// boundsOf returns the part of the world with ranges of longitudes and latitudes and a margin, or
// the world if it is most of it or nothing is known.
func boundsOf(longitude, latitude [2]float64, west float64, known bool) query.Bounds {
	x := withMargin(longitude, west, west+worldWidth)
	y := withMargin(latitude, -worldHeight/2, worldHeight/2)
	const mostX, mostY = 270, 135
	if !known || x[1]-x[0] > mostX || y[1]-y[0] > mostY {
		return query.Bounds{MinX: west, MinY: -worldHeight / 2, MaxX: west + worldWidth, MaxY: worldHeight / 2}
	}
	return query.Bounds{MinX: x[0], MinY: y[0], MaxX: x[1], MaxY: y[1]}
}

// withMargin returns a range of degrees with a margin, within low and high; all of them if it is
// outside.
func withMargin(r [2]float64, low, high float64) [2]float64 {
	least, greatest := math.Max(r[0], low), math.Min(r[1], high)
	if !(least <= greatest) {
		return [2]float64{low, high}
	}
	const leastMargin = 0.01
	margin := math.Max((greatest-least)/12, leastMargin)
	return [2]float64{math.Max(least-margin, low), math.Min(greatest+margin, high)}
}
