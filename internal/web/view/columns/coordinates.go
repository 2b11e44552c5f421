package columns

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// Pair is two number fields with geographic coordinates, or one text field with geometries.
type Pair struct {
	Latitude, Longitude int  // positions of the fields
	WKT                 bool // both are one field with well-known text
	Points              bool // all geometries are points, as far as is known
}

// mapPairs returns the pairs of coordinates of a dataset: that of its descriptor, or else those
// whose names and values are latitudes and longitudes.
func mapPairs(d *Dataset) (pairs []Pair) {
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
				pairs = append(pairs, Pair{Latitude: i, Longitude: longitude})
			}
		}
	}
	if pairs == nil {
		pairs = planePairs(d)
	}
	if pairs == nil {
		pairs = wktPairs(d)
	}
	return pairs
}

// planePairs returns the pairs of fields that are called x and y, as geographic information systems
// export them, and whose values can only be degrees: many decimals, an area without the origin, and
// no third coordinate.
func planePairs(d *Dataset) (pairs []Pair) {
	byStem := func(letter string) map[string]int {
		found := map[string]int{}
		for i, f := range d.Fields {
			words := identifierWords(f.Name)
			if at := slices.Index(words, letter); at >= 0 && isCoordinate(d, i) {
				found[strings.Join(slices.Delete(words, at, at+1), " ")] = i
			}
		}
		return found
	}
	xs, ys, zs := byStem("x"), byStem("y"), byStem("z")
	for i, f := range d.Fields {
		stem, ok := coordinateStem(f.Name, "y")
		x, hasX := xs[stem]
		if _, hasZ := zs[stem]; ok && hasX && !hasZ && ys[stem] == i && areDegrees(d, x, i) {
			pairs = append(pairs, Pair{Latitude: i, Longitude: x})
		}
	}
	return pairs
}

// areDegrees reports whether the publish report shows that the values of two fields are longitudes
// and latitudes.
func areDegrees(d *Dataset, x, y int) bool {
	const decimals = 3
	isFine := func(i int) bool {
		c := d.Meanings[i].Report
		if c == nil {
			return false
		}
		for _, end := range []string{c.Min, c.Max} {
			if _, fraction, _ := strings.Cut(end, "."); len(fraction) < decimals {
				return false
			}
		}
		return true
	}
	if !isFine(x) || !isFine(y) || !withinDegrees(d, x, -180, 180) || !withinDegrees(d, y, -90, 90) {
		return false
	}
	hasOrigin := func(i int) bool {
		c := d.Meanings[i].Report
		least, greatest, ok := ParseRange(&d.Fields[i], c.Min, c.Max)
		return !ok || least <= 0 && greatest >= 0
	}
	return !hasOrigin(x) || !hasOrigin(y)
}

// declaredPair returns the pair of coordinates in the descriptor of a dataset.
func declaredPair(d *Dataset) (p Pair, ok bool) {
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
	return Pair{Latitude: latitude, Longitude: longitude}, true
}

// isCoordinate reports whether the field at a position, if there is one, can be an axis of a map.
func isCoordinate(d *Dataset, i int) bool {
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
func withinDegrees(d *Dataset, i int, low, high float64) bool {
	c := d.Meanings[i].Report
	if !isCoordinate(d, i) || c == nil || c.Min+c.Max == "" {
		return isCoordinate(d, i)
	}
	least, greatest, ok := ParseRange(&d.Fields[i], c.Min, c.Max)
	return ok && least >= low && greatest <= high
}

// ParseRange returns the numbers that the minimum and the maximum of a field represent.
func ParseRange(f *herb.Field, minimum, maximum string) (least, greatest float64, ok bool) {
	low, status := text.Canonical(f, minimum)
	high, status2 := text.Canonical(f, maximum)
	least, err := strconv.ParseFloat(low, 64)
	greatest, err2 := strconv.ParseFloat(high, 64)
	return least, greatest, status == text.Valid && status2 == text.Valid && err == nil && err2 == nil
}
