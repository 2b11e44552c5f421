// Package geometry lists binary geometries as well-known text (WKT): WKB, EWKB of PostGIS, and
// GeoPackage.
package geometry

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"strings"
)

// maxDepth is the number of collections around a geometry.
const maxDepth = 16

// Kinds of geometries.
const (
	point = iota + 1
	lineString
	polygon
	multiPoint
	multiLineString
	multiPolygon
	collection
)

// IsUsual reports whether a column of this name usually has geometries.
func IsUsual(column string) bool {
	return slices.Contains([]string{"geom", "geometry", "the_geom", "wkb", "wkb_geometry"}, strings.ToLower(column))
}

// AppendWKT appends the well-known text of a geometry that is stored as WKB or EWKB. The reference
// system of EWKB is a prefix, as PostGIS writes it: SRID=4326;POINT (8.5 47.4). ok is false, and b
// unchanged, if data is anything else or a kind of geometry without coordinates of its own, such as
// a curve.
func AppendWKT(b, data []byte) (wkt []byte, ok bool) {
	d := decoder{data: data, out: b}
	d.geometry(0, 0, 0)
	if d.failed || len(d.data) > 0 {
		return b, false
	}
	return d.out, true
}

// decoder reads WKB. It checks each count against the bytes that remain, so that it writes at most
// a few times as many bytes as it reads.
type decoder struct {
	data   []byte
	out    []byte
	order  binary.ByteOrder
	failed bool
}

// header is how a geometry begins.
type header struct{ kind, axes uint32 }

// geometry reads a geometry and writes its text. want is the kind of the elements of a collection,
// whose texts have no names, and axes the number of their coordinates with flags; zero: any.
func (d *decoder) geometry(depth int, want, axes uint32) {
	h, srid := d.header()
	switch {
	case d.failed || depth > maxDepth || want != 0 && want != h.kind || axes != 0 && axes != h.axes ||
		depth > 0 && srid != "":
		d.failed = true
		return
	case want == 0:
		names := []string{"POINT", "LINESTRING", "POLYGON", "MULTIPOINT", "MULTILINESTRING", "MULTIPOLYGON",
			"GEOMETRYCOLLECTION"}
		dimensions := map[uint32]string{hasZ: " Z", hasM: " M", hasZ | hasM: " ZM"}
		d.out = append(append(append(d.out, srid...), names[h.kind-1]...), dimensions[h.axes&^axesGiven]...)
		d.out = append(d.out, ' ')
	}
	position := func() { d.position(h.axes) }
	line := func() { d.list(8*h.count(), position) }
	switch h.kind {
	case point:
		d.point(h.axes)
	case lineString:
		line()
	case polygon:
		d.list(4, line)
	case collection:
		d.list(5, func() { d.geometry(depth+1, 0, h.axes) })
	default: // the kind of the elements precedes by three
		d.list(5, func() { d.geometry(depth+1, h.kind-3, h.axes) })
	}
}

// Flags of the coordinates. axesGiven distinguishes two coordinates from unknown ones.
const (
	hasZ = 1 << iota
	hasM
	axesGiven
)

// count returns the number of coordinates of a position.
func (h header) count() int { return 2 + int(h.axes&1) + int(h.axes>>1&1) }

// header reads the byte order and the kind of a geometry. Flags of EWKB say whether it has
// Z, M and a reference system. In ISO WKB, thousands say whether it has Z and M.
func (d *decoder) header() (h header, srid string) {
	if len(d.data) < 5 || d.data[0] > 1 {
		d.failed = true
		return h, ""
	}
	d.order = binary.BigEndian
	if d.data[0] == 1 {
		d.order = binary.LittleEndian
	}
	d.data = d.data[1:]
	kind := d.uint32()
	h.axes = axesGiven | kind>>31 | kind>>29&hasM
	if kind&(1<<29) != 0 {
		srid = "SRID=" + strconv.Itoa(int(int32(d.uint32()))) + ";"
	}
	kind &= 1<<29 - 1
	if thousands := kind / 1000; thousands <= 3 {
		h.axes |= thousands
	} else {
		d.failed = true
	}
	h.kind = kind % 1000
	if h.kind < point || h.kind > collection {
		d.failed = true
	}
	return h, srid
}

func (d *decoder) uint32() uint32 {
	if len(d.data) < 4 {
		d.failed = true
		return 0
	}
	n := d.order.Uint32(d.data)
	d.data = d.data[4:]
	return n
}

// list reads a count and that many elements of at least size bytes.
func (d *decoder) list(size int, element func()) {
	n := d.uint32()
	if d.failed || uint64(n)*uint64(size) > uint64(len(d.data)) {
		d.failed = true
		return
	}
	if n == 0 {
		d.out = append(d.out, "EMPTY"...)
		return
	}
	for separator := "("; n > 0 && !d.failed; n-- {
		d.out = append(d.out, separator...)
		element()
		separator = ", "
	}
	d.out = append(d.out, ')')
}

// point reads the position of a point. The coordinates of an empty one are not numbers.
func (d *decoder) point(axes uint32) {
	size := 8 * header{axes: axes}.count()
	if len(d.data) < size {
		d.failed = true
		return
	}
	isEmpty := true
	for i := 0; i < size; i += 8 {
		isEmpty = isEmpty && math.IsNaN(math.Float64frombits(d.order.Uint64(d.data[i:])))
	}
	if isEmpty {
		d.data, d.out = d.data[size:], append(d.out, "EMPTY"...)
		return
	}
	d.out = append(d.out, '(')
	d.position(axes)
	d.out = append(d.out, ')')
}

func (d *decoder) position(axes uint32) {
	for i := range (header{axes: axes}).count() {
		if len(d.data) < 8 {
			d.failed = true
			return
		}
		f := math.Float64frombits(d.order.Uint64(d.data))
		d.data = d.data[8:]
		if math.IsNaN(f) || math.IsInf(f, 0) {
			d.failed = true
			return
		}
		if i > 0 {
			d.out = append(d.out, ' ')
		}
		d.out = appendCoordinate(d.out, f)
	}
}

// appendCoordinate appends the shortest notation that reads back as the same number. Numbers that
// are no places have exponents, because hundreds of zeros would be written for them.
func appendCoordinate(b []byte, f float64) []byte {
	format := byte('f')
	if size := math.Abs(f); size != 0 && size < 1e-9 || size >= 1e15 {
		format = 'e'
	}
	return strconv.AppendFloat(b, f, format, -1, 64)
}
