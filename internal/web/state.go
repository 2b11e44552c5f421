package web

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// What a page alone knows. A field of such a name is filtered as name[eq].
const (
	paramColumn = "_column" // a column to show, once for each; none: the first ones
	paramRecord = "_record" // the opened record, by its place on the page
	paramFacet  = "_facet"  // a filter that is opened, once for each
)

// pair is one parameter.
type pair struct{ name, value string }

// params are the parameters of a listing in the order in which they were given.
type params []pair

// encode writes parameters as a query.
func (ps params) encode() string {
	var b strings.Builder
	for i, p := range ps {
		if i > 0 {
			b.WriteByte('&')
		}
		b.WriteString(url.QueryEscape(p.name))
		b.WriteByte('=')
		b.WriteString(url.QueryEscape(p.value))
	}
	return b.String()
}

// get returns the first value of a parameter.
func (ps params) get(name string) string {
	for _, p := range ps {
		if p.name == name {
			return p.value
		}
	}
	return ""
}

// without returns the parameters but those of some names.
func (ps params) without(names ...string) params {
	return slices.DeleteFunc(slices.Clone(ps), func(p pair) bool { return slices.Contains(names, p.name) })
}

// with returns the parameters with others behind them.
func (ps params) with(more ...pair) params { return append(ps[:len(ps):len(ps)], more...) }

// state is what the address of a data browser says.
type state struct {
	path    string // of the page
	listing params // what is listed, in the words of the listing
	columns []string
	record  int // from 1; 0: none
	facets  []string
	untidy  bool // the address says more than it needs to, as addresses that forms make do
}

// parseState reads an address. What is wrong with the parameters of the listing is for query to tell; ok is false where the
// address cannot be read at all.
func parseState(path, raw string) (s state, ok bool) {
	s.path = path
	for piece := range strings.SplitSeq(raw, "&") {
		if piece == "" {
			continue
		}
		n, v, _ := strings.Cut(piece, "=")
		name, err := url.QueryUnescape(n)
		value, err2 := url.QueryUnescape(v)
		if err != nil || err2 != nil {
			return state{path: path}, false
		}
		switch {
		case name == query.ParamAPIKey:
			s.untidy = true // a key has no place in an address
		case name == paramColumn:
			s.columns = append(s.columns, value)
		case name == paramFacet:
			s.facets = append(s.facets, value)
		case name == paramRecord:
			if s.record, err = strconv.Atoi(value); err != nil || s.record < 1 || s.record > query.MaxPerPage {
				s.record, s.untidy = 0, true
			}
		case value == "" && (isReserved(name) || needsValue(name)), name == query.ParamPage && value == "1":
			s.untidy = true
		default:
			s.listing = append(s.listing, pair{name, value})
		}
	}
	if s.listing.get(query.ParamSort) == "" && s.listing.get(query.ParamOrder) != "" {
		s.listing, s.untidy = s.listing.without(query.ParamOrder), true
	}
	return s, true
}

func isReserved(name string) bool { return slices.Contains(query.Reserved(), name) }

// needsValue reports whether a parameter has an operator that compares with something.
func needsValue(name string) bool {
	_, op, ok := cutOperator(name)
	return ok && op != query.OpEq && op != query.OpNe
}

// cutOperator splits the name of a parameter that has an operator behind it.
func cutOperator(name string) (field string, op query.Op, ok bool) {
	base, ok := strings.CutSuffix(name, "]")
	if !ok {
		return name, query.OpEq, false
	}
	i := strings.LastIndexByte(base, '[')
	if i < 0 || !slices.Contains(query.Ops(), query.Op(base[i+1:])) {
		return name, query.OpEq, false
	}
	return base[:i], query.Op(base[i+1:]), true
}

// filterOf finds the field and the operator that a parameter names, as query does; -1 if it is no filter.
func filterOf(name string, fields []herb.Field) (field int, op query.Op) {
	if base, op, ok := cutOperator(name); ok {
		if i := herb.FieldIndex(fields, base); i >= 0 {
			return i, op
		}
	}
	if isReserved(name) {
		return -1, ""
	}
	return herb.FieldIndex(fields, name), query.OpEq
}

// condition is a parameter that filters.
type condition struct {
	pair
	op query.Op
}

// filters returns the parameters that filter, by the field that they are about.
func (s *state) filters(fields []herb.Field) map[int][]condition {
	var out map[int][]condition
	for _, p := range s.listing {
		i, op := filterOf(p.name, fields)
		if i < 0 {
			continue
		}
		if out == nil {
			out = map[int][]condition{}
		}
		out[i] = append(out[i], condition{p, op})
	}
	return out
}

// filterName is the parameter that filters by whole values of a field.
func filterName(field string) string {
	if isReserved(field) || strings.HasPrefix(field, "_") || strings.HasSuffix(field, "]") {
		return withOperator(field, query.OpEq)
	}
	return field
}

func withOperator(field string, op query.Op) string { return field + "[" + string(op) + "]" }

// href is the address of the page with other parameters of the listing, relative to the page: that is a third of its bytes.
// Columns and opened filters stay.
func (s *state) href(listing params) string { return s.relative(s.own(listing)) }

func (s *state) relative(ps params) string {
	if len(ps) == 0 {
		return s.path
	}
	return "?" + ps.encode()
}

// begin is how a relative address begins that has one more parameter than some others, which comes last.
func begin(ps params) string {
	if len(ps) == 0 {
		return "?"
	}
	return "?" + ps.encode() + "&"
}

// own adds what the page alone knows, but for the opened record: that is one of the records shown now.
func (s *state) own(listing params) params {
	for _, c := range s.columns {
		listing = listing.with(pair{paramColumn, c})
	}
	for _, f := range s.facets {
		listing = listing.with(pair{paramFacet, f})
	}
	return listing
}

func join(path, rawQuery string) string {
	if rawQuery == "" {
		return path
	}
	return path + "?" + rawQuery
}

// clean is the address of this very page as it should be.
func (s *state) clean() string {
	ps := s.own(s.listing)
	if s.record > 0 {
		ps = ps.with(pair{paramRecord, strconv.Itoa(s.record)})
	}
	return join(s.path, ps.encode())
}

// narrowed returns the parameters of the listing without its page: those of another listing begin with them.
func (s *state) narrowed() params { return s.listing.without(query.ParamPage) }

// toggled returns the parameters with a filter added, or taken away if it is there.
func (s *state) toggled(field, value string) (ps params, active bool) {
	ps = s.narrowed()
	i := slices.IndexFunc(ps, func(p pair) bool {
		base, op, ok := cutOperator(p.name)
		return p.value == value && (p.name == filterName(field) || ok && base == field && op == query.OpEq)
	})
	if i >= 0 {
		return slices.Delete(ps, i, i+1), true
	}
	return ps.with(pair{filterName(field), value}), false
}

// ranged returns the parameters with a range of a field in the place of any other range of it.
func (s *state) ranged(field string, limits ...pair) params {
	ps := s.narrowed().without(
		withOperator(field, query.OpGte), withOperator(field, query.OpGt),
		withOperator(field, query.OpLte), withOperator(field, query.OpLt))
	return ps.with(limits...)
}

// unfiltered returns the parameters without any filter of a field.
func (s *state) unfiltered(field int, fields []herb.Field) params {
	return slices.DeleteFunc(s.narrowed(), func(p pair) bool {
		i, _ := filterOf(p.name, fields)
		return i == field
	})
}
