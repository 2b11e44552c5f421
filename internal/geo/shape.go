package geo

import (
	"math"
	"strconv"
)

// shape is what a geometry is while it is read: its extent and, on request, the geometry as
// GeoJSON.
type shape struct {
	extent extent
	write  bool
	turned bool // longitudes are written less 360 degrees
	out    []byte

	// invalid is set if the geometry cannot be written: RFC 7946 forbids it.
	invalid bool
	// Of the lists of positions in the current geometry:
	least       int  // positions of the shortest one
	isOpen      bool // one of them ends elsewhere than it begins
	positions   int  // of the current list
	first, last [3]float64
}

func newShape() shape { return shape{extent: newExtent()} }

func (s *shape) put(text string) {
	if s.write {
		s.out = append(s.out, text...)
	}
}

// putNumber writes a number of a position. Its digits stay as written if JSON permits that.
func (s *shape) putNumber(at int, digits string, v float64) {
	if !s.write {
		return
	}
	if at > 0 {
		s.out = append(s.out, ',')
	}
	if at == 0 && s.turned {
		s.out = strconv.AppendFloat(s.out, math.Round((v-360)*unit)/unit, 'f', -1, 64)
		return
	}
	s.out = appendNumber(s.out, digits, v)
}

// appendNumber appends a number, as written if JSON permits that.
func appendNumber(dst []byte, digits string, v float64) []byte {
	if isJSONNumber(digits) {
		return append(dst, digits...)
	}
	return strconv.AppendFloat(dst, v, 'g', -1, 64)
}

func (s *shape) beginGeometry() { s.least, s.isOpen = math.MaxInt, false }

func (s *shape) beginList() { s.positions = 0 }

// addPosition adds a position with its longitude, latitude and height.
func (s *shape) addPosition(p [3]float64) {
	s.extent.add(p[0], p[1])
	s.last = p
	if s.positions == 0 {
		s.first = p
	}
	s.positions++
}

func (s *shape) endList() {
	s.least = min(s.least, s.positions)
	s.isOpen = s.isOpen || s.first != s.last
}

// endGeometry checks what RFC 7946 requires of the lists of a geometry: a line has two positions,
// and a ring has four, of which the last one is the first one.
func (s *shape) endGeometry(t geometryType) {
	switch t.word {
	case "LINESTRING", "MULTILINESTRING":
		s.invalid = s.invalid || s.least < 2
	case "POLYGON", "MULTIPOLYGON":
		s.invalid = s.invalid || s.least < 4 || s.isOpen
	}
}
