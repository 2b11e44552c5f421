package geo

import (
	"strings"

	"herbarium/internal/herb"
)

// Reader reads the positions of records from their values. It is safe for concurrent use.
type Reader struct {
	Coordinates herb.Coordinates
	fields      []herb.Field // latitude and longitude, or one field
	positions   []int        // of these fields
}

// NewReader returns a reader of the records with some fields. ok is false if they lack those of the
// coordinates.
func NewReader(c herb.Coordinates, fields []herb.Field) (r Reader, ok bool) {
	r.Coordinates = c
	for _, name := range c.Names() {
		i := herb.FieldIndex(fields, name)
		if i < 0 {
			return r, false
		}
		r.fields, r.positions = append(r.fields, fields[i]), append(r.positions, i)
	}
	return r, true
}

// Fields returns the positions of the fields that the reader reads: latitude and longitude, or one
// field.
func (r Reader) Fields() []int { return r.positions }

// Point returns the position of a record; of a line or an area, the middle of its bounds.
func (r Reader) Point(record herb.Record) Point {
	if len(r.positions) == 2 {
		return r.pair(record[r.positions[0]], record[r.positions[1]])
	}
	return PointOf(r.Coordinates.Notation, record[r.positions[0]])
}

// pair returns the position with the values of two number fields.
func (r Reader) pair(latitude, longitude string) Point {
	if isBlank(&r.fields[0], latitude) || isBlank(&r.fields[1], longitude) {
		return None
	}
	y, ok := parseNumber(&r.fields[0], latitude)
	x, ok2 := parseNumber(&r.fields[1], longitude)
	if !ok || !ok2 {
		return Invalid
	}
	return NewPoint(x, y)
}

// PointOf returns the position that a value represents.
func PointOf(notation herb.CoordinatesNotation, value string) Point {
	value = strings.TrimSpace(value)
	if value == "" {
		return None
	}
	switch notation {
	case herb.NotationWKT, herb.NotationGeoJSON:
		if s, ok := readShape(notation, value, newShape()); ok {
			return s.extent.center()
		}
	default:
		if first, second, ok := cutPair(value); ok {
			y, okY := parsePlain(first)
			x, okX := parsePlain(second)
			if notation == herb.NotationLonLat {
				x, y = y, x
			}
			if okX && okY {
				return NewPoint(x, y)
			}
		}
	}
	return Invalid
}

// maxPair is the length of a value with two numbers.
const maxPair = 100

// cutPair returns the two numbers of a value such as "52.5, 13.4" or "(52.5 13.4)".
func cutPair(value string) (first, second string, ok bool) {
	if len(value) > maxPair || len(value) < 3 {
		return "", "", false
	}
	if value[0] == '(' && value[len(value)-1] == ')' || value[0] == '[' && value[len(value)-1] == ']' {
		value = strings.TrimSpace(value[1 : len(value)-1])
	}
	i := strings.IndexAny(value, ",; ")
	if i < 0 {
		return "", "", false
	}
	second = strings.TrimSpace(value[i:])
	if second != "" && (second[0] == ',' || second[0] == ';') {
		second = strings.TrimSpace(second[1:])
	}
	return value[:i], second, isJSONNumber(strings.TrimPrefix(value[:i], "+")) &&
		isJSONNumber(strings.TrimPrefix(second, "+"))
}

func parsePlain(s string) (float64, bool) {
	return parseNumber(&herb.Field{Type: herb.TypeNumber}, s)
}
