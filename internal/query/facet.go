package query

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// Limits of a facet request. Exceeding one is an error that names it.
const (
	DefaultTop     = 10
	MaxTop         = 100
	DefaultBuckets = 20
	MinBuckets     = 2 // values on both sides of zero never fit into one bucket
	MaxBuckets     = 100
	MaxFacetFields = 32
	MaxValueOffset = 10_000
	MaxEdgeDigits  = text.MaxDigits // numbers with more digits get no histogram
	MaxFacetValue  = 1024           // bytes; longer values are clipped
)

// MaxLongValues limits the long values of a field that a request searches for a part of them. They
// are read from records, which takes up to ten microseconds for each.
const MaxLongValues = 5_000

// Parameters of facet requests in addition to those of a listing.
const (
	ParamField     = "field"
	ParamTop       = "top"
	ParamBuckets   = "buckets"
	ParamOffset    = "_offset"
	ParamValues    = "_values"
	ParamScale     = "_scale"
	ParamEdges     = "_edges"
	ParamOwnFilter = "_own_filter"
)

// Scale is how the bucket boundaries of a histogram are spaced.
type Scale string

// The scales. A request may leave the choice to the server; a histogram is always linear or
// logarithmic.
const (
	ScaleLinear Scale = "linear"
	ScaleLog    Scale = "log"
	ScaleAuto   Scale = "auto"
)

// FacetRequest asks for the distribution of the values of some fields over the records that match
// the filters and the search of a request. All fields are requested at once, so that the records
// are selected once and all counts describe one state.
type FacetRequest struct {
	Request *Request // page and order are ignored
	Fields  []int    // field positions in the requested order, without duplicates
	Top     int      // number of values to return per field; 0 for none
	Offset  int      // number of values to skip before those
	Buckets int      // maximum number of histogram buckets; 0 for no histogram, else at least MinBuckets
	Scale   Scale    // of the histograms of numbers; "" means ScaleLinear

	// Containing restricts the returned values to those that contain this text, ignoring case and
	// accents. Counts, Distinct and histograms do not depend on it.
	Containing string
	// AllEdges takes the bucket boundaries and the scale from all records of the dataset instead of
	// the matching ones, so that histograms of different filters can be compared.
	AllEdges bool
	// IgnoreOwnFilter counts each field without the conditions on that field.
	IgnoreOwnFilter bool
}

// RequestOf returns the request whose records the facet of a field counts: without the conditions
// on that field if IgnoreOwnFilter is set.
func (f *FacetRequest) RequestOf(field int) *Request {
	own := func(c Condition) bool { return c.Field == field }
	if !f.IgnoreOwnFilter || !slices.ContainsFunc(f.Request.Conditions, own) {
		return f.Request
	}
	r := *f.Request
	r.Conditions = slices.DeleteFunc(slices.Clone(r.Conditions), own)
	return &r
}

// Facets is the result of a facet request.
type Facets struct {
	Total  int     // records that match the filters and the search
	Fields []Facet // in the order of the request
}

// Facet is the distribution of the values of one field.
//
// Values of a scalar type that compare equal are one value, displayed as its first occurrence in
// the dataset; texts and list elements are one value if they are identical strings. A record counts
// once for each distinct element of its list.
type Facet struct {
	Field     string
	Type      herb.Type
	Total     int          // records that are counted; more than Facets.Total if the filter of the field is ignored
	Empty     int          // records whose value is missing
	Distinct  int          // distinct values; for lists, distinct elements
	Matching  int          // distinct values that contain FacetRequest.Containing
	Values    []ValueCount // by descending count, ties in the order of the values
	Min, Max  string       // HasRange: minimum and maximum as written; empty if there are no values
	Scale     Scale        // HasRange: of the histogram; ScaleLinear if there is none
	Histogram []Bucket     // HasRange: adjacent buckets in ascending order
}

// ValueCount is a value and the number of records that have it.
type ValueCount struct {
	Value   string `json:"value"`
	Label   string `json:"label,omitempty"` // category label; engines do not set it
	Count   int    `json:"count"`
	Clipped bool   `json:"clipped,omitempty"` // Value is the start of a longer value
}

// NewValueCount returns the count of a value, which it clips if it is longer than MaxFacetValue. A
// value can have megabytes, and a response a hundred of them for each field.
func NewValueCount(value string, count int) ValueCount {
	if len(value) <= MaxFacetValue {
		return ValueCount{Value: value, Count: count}
	}
	end := MaxFacetValue
	for !utf8.RuneStart(value[end]) {
		end--
	}
	return ValueCount{Value: strings.Clone(value[:end]), Count: count, Clipped: true}
}

