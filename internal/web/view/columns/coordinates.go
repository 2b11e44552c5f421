package columns

import (
	"strconv"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// Pair is coordinates of a version, and the positions of their fields.
type Pair struct {
	herb.Coordinates
	Latitude, Longitude int // the same if one field has both
}

// mapPairs returns the coordinates of a version.
func mapPairs(d *herb.Dataset) (pairs []Pair) {
	for _, c := range d.Coordinates {
		names := c.Names()
		p := Pair{c, herb.FieldIndex(d.Fields, names[0]), herb.FieldIndex(d.Fields, names[len(names)-1])}
		if p.Latitude >= 0 && p.Longitude >= 0 {
			pairs = append(pairs, p)
		}
	}
	return pairs
}

// IsOneField reports whether one field has latitudes and longitudes.
func (p Pair) IsOneField() bool { return p.Latitude == p.Longitude }

// ParseRange returns the numbers that the minimum and the maximum of a field represent.
func ParseRange(f *herb.Field, minimum, maximum string) (least, greatest float64, ok bool) {
	low, status := text.Canonical(f, minimum)
	high, status2 := text.Canonical(f, maximum)
	least, err := strconv.ParseFloat(low, 64)
	greatest, err2 := strconv.ParseFloat(high, 64)
	return least, greatest, status == text.Valid && status2 == text.Valid && err == nil && err2 == nil
}
