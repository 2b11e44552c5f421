package segmenttest

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"testing"

	"herbarium/internal/geo"
	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/testseed"
)

// place is the position of a record in units of 1e-7 degrees, as the rules of boxes and distances
// see it.
type place struct {
	known               bool
	longitude, latitude int64
}

// placesOf returns the positions that a request refers to, by record; nil if it refers to none.
//
// Rule: docs/api.md, "Where records are".
func (o *Oracle) placesOf(a *query.Area) ([]place, error) {
	at, err := a.Select(o.coordinates())
	if err != nil || at < 0 {
		return nil, err
	}
	return o.places(at), nil
}

// places returns the positions of all records.
//
// Rule: docs/api.md, "Where records are".
func (o *Oracle) places(at int) []place {
	reader, _ := geo.NewReader(o.coordinates()[at], o.fields)
	places := make([]place, len(o.records))
	for i, record := range o.records {
		if p := reader.Point(record); p.IsPosition() {
			places[i] = place{true, int64(p.Longitude), int64(p.Latitude)}
		}
	}
	return places
}

// isInArea reports whether a record meets the box and the distance of a request.
//
// Rule: docs/api.md, "Where records are".
func (p place) isInArea(a *query.Area) bool {
	if a.HasPosition() && !p.known {
		return false
	}
	if b := a.Box; b != nil {
		const antimeridian = 180 * 1e7
		isBetween := func(x int64) bool {
			if b.West <= b.East {
				return b.West <= x && x <= b.East
			}
			return x >= b.West || x <= b.East
		}
		isMeridian := isBetween(p.longitude) || (p.longitude == antimeridian || p.longitude == -antimeridian) &&
			(isBetween(antimeridian) || isBetween(-antimeridian))
		if !isMeridian || p.latitude < b.South || p.latitude > b.North {
			return false
		}
	}
	return a.Near == nil || p.millimeters(a.Near) <= a.Near.Millimeters
}

// millimeters returns the distance from the center of a circle: the angle between two vectors.
//
// Rule: docs/api.md, "Where records are".
func (p place) millimeters(c *geo.Circle) int {
	vector := func(longitude, latitude int64) [3]float64 {
		x, y := float64(longitude)/1e7*math.Pi/180, float64(latitude)/1e7*math.Pi/180
		return [3]float64{math.Cos(y) * math.Cos(x), math.Cos(y) * math.Sin(x), math.Sin(y)}
	}
	a, b := vector(p.longitude, p.latitude), vector(int64(c.Center.Longitude), int64(c.Center.Latitude))
	cross := [3]float64{a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]}
	angle := math.Atan2(math.Sqrt(cross[0]*cross[0]+cross[1]*cross[1]+cross[2]*cross[2]), a[0]*b[0]+a[1]*b[1]+a[2]*b[2])
	return int(math.Round(angle * 6371008.8 * 1000))
}

// RunPlaces compares boxes, distances and orders by distance of an engine with the oracle, on
// random positions around the poles, the antimeridian and a few centers.
func RunPlaces(t *testing.T, e Engine) {
	first := testseed.Seed(t)
	for i := range uint64(12) {
		t.Run(strconv.FormatUint(first+i, 10), func(t *testing.T) {
			t.Parallel()
			if err := checkPlaces(t, e, first+i); err != nil {
				t.Error(err)
			}
		})
	}
}

