package geo

import (
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// AppendGeometry appends where a record is as a geometry of GeoJSON (RFC 7946), given the values of
// the fields of the reader; null if the record has no position. Numbers have their digits as
// written. Lines and areas that GeoJSON does not permit, or that cross the antimeridian in
// longitudes above 180, are the point of their position.
func (r Reader) AppendGeometry(dst []byte, values []string) []byte {
	if len(r.positions) == 2 {
		p := r.pair(values[0], values[1])
		latitude, _ := text.Canonical(&r.fields[0], values[0])
		longitude, _ := text.Canonical(&r.fields[1], values[1])
		return appendPoint(dst, p, longitude, latitude)
	}
	value, notation := strings.TrimSpace(values[0]), r.Coordinates.Notation
	if r.Coordinates.HasGeometries() {
		return appendShape(dst, notation, value)
	}
	first, second, _ := cutPair(value)
	if notation == herb.NotationLatLon {
		first, second = second, first
	}
	return appendPoint(dst, PointOf(notation, value), strings.TrimPrefix(first, "+"), strings.TrimPrefix(second, "+"))
}

// appendPoint appends a position, whose coordinates are written as numbers of JSON. A longitude
// above 180 degrees is that of the position.
func appendPoint(dst []byte, p Point, longitude, latitude string) []byte {
	if !p.IsPosition() {
		return append(dst, "null"...)
	}
	if v, err := strconv.ParseFloat(longitude, 64); err != nil || v > 180 {
		longitude = formatUnits(int64(p.Longitude))
	}
	dst = append(append(dst, `{"type":"Point","coordinates":[`...), longitude...)
	return append(append(append(dst, ','), latitude...), "]}"...)
}

// appendShape appends a geometry in one of the notations for geometries.
func appendShape(dst []byte, notation herb.CoordinatesNotation, value string) []byte {
	s, ok := readShape(notation, value, shape{extent: newExtent(), write: true, out: dst})
	p := Invalid
	if ok {
		p = s.extent.center()
	}
	switch {
	case p.IsPosition() && !s.invalid && s.extent.east <= 180:
		return s.out
	case p.IsPosition() && !s.invalid && s.extent.west >= 180:
		s, _ = readShape(notation, value, shape{extent: newExtent(), write: true, turned: true, out: dst})
		return s.out
	}
	return appendPoint(dst, p, formatUnits(int64(p.Longitude)), formatUnits(int64(p.Latitude)))
}

// readShape reads a geometry in one of the notations for geometries. ok is false if the value is
// not one.
func readShape(notation herb.CoordinatesNotation, value string, s shape) (shape, bool) {
	if notation == herb.NotationWKT {
		r, ok := readWKT(value, s)
		return r.shape, ok
	}
	r, ok := readGeoJSON(value, s)
	return r.shape, ok
}
