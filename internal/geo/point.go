// Package geo knows where on the Earth a record is: it recognizes the fields with coordinates,
// reads their values, and decides what is within a box or a distance.
//
// Positions are rounded to 1e-7 degrees, about a centimeter, and so are the operands of boxes and
// distances. Decisions about rounded numbers are exact, and the same on all machines.
package geo

import (
	"math"
	"math/bits"
)

// Units per degree of positions.
const unit = 1e7

// Bounds of positions, in units.
const (
	MaxLongitude = 180 * unit
	MaxLatitude  = 90 * unit
	turn         = 360 * unit
)

// Point is a position in units of 1e-7 degrees. Longitudes are from -180 to less than 180 degrees:
// both notations of the antimeridian are one.
type Point struct{ Longitude, Latitude int32 }

// Values that are no position. Their latitude is out of range.
var (
	None    = Point{0, math.MinInt32} // there is no value
	Invalid = Point{1, math.MinInt32} // the value is no position
)

// NewPoint returns the position with coordinates in degrees: longitudes from -180 to 360, latitudes
// from -90 to 90. Others are Invalid.
func NewPoint(longitude, latitude float64) Point {
	if !(longitude >= -180 && longitude <= 360 && latitude >= -90 && latitude <= 90) { // also NaN
		return Invalid
	}
	x := int64(math.Round(longitude * unit))
	if x >= MaxLongitude {
		x -= turn
	}
	return Point{int32(x), int32(math.Round(latitude * unit))}
}

// IsPosition reports whether p is neither None nor Invalid.
func (p Point) IsPosition() bool { return p.Latitude != math.MinInt32 }

// Degrees returns the coordinates in degrees.
func (p Point) Degrees() (longitude, latitude float64) {
	return float64(p.Longitude) / unit, float64(p.Latitude) / unit
}

// Cell returns the number of a position on the Z-order curve: those of a square of 2^n units that
// begins at a multiple of its size are adjacent.
func (p Point) Cell() uint64 { return CellOf(p.offsets()) }

// offsets returns the distances from the south-west end of the world.
func (p Point) offsets() (x, y uint32) {
	return uint32(int64(p.Longitude) + MaxLongitude), uint32(int64(p.Latitude) + MaxLatitude)
}

// CellOf interleaves the bits of two offsets.
func CellOf(x, y uint32) uint64 { return spread(x) | spread(y)<<1 }

// spread returns the bits of a number at even positions.
func spread(n uint32) uint64 {
	v := uint64(n)
	v = (v | v<<16) & 0x0000FFFF0000FFFF
	v = (v | v<<8) & 0x00FF00FF00FF00FF
	v = (v | v<<4) & 0x0F0F0F0F0F0F0F0F
	v = (v | v<<2) & 0x3333333333333333
	v = (v | v<<1) & 0x5555555555555555
	return v
}

// EarthRadius is the mean radius of the Earth in meters, of the sphere on which distances are
// measured.
const EarthRadius = 6371008.8

// MaxMillimeters is the distance of antipodes, in millimeters.
const MaxMillimeters = 20_015_114_443 // half of the circumference, rounded up

// Millimeters returns the great-circle distance of two positions, rounded to millimeters. It is
// accurate for near and for antipodal ones. The conversions prevent fused operations, which round
// differently.
func (p Point) Millimeters(q Point) int { return NewOrigin(p).Millimeters(q) }

// Origin is a position from which distances are measured.
type Origin struct {
	longitude int32
	sin, cos  float64 // of the latitude
}

// NewOrigin returns a position from which distances are measured.
func NewOrigin(p Point) Origin {
	sin, cos := math.Sincos(radians(int64(p.Latitude)))
	return Origin{p.Longitude, sin, cos}
}

// Millimeters returns the great-circle distance of a position, rounded to millimeters.
func (o Origin) Millimeters(q Point) int {
	sin, cos := math.Sincos(radians(int64(q.Latitude)))
	sinTurn, cosTurn := math.Sincos(radians(int64(q.Longitude) - int64(o.longitude)))
	a := float64(cos * sinTurn)
	b := float64(o.cos*sin) - float64(float64(o.sin*cos)*cosTurn)
	c := float64(o.sin*sin) + float64(float64(o.cos*cos)*cosTurn)
	return int(math.Round(1000 * EarthRadius * math.Atan2(math.Sqrt(float64(a*a)+float64(b*b)), c)))
}

func radians(units int64) float64 { return float64(units) * (math.Pi / (180 * unit)) }

// CommonBits returns how many of the highest bits two cells have in common.
func CommonBits(a, b uint64) int { return bits.LeadingZeros64(a ^ b) }
