package geo

import (
	"slices"
	"strings"
	"sync/atomic"

	"herbarium/internal/herb"
	"herbarium/internal/roles"
	"herbarium/internal/text"
)

// MaxCoordinates is the number of coordinates of a dataset.
const MaxCoordinates = 8

// Declaration is what a descriptor says about the coordinates of a dataset.
type Declaration struct {
	None        bool              // the dataset has none
	Coordinates *herb.Coordinates // the only ones; nil: they are recognized
}

// Declared returns what the descriptor of a version says about coordinates. Fields that the version
// does not have are ignored: a publish has rejected them, or an earlier release ignored them.
func Declared(descriptor *herb.Descriptor, fields []herb.Field) (d Declaration) {
	if descriptor == nil || descriptor.NoCoordinates {
		return Declaration{None: descriptor != nil}
	}
	c := descriptor.Coordinates
	c.Declared, c.Records, c.Invalid = true, 0, 0
	if _, ok := NewReader(c, fields); !ok || CheckFields(c, fields) != nil {
		return d
	}
	return Declaration{Coordinates: &c}
}

// CheckFields returns an error with herb.CodeInvalid unless fields can be those of coordinates: two
// number fields, or a text field. They are filterable, because a box selects records by them.
func CheckFields(c herb.Coordinates, fields []herb.Field) error {
	t, kind := herb.TypeNumber, "number"
	if c.Field != "" {
		t, kind = herb.TypeText, "text"
	}
	isValid := func(f herb.Field) bool { return f.Type == t && f.Filterable }
	var valid []string
	for _, f := range fields {
		if isValid(f) {
			valid = append(valid, f.Name)
		}
	}
	for _, name := range c.Names() {
		if !slices.Contains(valid, name) {
			return herb.Invalidf("coordinates names the field %q, which is not an exposed, filterable %s field%s; %s "+
				"fields: %s", name, kind,
				text.Suggestion(name, valid), kind, herb.Clip(strings.Join(valid, ", "), 200))
		}
	}
	return nil
}

// Recognizer finds the coordinates of a dataset while its records are read. Candidates are chosen
// by the names and the types of the fields, and dropped when their values are no positions.
type Recognizer struct {
	Candidates []*Candidate
	declared   bool
}

// Candidate is fields that may be coordinates.
type Candidate struct {
	Reader
	class   class
	dropped atomic.Bool

	located, invalid int
	fine             [2]int // positions whose longitude, and whose latitude, has at least three decimal places
	low, high        Point  // bounds of the positions
}

// class is how candidates were found. Coordinates of a dataset are of one class, the first one that
// has some.
type class int

const (
	byName  class = iota // number fields with names such as lat and lon
	byPlane              // number fields called x and y
	byValue              // a text field
)

// NewRecognizer returns a recognizer of a dataset with some fields.
func NewRecognizer(fields []herb.Field, d Declaration) *Recognizer {
	r := &Recognizer{}
	if d.None {
		return r
	}
	if d.Coordinates != nil {
		r.declared = true
		r.add(*d.Coordinates, fields, byName)
		return r
	}
	r.addPairs(fields, byName, degrees(roles.Latitude), degrees(roles.Longitude))
	r.addPairs(fields, byPlane, plane("y"), plane("x"))
	for _, f := range fields {
		if f.Type == herb.TypeText && f.Filterable {
			for _, notation := range []herb.CoordinatesNotation{pairNotation(f.Name), herb.NotationWKT,
				herb.NotationGeoJSON} {
				r.add(herb.Coordinates{Field: f.Name, Notation: notation}, fields, byValue)
			}
		}
	}
	return r
}

// Fixed returns a recognizer that keeps coordinates that were recognized before.
func Fixed(all []herb.Coordinates, fields []herb.Field) *Recognizer {
	r := &Recognizer{declared: true}
	for _, c := range all {
		r.add(c, fields, byName)
	}
	return r
}

func (r *Recognizer) add(c herb.Coordinates, fields []herb.Field, found class) {
	c.Records, c.Invalid = 0, 0
	if reader, ok := NewReader(c, fields); ok {
		r.Candidates = append(r.Candidates, &Candidate{Reader: reader, class: found})
	}
}

// stemFunc returns the rest of a name that is called as a coordinate.
type stemFunc func(name string) (stem string, ok bool)

// degrees returns the function for a role.
func degrees(role roles.Role) stemFunc {
	return func(name string) (string, bool) { return roles.Stem(name, role) }
}

// plane returns the function for a word such as x.
func plane(word string) stemFunc {
	return func(name string) (string, bool) {
		parts := text.IdentifierWords(name)
		i := slices.Index(parts, word)
		if i < 0 {
			return "", false
		}
		return strings.Join(slices.Delete(parts, i, i+1), " "), true
	}
}