func checkPlaces(t *testing.T, e Engine, seed uint64) error {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 1)), words: vocabulary, skew: 1}
	fields := []herb.Field{
		{Name: "latitude", Type: herb.TypeNumber, Filterable: true, Sortable: true},
		{Name: "longitude", Type: herb.TypeNumber, Filterable: true},
		{Name: "name", Type: herb.TypeText, Searchable: true, Filterable: true, Sortable: true},
		{Name: "end_lat", Type: herb.TypeNumber, Filterable: true},
		{Name: "end_lon", Type: herb.TypeNumber, Filterable: true},
	}
	size := pick(g, []int{0, 1, 30, 300, 5000})
	centers := make([][2]float64, 1+g.IntN(3))
	for i := range centers {
		centers[i] = pick(g, [][2]float64{{0, 90}, {17, -90}, {180, 0}, {-180, 40}, {179.999, -60}, {8.54, 47.37},
			{0, 0}, {360 * g.Float64(), 180*g.Float64() - 90}})
	}
	position := func() (longitude, latitude string) {
		c := pick(g, centers)
		reach := pick(g, []float64{0, 0, 1e-7, 0.01, 1, 30})
		x, y := c[0]+reach*(2*g.Float64()-1), c[1]+reach*(2*g.Float64()-1)
		if x > 360 || x < -180 {
			x = pick(g, []float64{-180, 180, 360})
		}
		y = max(-90, min(90, y))
		digits := pick(g, []int{0, 2, 7, 9})
		return strconv.FormatFloat(x, 'f', digits, 64), strconv.FormatFloat(y, 'f', digits, 64)
	}
	records := make([]herb.Record, size)
	for i := range records {
		if i > 0 && g.chance(20) { // equal positions
			records[i] = records[g.IntN(i)]
			continue
		}
		x, y := position()
		x2, y2 := position()
		records[i] = herb.Record{y, x, g.word(), y2, x2}
		for k := range records[i] {
			if g.chance(5) {
				records[i][k] = ""
			}
		}
	}
	o, l := NewOracle(fields, records), e.Open(t, fields, records)
	operand := func() (x, y string) {
		if len(records) > 0 && g.chance(70) {
			r := pick(g, records)
			if v, err := strconv.ParseFloat(r[1], 64); err == nil && v <= 180 && r[0] != "" {
				return r[1], r[0]
			}
		}
		return strconv.FormatFloat(360*g.Float64()-180, 'f', 3, 64), strconv.FormatFloat(180*g.Float64()-90, 'f', 3, 64)
	}
	for i := range 40 {
		params := url.Values{}
		if g.chance(60) {
			x, y := operand()
			x2, y2 := operand()
			if a, _ := strconv.ParseFloat(y, 64); a > mustFloat(y2) {
				y, y2 = y2, y
			}
			params.Set(query.ParamBox, x+","+y+","+x2+","+y2)
			if g.chance(10) {
				params.Set(query.ParamBox,
					pick(g, []string{"-180,-90,180,90", "180,-90,-180,90", "179.9,-90,180,90", "-180,-90,-179,90",
						"0,89,0,90", "170,-90,-170,-80"}))
			}
		}
		if g.chance(60) || len(params) == 0 {
			x, y := operand()
			meters := pick(g, []string{"0", "0.001", "1", "1000", "50000", "3e6", "1e7", "2.1e7"})
			if len(records) > 0 && g.chance(40) { // the border is at a record
				c, err := geo.ParseCircle(query.ParamNear, y+","+x+",0")
				if p := pick(g, o.places(0)); err == nil && p.known {
					meters = strconv.FormatFloat(float64(p.millimeters(&c))/1000, 'f', 3, 64)
				}
			}
			params.Set(query.ParamNear, y+","+x+","+meters)
		}
		if g.chance(20) {
			params.Set(query.ParamCoordinates, pick(g, []string{"latitude", "end_lat"}))
		}
		if g.chance(20) {
			params.Set("name", g.word())
		}
		if g.chance(10) {
			params.Set(query.ParamSearch, g.word())
		}
		counting := params.Encode()
		if params.Has(query.ParamNear) && g.chance(70) {
			params.Set(query.ParamSort,
				pick(g, []string{query.SortDistance, query.SortDistance, "-" + query.SortDistance}))
		} else if g.chance(30) {
			params.Set(query.ParamSort, pick(g, []string{"name", "-latitude"}))
		}
		params.Set(query.ParamPerPage, pick(g, []string{"1", "7", "100"}))
		params.Set(query.ParamPage, pick(g, []string{"1", "2", "5"}))
		raw := params.Encode()
		err := agree(t.Context(), l, o, raw)
		if err == nil && i%4 == 0 {
			raw = counting + "&field=name&field=latitude"
			err = agreeOn(t.Context(), raw, fields, query.ParseFacets, l.Facets, o.Facets)
		}
		if err == nil && i%4 == 1 {
			raw = counting + "&_by=name&_measure=count&_measure=mean:latitude"
			err = agreeOn(t.Context(), raw, fields, query.ParseAggregate, l.Aggregate, o.Aggregate)
		}
		if err == nil && i%4 == 2 {
			raw = counting + "&_bounds=" +
				pick(g, []string{"-180,-90,180,90", "0,-90,360,90", "170,-20,190,20", "-1,-1,1,1"}) +
				pick(g, []string{"", "&_x=longitude&_y=latitude"}) +
				"&_columns=" + pick(g, []string{"1", "7", "36"}) + "&_rows=" + pick(g, []string{"1", "5"})
			err = agreeOn(t.Context(), raw, fields, query.ParseGrid, l.Grid, o.Grid)
		}
		if err != nil {
			return fmt.Errorf("query: %s\n%s%w", raw, describe(fields, records), err)
		}
	}
	return nil
}

func mustFloat(s string) float64 {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		panic(err)
	}
	return v
}

// positionGrid counts records in the cells of a grid by their positions. A position is also looked
// for a turn to the east.
//
// Rule: docs/api.md, "Count records in a grid".
func (o *Oracle) positionGrid(r *query.GridRequest, found []int) ([]int, error) {
	at, err := query.FindCoordinates(o.coordinates(), r.Request.Area.Coordinates)
	if err != nil {
		return nil, err
	}
	columns := gridEdges(r.Bounds.MinX, r.Bounds.MaxX, r.Columns)
	rows := gridEdges(r.Bounds.MinY, r.Bounds.MaxY, r.Rows)
	places, counts := o.places(at), make([]int, r.Columns*r.Rows)
	const turn = 360 * unitsPerDegree
	for _, n := range found {
		p := places[n]
		column := cellOf(columns, degrees(p.longitude))
		if column < 0 {
			column = cellOf(columns, degrees(p.longitude+turn))
		}
		row := cellOf(rows, degrees(p.latitude))
		if p.known && column >= 0 && row >= 0 {
			counts[row*r.Columns+column]++
		}
	}
	return counts, nil
}

// unitsPerDegree is the precision of positions.
const unitsPerDegree = 1e7

func degrees(units int64) parsedValue {
	return parsedValue{number: big.NewRat(units, unitsPerDegree)}
}

// byDistance orders records by their distance from the center of a request.
//
// Rule: docs/api.md, "Where records are".
func (o *Oracle) byDistance(found []int, r *query.Request, places []place) {
	slices.SortStableFunc(found, func(a, b int) int {
		difference := places[a].millimeters(r.Area.Near) - places[b].millimeters(r.Area.Near)
		if r.Distance == query.FarthestFirst {
			return -difference
		}
		return difference
	})
}
