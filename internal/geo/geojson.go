package geo

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// jsonReader reads a geometry as GeoJSON. The text is valid JSON.
type jsonReader struct {
	shape
	scanner
}

// readGeoJSON reads a geometry. ok is false if the text is not one. The geometry is written without
// other members.
func readGeoJSON(s string, to shape) (r jsonReader, ok bool) {
	r = jsonReader{shape: to, scanner: scanner{text: s}}
	r.blanks()
	if r.at == len(s) || s[r.at] != '{' || !strings.Contains(s, `"type"`) || !json.Valid([]byte(s)) {
		return r, false
	}
	return r, r.geometry(0)
}

// string reads a string as it is written.
func (r *jsonReader) string() string {
	r.blanks()
	from := r.at
	for r.at++; r.at < len(r.text) && r.text[r.at] != '"'; r.at++ {
		if r.text[r.at] == '\\' {
			r.at++
		}
	}
	r.at++
	return r.text[from+1 : r.at-1]
}

// skip skips a value.
func (r *jsonReader) skip() {
	for depth := 0; ; {
		r.blanks()
		switch c := r.text[r.at]; {
		case c == '"':
			r.string()
		case c == '{' || c == '[':
			depth++
			r.at++
			continue
		case c == '}' || c == ']':
			depth--
			r.at++
		case c == ',' || c == ':':
			r.at++
			continue
		default:
			for r.at < len(r.text) && strings.IndexByte(",]} \t\r\n", r.text[r.at]) < 0 {
				r.at++
			}
		}
		if depth <= 0 {
			return
		}
	}
}

// geometry reads an object. Its members may be in any order, so the depth of the coordinates is
// compared with the type at the end.
func (r *jsonReader) geometry(nesting int) bool {
	if nesting > maxNesting || !r.has('{') {
		return false
	}
	kind, depth, ok := "", -2, true
	start := len(r.out)
	r.put("{")
	r.beginGeometry()
	for first := true; !r.has('}'); first = false {
		if !first {
			r.has(',')
		}
		name := r.string()
		r.has(':')
		r.blanks()
		switch {
		case name == "type" && r.text[r.at] == '"':
			kind = r.string()
		case name == "coordinates" && r.text[r.at] == '[' && depth == -2:
			r.put(`"coordinates":`)
			depth, ok = r.coordinates(0)
			if !ok {
				return false
			}
		case name == "geometries" && r.text[r.at] == '[' && depth == -2:
			depth = -1
			r.at++
			r.put(`"geometries":[`)
			for first := true; !r.has(']'); first = false {
				if !first {
					r.has(',')
					r.put(",")
				}
				r.blanks()
				if !r.geometry(nesting + 1) {
					return false
				}
			}
			r.put("]")
		default:
			r.skip()
		}
	}
	i := slices.IndexFunc(geometryTypes, func(t geometryType) bool { return t.name == kind })
	if i < 0 || depth == -2 {
		return false
	}
	r.put("}")
	if r.write {
		r.out = slices.Insert(r.out, start+1, []byte(`"type":"`+kind+`",`)...)
	}
	r.endGeometry(geometryTypes[i])
	return depth == geometryTypes[i].depth || depth == emptyDepth
}

// emptyDepth is the depth of arrays without a position.
const emptyDepth = 100

// coordinates reads arrays of positions and returns their depth around a position.
func (r *jsonReader) coordinates(nesting int) (depth int, ok bool) {
	const deepest = 4
	if nesting == deepest || !r.has('[') {
		return 0, false
	}
	r.blanks()
	if r.text[r.at] != '[' && r.text[r.at] != ']' {
		return 0, r.position()
	}
	r.put("[")
	r.beginList()
	depth = emptyDepth
	for first := true; !r.has(']'); first = false {
		if !first {
			r.has(',')
			r.put(",")
		}
		inner, ok := r.coordinates(nesting + 1)
		if !ok || depth != emptyDepth && inner != emptyDepth && depth != inner+1 {
			return 0, false
		}
		if inner != emptyDepth {
			depth = inner + 1
		}
	}
	r.put("]")
	switch depth {
	case 1:
		r.endList()
	case emptyDepth:
		r.invalid = true // RFC 7946 has no empty points, lines and areas
	}
	return depth, true
}

// position reads the numbers of a position and the end of its array. What follows the height is not
// written.
func (r *jsonReader) position() bool {
	var p [3]float64
	r.put("[")
	n := 0
	for ; !r.has(']'); n++ {
		if n > 0 {
			r.has(',')
		}
		digits := r.digits()
		if digits == "" {
			return false
		}
		if n < len(p) {
			v, err := strconv.ParseFloat(digits, 64)
			if err != nil && n < 2 {
				return false
			}
			r.invalid = r.invalid || err != nil
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
