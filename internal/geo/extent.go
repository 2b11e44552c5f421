package geo

import "math"

// extent is the bounds of the positions of a geometry. Longitudes are also measured from 0 to 360,
// because a geometry on both sides of the antimeridian is narrower so.
type extent struct {
	west, south, east, north float64
	wrappedWest, wrappedEast float64
	positions                int
	outside                  bool // a position is out of range
}

func newExtent() extent {
	inf := math.Inf(1)
	return extent{west: inf, south: inf, east: -inf, north: -inf, wrappedWest: inf, wrappedEast: -inf}
}

func (e *extent) add(longitude, latitude float64) {
	e.positions++
	if !(longitude >= -180 && longitude <= 360 && latitude >= -90 && latitude <= 90) {
		e.outside = true
		return
	}
	e.west, e.east = min(e.west, longitude), max(e.east, longitude)
	e.south, e.north = min(e.south, latitude), max(e.north, latitude)
	if longitude < 0 {
		longitude += 360
	}
	e.wrappedWest, e.wrappedEast = min(e.wrappedWest, longitude), max(e.wrappedEast, longitude)
}

// center returns the middle of the bounds.
func (e *extent) center() Point {
	switch {
	case e.outside:
		return Invalid
	case e.positions == 0:
		return None
	case e.positions == 1:
		return NewPoint(e.west, e.south)
	}
	longitude := (e.west + e.east) / 2
	if e.wrappedEast-e.wrappedWest < e.east-e.west {
		longitude = (e.wrappedWest + e.wrappedEast) / 2
	}
	return NewPoint(longitude, (e.south+e.north)/2)
}
