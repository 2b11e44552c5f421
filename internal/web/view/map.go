package view

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/text"
)

// Pair is two number fields with geographic coordinates.
type Pair struct {
	Latitude, Longitude int // positions of the fields
	Link                    // to the map of the pair
}

// MapPairs returns the pairs of coordinates of a dataset: that of its descriptor, or else those
// whose names and values are latitudes and longitudes.
func MapPairs(d *herb.Dataset) (pairs []Pair) {
	if p, ok := declaredPair(d); ok {
		return []Pair{p}
	}
	longitudes := map[string]int{} // by stem
	for i, f := range d.Fields {
		if stem, ok := coordinateStem(f.Name, "longitude", "long", "lon", "lng"); ok && withinDegrees(d, i, -180, 360) {
			longitudes[stem] = i
		}
	}
	for i, f := range d.Fields {
		if stem, ok := coordinateStem(f.Name, "latitude", "lat"); ok && withinDegrees(d, i, -90, 90) {
			if longitude, ok := longitudes[stem]; ok {
				pairs = append(pairs, newPair(d, i, longitude))
			}
		}
	}
	return pairs
}

// PairIndex returns the position of the pair of a map that the state names; otherwise the first.
func PairIndex(s *State, pairs []Pair) int {
	return max(0, slices.IndexFunc(pairs, func(p Pair) bool { return s.fields[p.Latitude].Name == s.Map }))
}

func newPair(d *herb.Dataset, latitude, longitude int) Pair {
	return Pair{latitude, longitude, Link{Label: Heading(d.Fields[latitude]) + ", " + Heading(d.Fields[longitude])}}
}

// declaredPair returns the pair of coordinates in the descriptor of a dataset.
func declaredPair(d *herb.Dataset) (p Pair, ok bool) {
	var parts struct {
		Resource struct {
			Herbarium struct {
				Map struct{ Latitude, Longitude string }
			}
		}
	}
	if json.Unmarshal(d.Descriptor, &parts) != nil {
		return p, false
	}
	m := parts.Resource.Herbarium.Map
	latitude, longitude := herb.FieldIndex(d.Fields, m.Latitude), herb.FieldIndex(d.Fields, m.Longitude)
	if !isCoordinate(d, latitude) || !isCoordinate(d, longitude) {
		return p, false
	}
	return newPair(d, latitude, longitude), true
}

// isCoordinate reports whether the field at a position, if there is one, can be an axis of a map.
func isCoordinate(d *herb.Dataset, i int) bool {
	return i >= 0 && d.Fields[i].Type == herb.TypeNumber && d.Fields[i].Filterable
}

// coordinateStem returns the rest of a name such as pickup_latitude, startLat or reclat without one
// of the words. ok is false if the name contains none of them.
func coordinateStem(name string, words ...string) (stem string, ok bool) {
	parts := identifierWords(name)
	for _, word := range words {
		if i := slices.Index(parts, word); i >= 0 {
			return strings.Join(slices.Delete(parts, i, i+1), " "), true
		}
	}
	joined := strings.Join(parts, " ")
	for _, word := range words {
		if stem, ok := strings.CutSuffix(joined, word); ok {
			return stem, true
		}
	}
	return "", false
}

// withinDegrees reports whether the values of a coordinate, as far as they are known, are between
// low and high.
func withinDegrees(d *herb.Dataset, i int, low, high float64) bool {
	c := ColumnReport(d, i)
	if !isCoordinate(d, i) || c == nil || c.Min+c.Max == "" {
		return isCoordinate(d, i)
	}
	least, greatest, ok := parseRange(&d.Fields[i], c.Min, c.Max)
	return ok && least >= low && greatest <= high
}

// parseRange returns the numbers that the minimum and the maximum of a field represent.
func parseRange(f *herb.Field, minimum, maximum string) (least, greatest float64, ok bool) {
	low, status := text.Canonical(f, minimum)
	high, status2 := text.Canonical(f, maximum)
	least, err := strconv.ParseFloat(low, 64)
	greatest, err2 := strconv.ParseFloat(high, 64)
	return least, greatest, status == text.Valid && status2 == text.Valid && err == nil && err2 == nil
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
	Pairs      []Pair
	X, Y       string // names of the fields
	Title      string // name of the field that names the rows
	Total      int    // rows that match
	Located    int    // rows within the bounds
	West       int    // western end of the world
	ViewBox    string
	Transform  string // from cells to the map
	Levels     []Level
	Points     string       // URL of the points, empty if there are too many
	Grid       string       // URL of the numbers of rows in cells
	Call       query.Params // of the API call for the cells that are drawn
	Open       int          // position of the open record in the listing, from 0; -1: none
	PageLength int
}

// Level is the cells with a similar number of rows. The last level has the most.
type Level struct {
	Number          int
	Path            string
	Least, Greatest int // rows of a cell
}

// The numbers of cells of maps and of their previews, at most.
const (
	MapColumns     = 144
	PreviewColumns = 240
)

