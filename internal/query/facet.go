package query

import (
	"slices"
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// Limits of a facet request. Exceeding one is an error that names it.
const (
	DefaultTop      = 10
	MaxTop          = 100
	DefaultBuckets  = 20
	MinBuckets      = 2 // values on both sides of zero never fit into one bucket
	MaxBuckets      = 100
	MaxFacetFields  = 32
	MaxBorderDigits = 1000 // numbers with more digits get no histogram
)

// Parameters of facet requests in addition to those of a listing.
const (
	ParamField   = "field"
	ParamTop     = "top"
	ParamBuckets = "buckets"
)

// FacetRequest asks for the distribution of the values of some fields over the records that match the filters and the
// search of a request. All fields are requested at once, so that the records are selected once and all counts describe
// one state.
type FacetRequest struct {
	Request *Request // page and order are ignored
	Fields  []int    // field positions in the requested order, without duplicates
	Top     int      // number of values to return per field; 0 for none
	Buckets int      // maximum number of histogram buckets; 0 for no histogram, else at least MinBuckets
}

// Facets is the result of a facet request.
type Facets struct {
	Total  int     // records that match the filters and the search
	Fields []Facet // in the order of the request
}

// Facet is the distribution of the values of one field.
//
// Values of a scalar type that compare equal are one value, displayed as its first occurrence in the dataset; texts and
// list elements are one value if they are identical strings. A record counts once for each distinct element of its list.
type Facet struct {
	Field     string
	Type      herb.Type
	Empty     int          // records whose value is missing
	Distinct  int          // distinct values; for lists, distinct elements
	Values    []ValueCount // by descending count, ties in the order of the values
	Min, Max  string       // HasRange: minimum and maximum as written; empty if there are no values
	Histogram []Bucket     // HasRange: adjacent buckets in ascending order
}

// ValueCount is a value and the number of records that have it.
type ValueCount struct {
	Value string `json:"value"`
	Count int    `json:"count"`
}

// Bucket counts the records with From <= value < To. The last bucket of a histogram includes value = To.
type Bucket struct {
	From  string `json:"from"`
	To    string `json:"to"`
	Count int    `json:"count"`
}

// HasRange reports whether facets of a type have a minimum, a maximum and a histogram.
func HasRange(t herb.Type) bool { return t.IsScalar() && t != herb.TypeBoolean }

// FacetParams returns the reserved parameters of facet requests.
func FacetParams() []string {
	return []string{ParamField, ParamTop, ParamBuckets, ParamSearch, ParamAPIKey, ParamFilter, ParamVersion}
}

// ParseFacets parses a facet request from the raw query of a URL. Errors have herb.CodeInvalid and say what is valid.
func ParseFacets(raw string, fields []herb.Field) (*FacetRequest, error) {
	ps, err := parseQuery(raw)
	if err != nil {
		return nil, err
	}
	f := &FacetRequest{
		Request: &Request{Page: 1, PerPage: DefaultPerPage, fields: fields},
		Top:     DefaultTop, Buckets: DefaultBuckets,
	}
	filters := filterParser{fields: fields, reserved: FacetParams}
	var seen []string
	for _, p := range ps {
		switch {
		case p.Name == ParamAPIKey:
		case p.Name == ParamField:
			err = f.addField(p.Value)
		case p.Name == ParamFilter:
			err = filters.add(p)
		case slices.Contains(seen, p.Name):
			err = herb.Invalidf("%q is given more than once; give it once", p.Name)
		case slices.Contains(FacetParams(), p.Name):
			seen = append(seen, p.Name)
			err = f.setReserved(p, &filters)
		case IsReserved(p.Name):
			if p.Value != "" {
				err = herb.Invalidf("%q is given, but facets count all records that meet the filters and the search, "+
					"in no order and without pages; leave %q out", p.Name, p.Name)
			}
		default:
			err = filters.add(p)
		}
		if err != nil {
			return nil, err
		}
	}
	if len(f.Fields) == 0 {
		return nil, herb.Invalidf("no %q is given; name the fields to count the values of, as in field=%s; "+
			"filterable fields: %s", ParamField, exampleField(fields), list(names(fields, isFilterable)))
	}
	f.Request.Conditions = filters.conditions()
	return f, nil
}

// exampleField returns the name of a filterable field for use in a message.
func exampleField(fields []herb.Field) string {
	if i := slices.IndexFunc(fields, isFilterable); i >= 0 {
		return fields[i].Name
	}
	return "category"
}

func isFilterable(f herb.Field) bool { return f.Filterable }

// addField adds one value of "field". As in all parameters, an empty value counts as absent.
func (f *FacetRequest) addField(name string) error {
	if name == "" {
		return nil
	}
	fields := f.Request.fields
	choices := names(fields, isFilterable)
	i := herb.FieldIndex(fields, name)
	switch {
	case i < 0:
		return herb.Invalidf("unknown field %q%s filterable fields: %s", clip(name), text.Suggestion(clip(name), choices), list(choices))
	case !fields[i].Filterable:
		return herb.Invalidf("field %q is not filterable, so its values are not counted; filterable fields: %s", name, list(choices))
	case slices.Contains(f.Fields, i):
		return herb.Invalidf("field %q is asked for more than once; ask for it once", name)
	case len(f.Fields) == MaxFacetFields:
		return herb.Invalidf("more than %d fields are asked for; ask for at most %d at once", MaxFacetFields, MaxFacetFields)
	}
	f.Fields = append(f.Fields, i)
	return nil
}

func (f *FacetRequest) setReserved(p Param, filters *filterParser) (err error) {
	if p.Value == "" {
		return nil
	}
	switch p.Name {
	case ParamTop:
		if f.Top, err = parseUpTo(p.Value, 1, MaxTop); err != nil {
			return herb.Invalidf("top is %q; it must be a whole number from 0 (no values) to %d", clip(p.Value), MaxTop)
		}
	case ParamBuckets:
		if f.Buckets, err = parseUpTo(p.Value, MinBuckets, MaxBuckets); err != nil {
			return herb.Invalidf("buckets is %q; it must be 0 (no histogram) or a whole number from %d to %d",
				clip(p.Value), MinBuckets, MaxBuckets)
		}
	case ParamVersion:
		err = errVersion()
	case ParamSearch:
		f.Request.Search, err = filters.search(p.Value)
	}
	return err
}

// parseUpTo parses 0, or an integer from least to most.
func parseUpTo(s string, least, most int) (int, error) {
	n, err := strconv.Atoi(s)
	if err == nil && (!onlyDigits(s) || n != 0 && n < least || n > most) {
		err = strconv.ErrRange
	}
	return n, err
}

// String returns the request in canonical form: a query string that parses to the same request.
func (f *FacetRequest) String() string {
	var b strings.Builder
	f.Request.writeFilters(&b)
	for _, i := range f.Fields {
		writeParam(&b, ParamField, f.Request.fields[i].Name)
	}
	writeParam(&b, ParamTop, strconv.Itoa(f.Top))
	writeParam(&b, ParamBuckets, strconv.Itoa(f.Buckets))
	return b.String()
}
