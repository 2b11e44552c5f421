package query

import (
	"slices"
	"strconv"
	"strings"

	"herbarium/internal/herb"
)

// The limits of a request for facets. What is over one is refused by name.
const (
	DefaultTop      = 10
	MaxTop          = 100
	DefaultBuckets  = 20
	MinBuckets      = 2 // values on both sides of zero never fit into one bucket
	MaxBuckets      = 100
	MaxFacetFields  = 32
	MaxBorderDigits = 1000 // a number with more has no place in a histogram
)

// The parameters that facets have beside those of a listing.
const (
	ParamField   = "field"
	ParamTop     = "top"
	ParamBuckets = "buckets"
)

// FacetRequest asks how the values of some fields are distributed over the records that meet the filters and the search
// of a request. All fields are asked for at once, so that the records are found once and all answers are about one state.
type FacetRequest struct {
	Request *Request // its page and its order mean nothing
	Fields  []int    // positions of the fields, as asked for; no two alike
	Top     int      // values to return of each field; 0: none
	Buckets int      // most buckets of a histogram; 0: none, else at least MinBuckets
}

// Facets is what an engine found.
type Facets struct {
	Total  int     // records that meet the filters and the search
	Fields []Facet // in the order of the request
}

// Facet is how the values of one field are distributed.
//
// Numbers are one value if they are equal, and shown as the first of them in the dataset is written; dates, texts and the
// elements of lists are one value if they are written alike. A record counts once for each different element of its list.
type Facet struct {
	Field     string
	Type      herb.Type
	Empty     int          // records whose value is empty
	Distinct  int          // different values; of a list: elements
	Values    []ValueCount // the most frequent first, equally frequent ones in the order of their values
	Min, Max  string       // numbers and dates: the least and the greatest value; empty: there is none
	Histogram []Bucket     // numbers and dates: without a gap, in ascending order
}

// ValueCount is a value and the number of records that have it.
type ValueCount struct {
	Value string `json:"value"`
	Count int    `json:"count"`
}

// Bucket counts the records with From <= value < To; the last bucket of a histogram has those with value = To, too.
type Bucket struct {
	From  string `json:"from"`
	To    string `json:"to"`
	Count int    `json:"count"`
}

// HasRange reports whether facets of a type have a least and a greatest value and a histogram.
func HasRange(t herb.Type) bool { return t == herb.TypeNumber || t == herb.TypeDate }

// FacetParams lists the parameters that every request for facets has.
func FacetParams() []string {
	return []string{ParamField, ParamTop, ParamBuckets, ParamSearch, ParamAPIKey}
}

// ParseFacets reads a request for facets from the raw query of a URL. Every error is herb.CodeInvalid and says what would
// be right.
func ParseFacets(raw string, fields []herb.Field) (*FacetRequest, error) {
	if len(raw) > MaxQueryBytes {
		return nil, herb.Invalidf("the query string has %d bytes; at most %d are read", len(raw), MaxQueryBytes)
	}
	ps, err := ParseParams(raw)
	if err != nil {
		return nil, err
	}
	f := &FacetRequest{
		Request: &Request{Page: 1, PerPage: DefaultPerPage, Sort: NoSort, fields: fields},
		Top:     DefaultTop, Buckets: DefaultBuckets,
	}
	filters := filterParser{fields: fields, reserved: FacetParams}
	var seen []string
	for _, p := range ps {
		switch {
		case p.Name == ParamAPIKey:
		case p.Name == ParamField:
			err = f.addField(p.Value)
		case slices.Contains(FacetParams(), p.Name):
			if slices.Contains(seen, p.Name) {
				return nil, herb.Invalidf("%q is given more than once; give it once", p.Name)
			}
			seen = append(seen, p.Name)
			err = f.setReserved(p)
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
	f.Request.Conditions, err = filters.conditions()
	return f, err
}

// exampleField returns the name of a field that may be asked for.
func exampleField(fields []herb.Field) string {
	if i := slices.IndexFunc(fields, isFilterable); i >= 0 {
		return fields[i].Name
	}
	return "category"
}

func isFilterable(f herb.Field) bool { return f.Filterable }

// addField reads one value of "field". As elsewhere, an empty one counts as absent.
func (f *FacetRequest) addField(name string) error {
	if name == "" {
		return nil
	}
	fields := f.Request.fields
	choices := names(fields, isFilterable)
	i := herb.FieldIndex(fields, name)
	switch {
	case i < 0:
		return herb.Invalidf("unknown field %q%s filterable fields: %s", clip(name), didYouMean(name, choices), list(choices))
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

func (f *FacetRequest) setReserved(p Param) (err error) {
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
	case ParamSearch:
		f.Request.Search, err = parseSearch(p.Value)
	}
	return err
}

// parseUpTo reads 0, or a whole number from least to most.
func parseUpTo(s string, least, most int) (int, error) {
	n, err := strconv.Atoi(s)
	if err == nil && (!onlyDigits(s) || n != 0 && n < least || n > most) {
		err = strconv.ErrRange
	}
	return n, err
}

// String returns the request in canonical form: a query string that reads back as the same request.
func (f *FacetRequest) String() string {
	var b strings.Builder
	f.Request.writeQuestion(&b)
	for _, i := range f.Fields {
		writeParam(&b, ParamField, f.Request.fields[i].Name)
	}
	writeParam(&b, ParamTop, strconv.Itoa(f.Top))
	writeParam(&b, ParamBuckets, strconv.Itoa(f.Buckets))
	return b.String()
}