// NewMapRequest returns the request for the cells of a map that shows the rows with these ranges of
// values.
func NewMapRequest(d *herb.Dataset, p Pair, latitude, longitude query.Facet, req *query.Request, columns int) *query.GridRequest {
	west := westOf(d, p.Longitude, longitude)
	x := mapRange(&d.Fields[p.Longitude], longitude, west, west+360)
	y := mapRange(&d.Fields[p.Latitude], latitude, -90, 90)
	if x[1]-x[0] > 270 || y[1]-y[0] > 135 {
		x, y = [2]float64{west, west + 360}, [2]float64{-90, 90}
	}
	cell := math.Max((x[1]-x[0])/float64(columns), (y[1]-y[0])/float64(columns/2))
	across := func(r [2]float64) int { return max(1, int(math.Ceil((r[1]-r[0])/cell-1e-9))) }
	q := &query.GridRequest{Request: req, X: p.Longitude, Y: p.Latitude, Columns: across(x), Rows: across(y)}
	q.Bounds = query.Bounds{MinX: x[0], MinY: y[0], MaxX: x[0] + float64(q.Columns)*cell, MaxY: y[0] + float64(q.Rows)*cell}
	return q
}

// westOf returns the western end of the world for a field of longitudes: 0 if they are from 0 to
// 360. It depends on all rows, if their range is known, so that a filter does not change it.
func westOf(d *herb.Dataset, field int, longitude query.Facet) float64 {
	if c := ColumnReport(d, field); c != nil {
		longitude.Min, longitude.Max = c.Min, c.Max
	}
	if least, greatest, ok := parseRange(&d.Fields[field], longitude.Min, longitude.Max); ok && least >= 0 && greatest > 180 {
		return 0
	}
	return -180
}

// mapRange returns the range of degrees to show: that of the values with a margin, within low and
// high, or all degrees.
func mapRange(f *herb.Field, facet query.Facet, low, high float64) [2]float64 {
	least, greatest, ok := parseRange(f, facet.Min, facet.Max)
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
func NewMap(s *State, pairs []Pair, pair int, q *query.GridRequest, grid query.Grid, base string) *Map {
	m := &Map{
		Pairs: pairs, X: s.fields[q.X].Name, Y: s.fields[q.Y].Name, Title: s.fields[NamingColumn(s.dataset)].Name,
		Total: grid.Total, Located: grid.Inside, West: -1800, Open: -1, PageLength: q.Request.PerPage, Levels: newLevels(grid.Cells),
	}
	for i := range pairs {
		other := *s
		other.Map = s.fields[pairs[i].Latitude].Name
		pairs[i].Href, pairs[i].Current = other.Href(s.AnyPage()), i == pair
	}
	if s.Record > 0 {
		m.Open = q.Request.Offset() + s.Record - 1
	}
	b := q.Bounds
	if b.MaxX > 180 {
		m.West = 0
	}
	cell := (b.MaxX - b.MinX) / float64(q.Columns)
	m.ViewBox = formatNumbers(" ", 10*b.MinX, -10*b.MaxY, 10*(b.MaxX-b.MinX), 10*(b.MaxY-b.MinY))
	m.Transform = fmt.Sprintf("translate(%s) scale(%s)", formatNumbers(" ", 10*b.MinX, -10*b.MinY), formatNumbers(" ", 10*cell, -10*cell))
	m.setSources(s, q, base)
	return m
}

func formatNumbers(separator string, numbers ...float64) string {
	formatted := make([]string, len(numbers))
	for i, n := range numbers {
		formatted[i] = strconv.FormatFloat(n, 'f', -1, 32)
	}
	return strings.Join(formatted, separator)
}

// mapLevels is the number of colors of cells.
const mapLevels = 5

// newLevels groups cells by their counts, on a logarithmic scale.
func newLevels(cells []query.Cell) (levels []Level) {
	highest := 1
	for _, c := range cells {
		highest = max(highest, c.Count)
	}
	paths := make([]strings.Builder, mapLevels)
	for i := range mapLevels {
		levels = append(levels, Level{Number: i + 1, Least: highest})
	}
	for _, c := range cells {
		i := 0
		if highest > 1 {
			i = min(int(mapLevels*math.Log(float64(c.Count))/math.Log(float64(highest))), mapLevels-1)
		}
		fmt.Fprintf(&paths[i], "M%d %dh1v1h-1z", c.Column, c.Row)
		levels[i].Path, levels[i].Least, levels[i].Greatest = paths[i].String(), min(levels[i].Least, c.Count), max(levels[i].Greatest, c.Count)
	}
	return slices.DeleteFunc(levels, func(l Level) bool { return l.Path == "" })
}

// setSources sets the addresses of the data for the script, and the API call for the cells.
func (m *Map) setSources(s *State, q *query.GridRequest, base string) {
	rows := s.Listing.Without(query.ParamPage, query.ParamPerPage).WithValue(query.ParamVersion, s.Version)
	cells := rows.Without(query.ParamSort, query.ParamOrder).WithValue(query.ParamX, m.X).WithValue(query.ParamY, m.Y)
	m.Grid = Join(base+"/grid", cells.Encode())
	b := q.Bounds
	m.Call = cells.WithValue(query.ParamBounds, formatNumbers(",", b.MinX, b.MinY, b.MaxX, b.MaxY)).
		WithValue(query.ParamColumns, strconv.Itoa(q.Columns)).WithValue(query.ParamRows, strconv.Itoa(q.Rows))
	if m.Total > MapPoints {
		return
	}
	fields := []string{m.X, m.Y}
	if !slices.Contains(fields, m.Title) {
		fields = append(fields, m.Title)
	}
	if names := strings.Join(fields, ","); strings.Count(names, ",") == len(fields)-1 { // a name with a comma cannot be in a list
		rows = rows.WithValue(query.ParamFields, names)
	}
	m.Points = Join(base+"/data.ndjson", rows.Encode())
}
