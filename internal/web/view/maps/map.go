package maps

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/web/view/columns"
	"herbarium/internal/web/view/state"
)

// PairIndex returns the position of the pair of a map that the state names; otherwise the first.
func PairIndex(s *state.State, pairs []columns.Pair) int {
	return max(0, slices.IndexFunc(pairs, func(p columns.Pair) bool { return s.Fields[p.Latitude].Name == s.Map }))
}

// MapPoints is the maximum number of rows that a map shows as points.
const MapPoints = 20_000

// Map is the map of a listing. The server draws the numbers of rows in cells; the script replaces
// them by points, or by cells of the part that is shown.
//
// Its unit is a tenth of a degree; y increases to the south. Longitudes are -180 to 180, or 0 to
// 360 if the field has them so, so that filters by a range of longitudes select the rows in that
// part of the map.
type Map struct {
	Pairs      []PairLink
	X, Y       string // names of the fields
	Tip        string // what a tip shows of a row: JSON of []tipField
	Total      int    // rows that match
	Located    int    // rows within the bounds
	Zoomed     bool   // the URL has the bounds
	West       int    // western end of the world
	ViewBox    string
	Center     string // where most rows are
	Fine       bool   // the part is small enough for the detailed coast
	Labels     []Place
	TextSize   float64 // of the labels, in the unit of the map
	In, Out    string  // links that zoom; In is empty at the smallest part
	Fit        string  // link to the part with all rows
	Transform  string  // from cells to the map
	Levels     []Level
	Points     string       // URL of the points, empty if there are too many
	Grid       string       // URL of the numbers of rows in cells; empty: the field has geometries
	Range      string       // link that filters by a part of the map, see state.RangeHref; empty: the field has geometries
	Limited    bool         // only the first rows, up to MapPoints, are on the map
	Call       query.Params // of the API call for the cells that are drawn
	Open       int          // position of the open record in the listing, from 0; -1: none
	PageLength int
}

// PairLink is a pair of coordinates with the link to its map.
type PairLink struct {
	columns.Pair
	state.Link
}

func newPairLink(s *state.State, p columns.Pair, current bool) PairLink {
	other := *s
	other.Map = s.Fields[p.Latitude].Name
	label := columns.Heading(s.Fields[p.Latitude])
	if !p.WKT {
		label += ", " + columns.Heading(s.Fields[p.Longitude])
	}
	return PairLink{p, state.Link{Label: label, Href: other.Href(s.AnyPage()), Current: current}}
}

// MaxRows returns how many rows a map of geometries shows.
func (m *Map) MaxRows() int { return MapPoints }

// The numbers of cells of maps and of their previews, at most.
const (
	MapColumns     = 144
	PreviewColumns = 240
)

