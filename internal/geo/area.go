package geo

import (
	"math"
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// Box is a part of the world between two meridians and two parallels, in units of positions. Its
// borders belong to it. It crosses the antimeridian if West is greater than East.
type Box struct{ West, South, East, North int64 }

// Contains reports whether a position is in the box.
func (b Box) Contains(p Point) bool {
	y := int64(p.Latitude)
	if y < b.South || y > b.North {
		return false
	}
	return b.spans(int64(p.Longitude)) || p.Longitude == -MaxLongitude && b.spans(MaxLongitude)
}

// spans reports whether a longitude is between the meridians.
func (b Box) spans(x int64) bool {
	if b.West > b.East {
		return x >= b.West || x <= b.East
	}
	return x >= b.West && x <= b.East
}

// Parts returns the box as boxes that do not cross the antimeridian and contain the same positions.
func (b Box) Parts() []Box {
	if b.West > b.East {
		parts := []Box{{-MaxLongitude, b.South, b.East, b.North}}
		if b.West < MaxLongitude {
			parts = append(parts, Box{b.West, b.South, MaxLongitude, b.North})
		}
		return parts
	}
	parts := []Box{b}
	if b.East == MaxLongitude && b.West > -MaxLongitude { // positions there have the other notation
		parts = append(parts, Box{-MaxLongitude, b.South, -MaxLongitude, b.North})
	}
	return parts
}

// String returns the box as ParseBox reads it.
func (b Box) String() string {
	return formatUnits(b.West) + "," + formatUnits(b.South) + "," + formatUnits(b.East) + "," + formatUnits(b.North)
}

// Circle is the part of the world within a distance of a position. Its border belongs to it.
type Circle struct {
	Center      Point
	Millimeters int
}

// Contains reports whether a position is in the circle.
func (c Circle) Contains(p Point) bool { return c.Center.Millimeters(p) <= c.Millimeters }

// Bounds returns a box that contains the circle.
func (c Circle) Bounds() Box {
	const margin = 2 // units
	angle := float64(c.Millimeters) / (1000 * EarthRadius)
	reach := int64(math.Min(angle*(180/math.Pi), 360)*unit) + margin
	y := int64(c.Center.Latitude)
	b := Box{-MaxLongitude, max(y-reach, -MaxLatitude), MaxLongitude, min(y+reach, MaxLatitude)}
	if b.South == -MaxLatitude || b.North == MaxLatitude { // it contains a pole
		return b
	}
	sine := math.Sin(angle) / math.Cos(radians(y))
	if !(sine < 1) {
		return b
	}
	width := int64(math.Asin(sine)*(180/math.Pi)*unit*(1+1e-12)) + margin
	if 2*width >= turn {
		return b
	}
	wrap := func(x int64) int64 {
		switch {
		case x < -MaxLongitude:
			return x + turn
		case x > MaxLongitude:
			return x - turn
		}
		return x
	}
	b.West, b.East = wrap(int64(c.Center.Longitude)-width), wrap(int64(c.Center.Longitude)+width)
	return b
}

// String returns the circle as ParseCircle reads it.
func (c Circle) String() string {
	meters := strings.TrimRight(strings.TrimRight(strconv.FormatFloat(float64(c.Millimeters)/1000, 'f', 3, 64), "0"),
		".")
	return formatUnits(int64(c.Center.Latitude)) + "," + formatUnits(int64(c.Center.Longitude)) + "," + meters
}

// formatUnits formats a number of units in degrees.
func formatUnits(n int64) string { return strconv.FormatFloat(float64(n)/unit, 'f', -1, 64) }

// ParseBox parses west,south,east,north in degrees. name is that of the parameter, for the error,
// which has herb.CodeInvalid.
func ParseBox(name, value string) (Box, error) {
	v, ok := parseNumbers(value, 4)
	if ok {
		ok = math.Abs(v[0]) <= 180 && math.Abs(v[2]) <= 180 && math.Abs(v[1]) <= 90 && math.Abs(v[3]) <= 90 &&
			v[1] <= v[3]
	}
	if !ok {
		return Box{}, herb.Invalidf(
			"%s is %q; it must be west,south,east,north in degrees: longitudes from -180 to 180, latitudes from -90 "+
				"to 90, "+
				"south not above north, as in 5.9,45.8,10.5,47.8; west is greater than east in a box that crosses the "+
				"antimeridian", name, herb.Clip(value, maxShown))
	}
	return Box{toUnits(v[0]), toUnits(v[1]), toUnits(v[2]), toUnits(v[3])}, nil
}

// ParseCircle parses latitude,longitude,meters. name is that of the parameter, for the error, which
// has herb.CodeInvalid.
func ParseCircle(name, value string) (Circle, error) {
	const most = 1e12 // millimeters, far more than around the Earth
	v, ok := parseNumbers(value, 3)
	if ok {
		ok = math.Abs(v[0]) <= 90 && math.Abs(v[1]) <= 180 && v[2] >= 0
	}
	if !ok {
		return Circle{}, herb.Invalidf(
			"%s is %q; it must be latitude,longitude,meters: a latitude from -90 to 90, a longitude from -180 to 180 "+
				"and a distance of 0 or more, as in 47.37,8.54,5000", name, herb.Clip(value, maxShown))
	}
	return Circle{NewPoint(v[1], v[0]), int(math.Round(math.Min(1000*v[2], most)))}, nil
}

// maxShown is the number of characters of a value in a message.
const maxShown = 60

func toUnits(degrees float64) int64 { return int64(math.Round(degrees * unit)) }

// parseNumbers parses n numbers in plain decimal notation, or with an exponent.
func parseNumbers(value string, n int) (numbers []float64, ok bool) {
	parts := strings.Split(value, ",")
	if len(parts) != n {
		return nil, false
	}
	for _, part := range parts {
		v, ok := parseNumber(&herb.Field{Type: herb.TypeNumber}, part)
		if !ok {
			return nil, false
		}
		numbers = append(numbers, v)
	}
	return numbers, true
}

// parseNumber parses a value of a number field.
func parseNumber(f *herb.Field, value string) (v float64, ok bool) {
	plain, status := text.Canonical(f, value)
	if status != text.Valid {
		return 0, false
	}
	v, err := strconv.ParseFloat(plain, 64)
	return v, err == nil
}

// isBlank reports whether a value of a number field is missing.
func isBlank(f *herb.Field, value string) bool { return text.MissingPosition(f, value) >= 0 }
