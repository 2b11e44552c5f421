package query

import (
	"herbarium/internal/geo"
	"herbarium/internal/herb"
)

// Parameters about where records are.
const (
	ParamBox         = "_bbox"
	ParamNear        = "_near"
	ParamCoordinates = "_coordinates"
)

// SortDistance is the sort by the distance from ParamNear.
const SortDistance = "_distance"

// Distance is an order by the distance from a position.
type Distance int

// Orders by distance. Ties are in dataset order.
const (
	AnyDistance Distance = iota // another order
	NearestFirst
	FarthestFirst
)

// Area is the part of the world that a request selects records in. A record without a position is
// in none.
type Area struct {
	Coordinates string      // names those to use; empty: the first ones
	Box         *geo.Box    // nil: any
	Near        *geo.Circle // nil: any
}

// HasPosition reports whether the area selects records by their position.
func (a *Area) HasPosition() bool { return a.Box != nil || a.Near != nil }

// Select returns the position of the coordinates of an area among those of a dataset; -1 if it
// needs none. The error has herb.CodeInvalid and says what is valid.
func (a *Area) Select(all []herb.Coordinates) (int, error) {
	if !a.HasPosition() && a.Coordinates == "" {
		return -1, nil
	}
	return FindCoordinates(all, a.Coordinates)
}

// FindCoordinates returns the position of coordinates by their name; an empty one is that of the
// first.
func FindCoordinates(all []herb.Coordinates, name string) (int, error) {
	if len(all) == 0 {
		return 0, herb.Invalidf(
			"the dataset has no coordinates, so its records are nowhere; leave out %s, %s and %s, or name the fields "+
				"in its descriptor",
			ParamBox, ParamNear, ParamCoordinates)
	}
	if i := herb.CoordinatesIndex(all, name); i >= 0 {
		return i, nil
	}
	names := make([]string, len(all))
	for i, c := range all {
		names[i] = c.Name()
	}
	return 0, herb.Invalidf("%s is %q; it must name coordinates of the dataset: %s", ParamCoordinates, clip(name),
		joinNames(names))
}

// set sets the value of a parameter; ok is false if it is another one.
func (a *Area) set(p Param) (ok bool, err error) {
	switch p.Name {
	case ParamBox:
		b, err := geo.ParseBox(p.Name, p.Value)
		a.Box = &b
		return true, err
	case ParamNear:
		c, err := geo.ParseCircle(p.Name, p.Value)
		a.Near = &c
		return true, err
	case ParamCoordinates:
		a.Coordinates = p.Value
		return true, nil
	}
	return false, nil
}

// parseDistance parses a sort by distance; ok is false if the sort is another one.
func (r *Request) parseDistance(sort, order string) (ok bool, err error) {
	if sort != SortDistance && sort != "-"+SortDistance || r.Area.Near == nil &&
		herb.FieldIndex(r.fields, SortDistance) >= 0 {
		return false, nil
	}
	if r.Area.Near == nil {
		return true, herb.Invalidf("%s=%s needs %s=latitude,longitude,meters, from which distances are measured",
			ParamSort, SortDistance, ParamNear)
	}
	if order != "" {
		if err := checkChoice(Param{ParamOrder, order}, "asc", "desc"); err != nil {
			return true, err
		}
		if sort != SortDistance {
			return true, herb.Invalidf("%q is given, so %q must be %s without -", ParamOrder, ParamSort, SortDistance)
		}
	}
	r.Distance = NearestFirst
	if sort != SortDistance || order == "desc" {
		r.Distance = FarthestFirst
	}
	return true, nil
}
