package maps

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/web/view/columns"
	"herbarium/internal/web/view/state"
)

// PairIndex returns the position of the pair of a map: the one in which the listing selects an
// area, or the one that the state names; otherwise the first.
func PairIndex(s *state.State, pairs []columns.Pair) int {
	if s.HasArea() {
		return max(0, slices.IndexFunc(pairs,
			func(p columns.Pair) bool { return p.Name() == s.Listing.Get(query.ParamCoordinates) }))
	}
	return max(0, slices.IndexFunc(pairs, func(p columns.Pair) bool { return s.Fields[p.Latitude].Name == s.Map }))
}

// MapPoints is the maximum number of rows that a map shows as points.
const MapPoints = 25_000

// Map is the map of a listing. The server draws the numbers of rows in cells; the script replaces
// them by points, or by cells of the part that is shown.
//
// Its unit is a tenth of a degree; y increases to the south. The SVG is projected: its x is
// multiplied by Stretch. Longitudes are -180 to 180, or 0 to
// 360 if the field has them so, so that filters by a range of longitudes select the rows in that
// part of the map.
type Map struct {
	Pairs     []PairLink
	X, Y      string                   // names of the fields
	Notation  herb.CoordinatesNotation // of one field with both
	Numbers   string                   // how the fields write numbers: JSON of both numberNotations
	Tip       string                   // what a tip shows of a row: JSON of []tipField
	Total     int                      // rows that match
	Located   int                      // rows within the bounds
	Zoomed    bool                     // the URL has the bounds
	West      int                      // western end of the world
	View      string                   // the part that is shown
	ViewBox   string                   // the same, projected
	Stretch   float64                  // see Stretch
	All       string                   // link to the part with all rows; empty: it is shown, or the URL has the bounds
	Mapped    int                      // rows on the map of all rows, if All is set
	Center    string                   // where most rows are
	Fine      bool                     // the part is small enough for the detailed coast
	Labels    []Place
	TextSize  float64 // of the labels, in the unit of the SVG
	In, Out   string  // links that zoom; In is empty at the smallest part
	Fit       string  // link to the part that the server chooses
	Transform string  // from cells to the map
	Levels    []Level
	Points    string // URL of the points, empty if there are too many
	Grid      string // URL of the numbers of rows in cells
	// link that filters by a part of the map, see state.RangeHref; empty: one field has both
	// coordinates
	Range      string
	Box        string // that link in this case, see state.BoxHref
	Scales     Scales
	Menus      []ScaleMenu
	Hidden     query.Params // of the form of the menus
	Bar        ScaleBar
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
	if s.HasArea() && !current { // the area is one of other coordinates
		other.Listing = s.WithoutArea()
	}
	label := columns.Heading(s.Fields[p.Latitude])
	if !p.IsOneField() {
		label += ", " + columns.Heading(s.Fields[p.Longitude])
	}
	return PairLink{p, state.Link{Label: label, Href: other.Href(other.AnyPage()), Current: current}}
}

// Label returns the name of the map for assistive technology: what the points show, and the keys.
func (m *Map) Label() string {
	label := "Map"
	if m.Scales.Size != nil && m.Points != "" {
		label += ", points sized by " + m.Scales.Size.Heading
	}
	if m.Scales.Color != nil && m.Points != "" {
		label += ", points colored by " + m.Scales.Color.Heading
	}
	return label + "; arrow keys move it, plus and minus zoom"
}

// Outside returns how many rows are outside the part that the server chose.
func (m *Map) Outside() int { return m.Mapped - m.Located }

// MaxRows returns how many rows a map shows as points.
func (m *Map) MaxRows() int { return MapPoints }