// NewMapRequest returns the request for the cells of a map that shows the rows with these ranges of
// values.
//
// shown is the bounds to show instead; empty: none.
func NewMapRequest(d *columns.Dataset, p columns.Pair, latitude, longitude query.Facet, req *query.Request, columns int, shown string) *query.GridRequest {
	west := westOf(d, p.Longitude, longitude)
	if b, err := query.ParseBounds(shown); err == nil {
		b = withinWorld(b, west)
		rows := max(1, min(columns, int(math.Round(float64(columns)*(b.MaxY-b.MinY)/(b.MaxX-b.MinX)))))
		return &query.GridRequest{Request: req, X: p.Longitude, Y: p.Latitude, Columns: columns, Rows: rows, Bounds: b}
	}
	axis := func(i int) *herb.Field {
		if p.WKT {
			return &herb.Field{Type: herb.TypeNumber} // of the parsed geometries
		}
		return &d.Fields[i]
	}
	x := mapRange(axis(p.Longitude), longitude, west, west+360)
	y := mapRange(axis(p.Latitude), latitude, -90, 90)
	if x[1]-x[0] > 270 || y[1]-y[0] > 135 {
		x, y = [2]float64{west, west + 360}, [2]float64{-90, 90}
	}
	cell := math.Max((x[1]-x[0])/float64(columns), (y[1]-y[0])/float64(columns/2))
	across := func(r [2]float64) int { return max(1, int(math.Ceil((r[1]-r[0])/cell-1e-9))) }
	q := &query.GridRequest{Request: req, X: p.Longitude, Y: p.Latitude, Columns: across(x), Rows: across(y)}
	q.Bounds = query.Bounds{MinX: x[0], MinY: y[0], MaxX: x[0] + float64(q.Columns)*cell, MaxY: y[0] + float64(q.Rows)*cell}
	return q
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

// westOf returns the western end of the world for a field of longitudes: 0 if they are from 0 to
// 360. It depends on all rows, if their range is known, so that a filter does not change it.
func westOf(d *columns.Dataset, field int, longitude query.Facet) float64 {
	if c := d.Meanings[field].Report; c != nil {
		longitude.Min, longitude.Max = c.Min, c.Max
	}
	if least, greatest, ok := columns.ParseRange(&d.Fields[field], longitude.Min, longitude.Max); ok && least >= 0 && greatest > 180 {
		return 0
	}
	return -180
}

// mapRange returns the range of degrees to show: that of the values with a margin, within low and
// high, or all degrees.
func mapRange(f *herb.Field, facet query.Facet, low, high float64) [2]float64 {
	least, greatest, ok := columns.ParseRange(f, facet.Min, facet.Max)
	least, greatest = math.Max(least, low), math.Min(greatest, high)
	if !ok || least > greatest {
		return [2]float64{low, high}
	}
	const leastMargin = 0.01
	margin := math.Max((greatest-least)/12, leastMargin)
	return [2]float64{math.Max(least-margin, low), math.Min(greatest+margin, high)}
}

// NewMap returns the map of a listing with the cells of a grid. base is the path of the dataset's
// table.
func NewMap(s *state.State, pairs []columns.Pair, pair int, q *query.GridRequest, grid query.Grid, base string, places []Place) *Map {
	m := &Map{
		X: s.Fields[q.X].Name, Y: s.Fields[q.Y].Name, Zoomed: s.Bounds != "",
		Total: grid.Total, Located: grid.Inside, West: -1800, Open: -1, PageLength: q.Request.PerPage, Levels: newLevels(grid),
	}
	for i := range pairs {
		m.Pairs = append(m.Pairs, newPairLink(s, pairs[i], i == pair))
	}
	if s.Record > 0 {
		m.Open = q.Request.Offset() + s.Record - 1
	}
	b := q.Bounds
	if westOf(s.Dataset, q.X, query.Facet{Min: strconv.FormatFloat(b.MinX, 'f', -1, 64), Max: strconv.FormatFloat(b.MaxX, 'f', -1, 64)}) == 0 {
		m.West = 0
	}
	m.ViewBox, m.Transform = viewBox(b), cellTransform(q)
	m.Center = formatNumbers(" ", centerOf(q, grid.Cells)...)
	m.Fine, m.Labels, m.TextSize = IsFine(b), newLabels(places, b, m.West), labelSize/scaleOf(b)
	m.setZoom(s, b)
	m.setSources(s, q, base)
	return m
}

// viewBox returns the part of the map within bounds.
func viewBox(b query.Bounds) string {
	return formatNumbers(" ", 10*b.MinX, -10*b.MaxY, 10*(b.MaxX-b.MinX), 10*(b.MaxY-b.MinY))
}

// cellTransform returns the SVG transform from cells of a grid to the map.
func cellTransform(q *query.GridRequest) string {
	b := q.Bounds
	width, height := (b.MaxX-b.MinX)/float64(q.Columns), (b.MaxY-b.MinY)/float64(q.Rows)
	return fmt.Sprintf("translate(%s) scale(%s)", formatNumbers(" ", 10*b.MinX, -10*b.MinY), formatNumbers(" ", 10*width, -10*height))
}

// IsFine reports whether a part of the world is small enough for the detailed coast, which is
// loaded for such parts only.
func IsFine(b query.Bounds) bool { return b.MaxX-b.MinX < fineBelow }

func formatNumbers(separator string, numbers ...float64) string {
	formatted := make([]string, len(numbers))
	for i, n := range numbers {
		formatted[i] = strconv.FormatFloat(n, 'f', -1, 32)
	}
	return strings.Join(formatted, separator)
}

// setSources sets the addresses of the data for the script, and the API call for the cells.
func (m *Map) setSources(s *state.State, q *query.GridRequest, base string) {
	rows := s.Listing.Without(query.ParamPage, query.ParamPerPage).WithValue(query.ParamVersion, s.Version)
	cells := rows.Without(query.ParamSort, query.ParamOrder).WithValue(query.ParamX, m.X).WithValue(query.ParamY, m.Y)
	m.Grid = state.Join(base+"/grid", cells.Encode())
	b := q.Bounds
	wkt := m.X == m.Y
	if wkt {
		m.Grid, m.Limited = "", m.Total > MapPoints
	} else {
		m.Range = s.RangeHref(query.OpLte, q.X, q.Y)
	}
	m.Call = cells.WithValue(query.ParamBounds, formatNumbers(",", b.MinX, b.MinY, b.MaxX, b.MaxY)).
		WithValue(query.ParamColumns, strconv.Itoa(q.Columns)).WithValue(query.ParamRows, strconv.Itoa(q.Rows))
	if m.Total > MapPoints || wkt && !slices.ContainsFunc(m.Pairs, func(p PairLink) bool { return p.Points && s.Fields[p.Latitude].Name == m.X }) {
		return
	}
	fields := slices.Compact([]string{m.X, m.Y}) // one, if it has geometries
	tips := tipFields(s, m.Pairs)
	for _, tip := range tips {
		if !slices.Contains(fields, tip.Name) {
			fields = append(fields, tip.Name)
		}
	}
	encoded, _ := json.Marshal(tips) // strings
	m.Tip = string(encoded)
	if names := strings.Join(fields, ","); strings.Count(names, ",") == len(fields)-1 { // a name with a comma cannot be in a list
		rows = rows.WithValue(query.ParamFields, names)
	}
	m.Points = state.Join(base+"/data.ndjson", rows.Encode())
}