// AddLabels sets the category labels of the values of a result.
func (f *FacetRequest) AddLabels(found *Facets) {
	for i, field := range f.Fields {
		categories := text.NewCategories(&f.Request.fields[field])
		if !categories.HasLabels() {
			continue
		}
		values := slices.Clone(found.Fields[i].Values)
		for k := range values {
			values[k].Label = categories.Label(values[k].Value)
		}
		found.Fields[i].Values = values
	}
}

// MaxBytes returns how much memory the values of the result and their JSON need at most, in bytes.
func (f *FacetRequest) MaxBytes() int {
	const perBucket = 256
	return len(f.Fields) * (f.Top*2*MaxFacetValue + f.Buckets*perBucket)
}

// Bucket counts the records with From <= value < To. The last bucket of a histogram includes value
// = To.
type Bucket struct {
	From  string `json:"from"`
	To    string `json:"to"`
	Count int    `json:"count"`
}

// HasRange reports whether facets of a type have a minimum, a maximum and a histogram.
func HasRange(t herb.Type) bool { return t.IsScalar() && t != herb.TypeBoolean }

// countScope says in messages which records facets and grids count.
const countScope = " count all records that meet the filters and the search, in no order and without pages"

// ParseFacets parses a facet request from the raw query of a URL. Errors have herb.CodeInvalid and
// say what is valid.
func ParseFacets(raw string, fields []herb.Field) (*FacetRequest, error) {
	return Split(raw).Facets(fields)
}

// Facets parses a facet request.
func (s String) Facets(fields []herb.Field) (*FacetRequest, error) {
	f := &FacetRequest{Request: newRequest(fields), Top: DefaultTop, Buckets: DefaultBuckets, Scale: ScaleLinear}
	if err := f.Request.parse(s, "facets"+countScope, KindFacets,
		func(p Param) error { return f.setReserved(p, fields) }); err != nil {
		return nil, err
	}
	if len(f.Fields) == 0 {
		return nil, herb.Invalidf(
			"no %q is given; name each field to count the values of, as in field=<name>; filterable fields: %s",
			ParamField, joinNames(fieldNames(fields, isFilterable)))
	}
	return f, nil
}

func isFilterable(f herb.Field) bool { return f.Filterable }

func (f *FacetRequest) addField(name string, fields []herb.Field) error {
	use := fieldUse{isFilterable, "field %q", "is not filterable, so its values are not counted", "filterable fields"}
	i, err := resolveField(fields, name, use)
	switch {
	case err != nil:
		return err
	case slices.Contains(f.Fields, i):
		return herb.Invalidf("field %q is given more than once; give it once", name)
	case len(f.Fields) == MaxFacetFields:
		return herb.Invalidf("more than %d fields are given; give at most %d", MaxFacetFields, MaxFacetFields)
	}
	f.Fields = append(f.Fields, i)
	return nil
}

func (f *FacetRequest) setReserved(p Param, fields []herb.Field) (err error) {
	switch p.Name {
	case ParamField:
		err = f.addField(p.Value, fields)
	case ParamTop:
		f.Top, err = parseWhole(p, 0, MaxTop, "a whole number from 0 (no values) to %d")
	case ParamBuckets:
		f.Buckets = 0
		if strings.Trim(p.Value, "0") != "" {
			f.Buckets, err = parseWhole(p, MinBuckets, MaxBuckets, "0 (no histogram) or a whole number from "+
				strconv.Itoa(MinBuckets)+" to %d")
		}
	case ParamOffset:
		f.Offset, err = parseWhole(p, 0, MaxValueOffset, "a whole number from 0 to %d; to find other values, use "+
			ParamValues)
	case ParamValues:
		f.Containing = p.Value
	case ParamScale:
		f.Scale = Scale(p.Value)
		err = checkChoice(p, string(ScaleLinear), string(ScaleLog), string(ScaleAuto))
	case ParamEdges:
		f.AllEdges = p.Value == "all"
		err = checkChoice(p, "matching", "all")
	case ParamOwnFilter:
		f.IgnoreOwnFilter = p.Value == "ignore"
		err = checkChoice(p, "apply", "ignore")
	}
	return err
}

// checkChoice checks that the value of a parameter is one of the choices.
func checkChoice(p Param, choices ...string) error {
	if slices.Contains(choices, p.Value) {
		return nil
	}
	last := len(choices) - 1
	valid := choices[last]
	if last > 0 {
		valid = strings.Join(choices[:last], ", ") + " or " + valid
	}
	return herb.Invalidf("%s is %q; it must be %s", p.Name, clip(p.Value), valid)
}
