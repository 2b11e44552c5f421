package geo

import (
	"slices"
	"strconv"
	"strings"
)

// geometryType is a type of geometries: its word in well-known text, and its name in GeoJSON with
// the depth of its arrays of coordinates.
type geometryType struct {
	word, name string
	depth      int // of the arrays around a position; -1: a collection
}

var geometryTypes = []geometryType{
	{"POINT", "Point", 0}, {"LINESTRING", "LineString", 1}, {"POLYGON", "Polygon", 2}, {"MULTIPOINT", "MultiPoint", 1},
	{"MULTILINESTRING", "MultiLineString", 2}, {"MULTIPOLYGON", "MultiPolygon", 3},
	{"GEOMETRYCOLLECTION", "GeometryCollection", -1},
}

// maxNesting is the number of geometry collections within each other.
const maxNesting = 8

// wktReader reads a geometry as well-known text. It is the only reader of that notation.
type wktReader struct {
	shape
	scanner
}

// readWKT reads a geometry. ok is false if the text is not one.
func readWKT(s string, to shape) (r wktReader, ok bool) {
	r = wktReader{shape: to, scanner: scanner{text: s}}
	if srid, rest, found := strings.Cut(s, ";"); found && len(srid) < 16 && hasPrefixFold(srid, "SRID=") {
		r.at = len(s) - len(rest)
	}
	ok = r.geometry(0)
	r.blanks()
	return r, ok && r.at == len(s)
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// word reads letters.
func (r *wktReader) word() string {
	r.blanks()
	from := r.at
	for r.at < len(r.text) && (r.text[r.at]|0x20) >= 'a' && (r.text[r.at]|0x20) <= 'z' {
		r.at++
	}
	return r.text[from:r.at]
}

func (r *wktReader) geometry(nesting int) bool {
	word := r.word()
	const longest = len("GEOMETRYCOLLECTIONZM")
	if len(word) > longest {
		return false
	}
	word = strings.ToUpper(word)
	dimensions := ""
	i := -1
	for _, suffix := range []string{"", "ZM", "Z", "M"} { // also POINTZ
		if base, ok := strings.CutSuffix(word, suffix); ok && i < 0 {
			i = typeOfWord(base)
			if i >= 0 {
				dimensions = suffix
			}
		}
	}
	if i < 0 || nesting > maxNesting {
		return false
	}
	t := geometryTypes[i]
	isEmpty := false
	for next := strings.ToUpper(r.word()); next != ""; next = strings.ToUpper(r.word()) {
		switch {
		case next == "EMPTY":
			isEmpty = true
		case (next == "Z" || next == "M" || next == "ZM") && dimensions == "" && !isEmpty:
			dimensions = next
		default:
			return false
		}
	}
	r.put(`{"type":"` + t.name + `",`)
	list := "coordinates"
	if t.depth < 0 {
		list = "geometries"
	}
	r.put(`"` + list + `":`)
	switch {
	case isEmpty:
		r.invalid = true // RFC 7946 has no empty points, lines and areas
		r.put("[]}")
		return true
	case t.depth < 0:
		if !r.list(func() bool { return r.geometry(nesting + 1) }) {
			return false
		}
	case t.depth == 0:
		if !r.has('(') || !r.position(dimensions) || !r.has(')') {
			return false
		}
	default:
		r.beginGeometry()
		if !r.lists(t.depth, t.word == "MULTIPOINT", dimensions) {
			return false
		}
		r.endGeometry(t)
	}
	r.put("}")
	return true
}

func typeOfWord(word string) int {
	for i, t := range geometryTypes {
		if t.word == word {
			return i
		}
	}
	return -1
}

// list reads items in parentheses, with commas between them.
func (r *wktReader) list(item func() bool) bool {
	if !r.has('(') {
		return false
	}
	r.put("[")
	for {
		if !item() {
			return false
		}
		if r.has(')') {
			r.put("]")
			return true
		}
		if !r.has(',') {
			return false
		}
		r.put(",")
	}
}

// lists reads nested lists of positions. Those of a MULTIPOINT may be in parentheses.
func (r *wktReader) lists(depth int, enclosed bool, dimensions string) bool {
	if depth > 1 {
		return r.list(func() bool { return r.lists(depth-1, enclosed, dimensions) })
	}
	r.beginList()
	defer r.endList()
	return r.list(func() bool {
		if enclosed && r.has('(') {
			return r.position(dimensions) && r.has(')')
		}
		return r.position(dimensions)
	})
}

// position reads two to four numbers. The third one is the height unless it is a measure, which
// GeoJSON does not have.
func (r *wktReader) position(dimensions string) bool {
	var p [3]float64
	r.put("[")
	n := 0
	for ; n < 4; n++ {
		digits, v, ok := r.number()
		if !ok {
			break
		}
		if n < 2 || n == 2 && dimensions != "M" {
			p[n] = v
			r.putNumber(n, digits, v)
		}
	}
	r.put("]")
	if n < 2 {
		return false
	}
	r.addPosition(p)
	return true
}

func (r *wktReader) number() (digits string, v float64, ok bool) {
	digits = r.digits()
	if digits == "" {
		return "", 0, false
	}
	v, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		r.at = len(r.text) + 1 // no geometry
		return "", 0, false
	}
	return digits, v, true
}

// isJSONNumber reports whether a text is a number of JSON without an exponent.
func isJSONNumber(s string) bool {
	s = strings.TrimPrefix(s, "-")
	whole, fraction, point := strings.Cut(s, ".")
	isDigits := func(s string) bool {
		return s != "" && !slices.ContainsFunc([]byte(s), func(c byte) bool { return c < '0' || c > '9' })
	}
	return isDigits(whole) && (len(whole) == 1 || whole[0] != '0') && (!point || isDigits(fraction))
}