// NewMap returns the map of a listing with the cells of a grid. base is the path of the dataset's
// table.
func NewMap(s *state.State, pairs []columns.Pair, pair int, fit Fit, grid query.Grid, scales Scales, base string,
	places []Place) *Map {
	q, b := fit.Grid, fit.Grid.Bounds
	m := &Map{
		X: s.Fields[pairs[pair].Longitude].Name, Y: s.Fields[pairs[pair].Latitude].Name, Notation: pairs[pair].Notation,
		Zoomed: s.Bounds != "",
		Total:  grid.Total, Located: grid.Inside, West: int(10 * fit.West), Open: -1, PageLength: q.Request.PerPage,
		Levels: newLevels(grid),
	}
	numbers, _ := json.Marshal([]numberNotation{newNotation(&s.Fields[pairs[pair].Longitude]),
		newNotation(&s.Fields[pairs[pair].Latitude])})
	m.Numbers = string(numbers)
	for i := range pairs {
		m.Pairs = append(m.Pairs, newPairLink(s, pairs[i], i == pair))
	}
	if s.Record > 0 {
		m.Open = q.Request.Offset() + s.Record - 1
	}
	m.View = formatNumbers(" ", 10*b.MinX, -10*b.MaxY, 10*(b.MaxX-b.MinX), 10*(b.MaxY-b.MinY))
	m.ViewBox, m.Transform, m.Stretch = viewBox(b), cellTransform(q), Stretch(b)
	if fit.All != nil {
		all := *s
		all.Bounds = formatBounds(*fit.All)
		m.All, m.Mapped = all.Href(s.Listing), fit.InAll
	}
	m.Center = formatNumbers(" ", centerOf(q, grid.Cells)...)
	m.Fine, m.Labels, m.TextSize = IsFine(b), newLabels(places, b, m.West), m.Stretch*labelSize/scaleOf(b)
	m.Bar, m.Scales, m.Menus = newScaleBar(b), scales, newScaleMenus(s, pairs)
	m.Hidden = s.Hidden(state.ParamColor, state.ParamSize)
	m.setZoom(s, b)
	m.setSources(s, pairs[pair], q, base)
	return m
}

func formatNumbers(separator string, numbers ...float64) string {
	formatted := make([]string, len(numbers))
	for i, n := range numbers {
		formatted[i] = strconv.FormatFloat(n, 'f', -1, 32)
	}
	return strings.Join(formatted, separator)
}

// setSources sets the addresses of the data for the script, and the API call for the cells.
func (m *Map) setSources(s *state.State, p columns.Pair, q *query.GridRequest, base string) {
	rows := s.Listing.Without(query.ParamPage, query.ParamPerPage).WithValue(query.ParamVersion, s.Version)
	cells, b := rows.Without(query.ParamSort, query.ParamOrder), q.Bounds
	if p.IsOneField() {
		cells, m.Box = cells.Without(query.ParamCoordinates).WithValue(query.ParamCoordinates, p.Name()),
			s.BoxHref(p.Name())
	} else {
		cells, m.Range = cells.WithValue(query.ParamX, m.X).WithValue(query.ParamY, m.Y),
			s.RangeHref(query.OpLte, q.X, q.Y)
	}
	m.Grid = state.Join(base+"/grid", cells.Encode())
	m.Call = cells.WithValue(query.ParamBounds, formatNumbers(",", b.MinX, b.MinY, b.MaxX, b.MaxY)).
		WithValue(query.ParamColumns, strconv.Itoa(q.Columns)).WithValue(query.ParamRows, strconv.Itoa(q.Rows))
	if m.Total > MapPoints || p.IsOneField() && !hasOnlyPoints(s, p) {
		return
	}
	fields := slices.Compact([]string{m.X, m.Y}) // one, if it has geometries
	tips := tipFields(s, m.Pairs)
	used := []string{s.Color, s.Size}
	for _, tip := range tips {
		used = append(used, tip.field)
		if tip.Name != tip.field && rows.Get(query.ParamLabels) == "" {
			rows = rows.WithValue(query.ParamLabels, "true")
		}
	}
	for _, name := range used {
		if name != "" && !slices.Contains(fields, name) {
			fields = append(fields, name)
		}
	}
	encoded, _ := json.Marshal(tips) // strings
	m.Tip = string(encoded)
	// a name with a comma cannot be in a list
	if names := strings.Join(fields, ","); strings.Count(names, ",") == len(fields)-1 {
		rows = rows.WithValue(query.ParamFields, names)
	}
	m.Points = state.Join(base+"/data.ndjson", rows.Encode())
}

// hasOnlyPoints reports whether all values of a field with both coordinates are points, which the
// script reads. Of geometries, the first and the last value say so.
func hasOnlyPoints(s *state.State, p columns.Pair) bool {
	c := s.Dataset.Meanings[p.Latitude].Report
	begin := func(prefix string) bool {
		return c != nil && strings.HasPrefix(c.Min, prefix) && strings.HasPrefix(c.Max, prefix)
	}
	switch p.Notation {
	case herb.NotationWKT:
		return begin("POINT")
	case herb.NotationGeoJSON:
		return begin(`{"type":"Point","coordinates":[`) || begin(`{"type": "Point", "coordinates": [`)
	}
	return true
}
