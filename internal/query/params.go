package query

import (
	"slices"
	"strings"

	"herbarium/internal/herb"
)

// Param is one decoded parameter of a query string.
type Param struct{ Name, Value string }

// Params is the list of parameters of a query string in the given order.
type Params []Param

// ParseParams parses a raw query string. Errors have herb.CodeInvalid.
func ParseParams(raw string) (Params, error) { return Split(raw).Params() }

func givenTwice(param string) error {
	return herb.Invalidf("%q is given more than once; give it once", param)
}

// Encode returns the parameters as a query string.
func (ps Params) Encode() string {
	var b strings.Builder
	b.Grow(64) // enough for most queries
	for _, p := range ps {
		p.appendTo(&b)
	}
	return b.String()
}

// Get returns the first value of a parameter, or "" if there is none.
func (ps Params) Get(name string) string {
	for _, p := range ps {
		if p.Name == name {
			return p.Value
		}
	}
	return ""
}

// Without returns a copy of the parameters without those with the given names.
func (ps Params) Without(names ...string) Params {
	return slices.DeleteFunc(slices.Clone(ps), func(p Param) bool { return slices.Contains(names, p.Name) })
}

// With returns the parameters followed by more. It does not change the backing array of ps.
func (ps Params) With(more ...Param) Params { return append(ps[:len(ps):len(ps)], more...) }

// WithValue returns the parameters followed by one, unless its value is empty.
func (ps Params) WithValue(name, value string) Params {
	if value == "" {
		return ps
	}
	return ps.With(Param{name, value})
}

// FilterParam returns the parameter that filters a field with an operator.
func FilterParam(field string, op Op) string { return field + "[" + string(op) + "]" }

// ResolveFilter returns the position of the field and the operator of a filter parameter. ok is
// false if the parameter is not a filter on these fields.
func ResolveFilter(param string, fields []herb.Field) (field int, op Op, ok bool) {
	if IsReserved(param) {
		return -1, "", false
	}
	return resolveFilter(param, fields)
}

// resolveFilter first interprets a trailing known operator as such, so that a filter with an
// operator is never ambiguous.
func resolveFilter(param string, fields []herb.Field) (field int, op Op, ok bool) {
	if name, op := splitOperator(param); slices.Contains(Ops(), op) {
		if i := herb.FieldIndex(fields, name); i >= 0 {
			return i, op, true
		}
	}
	i := herb.FieldIndex(fields, param)
	return i, OpEq, i >= 0
}

// ExpandFilter converts a value of ParamFilter, such as price[gte]=10, to the filter parameter that
// it contains, with an explicit operator if it is a filter on these fields. ok is false if the
// value contains no =.
func ExpandFilter(value string, fields []herb.Field) (p Param, ok bool) {
	p.Name, p.Value, ok = strings.Cut(value, "=")
	if field, op, found := resolveFilter(p.Name, fields); found {
		p.Name = FilterParam(fields[field].Name, op)
	}
	return p, ok
}

// splitOperator splits field[op]; a parameter without an operator has OpEq.
func splitOperator(param string) (field string, op Op) {
	if base, ok := strings.CutSuffix(param, "]"); ok {
		if i := strings.LastIndexByte(base, '['); i >= 0 {
			return base[:i], Op(base[i+1:])
		}
	}
	return param, OpEq
}