// addPairs adds the pairs of filterable number fields whose names are equal apart from the
// coordinate. On a plane, there is no third one.
func (r *Recognizer) addPairs(fields []herb.Field, found class, latitude, longitude stemFunc) {
	byStem := func(stemOf stemFunc) map[string]string {
		names := map[string]string{}
		for _, f := range fields {
			if stem, ok := stemOf(f.Name); ok && f.Type == herb.TypeNumber && f.Filterable {
				names[stem] = f.Name
			}
		}
		return names
	}
	xs, ys, zs := byStem(longitude), byStem(latitude), map[string]string{}
	if found == byPlane {
		zs = byStem(plane("z"))
	}
	for _, f := range fields {
		stem, ok := latitude(f.Name)
		if x := xs[stem]; ok && x != "" && ys[stem] == f.Name && zs[stem] == "" &&
			len(r.Candidates) < 2*MaxCoordinates {
			r.add(herb.Coordinates{Latitude: f.Name, Longitude: x}, fields, found)
		}
	}
}

// pairNotation returns the order of the coordinates in a field by its name.
func pairNotation(name string) herb.CoordinatesNotation {
	joined := strings.Join(text.IdentifierWords(name), "")
	longitude, latitude := strings.Index(joined, "lon"), strings.Index(joined, "lat")
	if at := strings.Index(joined, "lng"); at >= 0 && longitude < 0 {
		longitude = at
	}
	if longitude >= 0 && latitude > longitude {
		return herb.NotationLonLat
	}
	return herb.NotationLatLon
}

// IsDropped reports whether a candidate is none. It is safe for concurrent use.
func (c *Candidate) IsDropped() bool { return c.dropped.Load() }

// Located returns the number of positions so far.
func (c *Candidate) Located() int { return c.located }

// tolerated is the number of values in a hundred that may be no positions.
const tolerated = 1

// Add adds the positions of the next records, in their order.
func (c *Candidate) Add(points []Point, declared bool) {
	const early = 64 // values that may be wrong at the beginning
	for _, p := range points {
		switch {
		case p == Invalid:
			c.invalid++
		case p.IsPosition():
			c.addPosition(p)
		}
	}
	if !declared && 100*c.invalid > 100*early+tolerated*(c.located+c.invalid) {
		c.dropped.Store(true)
	}
}

func (c *Candidate) addPosition(p Point) {
	const fine = unit / 100 // more than two decimal places
	c.located++
	if c.located == 1 {
		c.low, c.high = p, p
	}
	c.low = Point{min(c.low.Longitude, p.Longitude), min(c.low.Latitude, p.Latitude)}
	c.high = Point{max(c.high.Longitude, p.Longitude), max(c.high.Latitude, p.Latitude)}
	if p.Longitude%fine != 0 {
		c.fine[0]++
	}
	if p.Latitude%fine != 0 {
		c.fine[1]++
	}
}

// Decide returns the candidates that are the coordinates of the dataset, after all records.
func (r *Recognizer) Decide() (chosen []*Candidate) {
	for _, c := range r.Candidates {
		c.Coordinates.Records, c.Coordinates.Invalid = c.located, c.invalid
		switch {
		case len(chosen) == MaxCoordinates || len(chosen) > 0 && chosen[0].class != c.class:
		case r.declared || c.isValid():
			chosen = append(chosen, c)
		}
	}
	return chosen
}

// isValid reports whether the values are positions, as far as there are any.
func (c *Candidate) isValid() bool {
	if c.dropped.Load() || 100*c.invalid > tolerated*(c.located+c.invalid) {
		return false
	}
	isFine := func(n int) bool { return 10*n >= 9*c.located }
	areFine := isFine(c.fine[0]) && isFine(c.fine[1])
	switch {
	case c.class == byName:
		return true
	case c.located == 0:
		return false
	case c.class == byPlane: // degrees have many decimals, and few areas are at the origin
		hasOrigin := c.low.Longitude <= 0 && c.high.Longitude >= 0 && c.low.Latitude <= 0 && c.high.Latitude >= 0
		return areFine && !hasOrigin
	case c.Coordinates.HasGeometries():
		return true
	}
	return areFine || roles.Of(c.Coordinates.Field) == roles.Position
}

// Recognize returns the coordinates of records in memory.
func Recognize(fields []herb.Field, records []herb.Record, d Declaration) []herb.Coordinates {
	r := NewRecognizer(fields, d)
	for _, c := range r.Candidates {
		points := make([]Point, len(records))
		for i, record := range records {
			points[i] = c.Point(record)
		}
		c.Add(points, r.declared)
	}
	all := []herb.Coordinates{}
	for _, c := range r.Decide() {
		all = append(all, c.Coordinates)
	}
	return all
}
