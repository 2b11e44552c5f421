package columns

import (
	"math"
	"strconv"
	"strings"

	"herbarium/internal/herb"
)

// wktPairs returns the text columns with geometries as well-known text, such as "POINT (-87.6
// 41.8)": the publish report shows that the first and the last of their values are.
func wktPairs(d *Dataset) (pairs []Pair) {
	for i, f := range d.Fields {
		c := d.Meanings[i].Report
		if f.Type != herb.TypeText || c == nil || wktKind(c.Min) == "" || wktKind(c.Max) == "" {
			continue
		}
		pairs = append(pairs, Pair{Latitude: i, Longitude: i, WKT: true, Points: wktKind(c.Min) == wktPoint && wktKind(c.Max) == wktPoint})
	}
	return pairs
}

const wktPoint = "POINT"

// wktKind returns the kind of geometry that a text begins with; empty: it is none.
func wktKind(s string) string {
	if prefix, rest, ok := strings.Cut(s, ";"); ok && strings.HasPrefix(strings.ToUpper(prefix), "SRID=") {
		s = rest
	}
	kind, _, ok := strings.Cut(strings.ToUpper(s), "(")
	if kind, _, _ = strings.Cut(strings.TrimSpace(kind), " "); !ok { // without Z and M
		return ""
	}
	switch kind {
	case wktPoint, "LINESTRING", "POLYGON", "MULTIPOINT", "MULTILINESTRING", "MULTIPOLYGON":
		return kind
	}
	return ""
}

// ParseWKT returns the longitude and the latitude of the middle of a geometry. ok is false if the
// text is no geometry in degrees.
func ParseWKT(s string) (longitude, latitude float64, ok bool) {
	if wktKind(s) == "" {
		return 0, 0, false
	}
	low, high := [2]float64{math.Inf(1), math.Inf(1)}, [2]float64{math.Inf(-1), math.Inf(-1)}
	_, coordinates, _ := strings.Cut(s, "(")
	for position := range strings.FieldsFuncSeq(coordinates, func(r rune) bool { return r == ',' || r == '(' || r == ')' }) {
		axis := 0
		for number := range strings.FieldsSeq(position) {
			if axis == len(low) { // the height
				break
			}
			v, err := strconv.ParseFloat(number, 64)
			if err != nil {
				break // the last number of a text that was cut
			}
			low[axis], high[axis] = math.Min(low[axis], v), math.Max(high[axis], v)
			axis++
		}
	}
	longitude, latitude = (low[0]+high[0])/2, (low[1]+high[1])/2
	return longitude, latitude, math.Abs(longitude) <= 180 && math.Abs(latitude) <= 90
}
