// Package query defines listing requests. It parses a request from the query string of a URL and
// rejects invalid ones with a helpful message. It does not execute requests; Marker finds in values
// of the result what they search for.
//
// # Conditions
//
// Engines see fewer operators than users: "in" becomes several values of "eq", and "empty" becomes
// "eq" or "ne" with the empty string. OpWhole is for engines only. A condition holds if any of its
// values matches, one with OpNe or OpINe if none does. A record must meet all conditions,
// except those of fields in Request.Any. Only operators of
// equality match empty values of a record: these have no position in an order and no prefix.
// OpMatch compares words, and an empty value has none.
package query

import (
	"context"
	"iter"
	"math"

	"herbarium/internal/herb"
	"herbarium/internal/text"
	"herbarium/internal/typed"
)

// Limits of a request. Exceeding one is an error that names it, except that per_page is capped to
// MaxPerPage.
const (
	DefaultPerPage  = 25
	MaxPerPage      = 100
	MaxPage         = 1<<53 - 1 // the largest integer that all JSON parsers read exactly
	MaxQueryBytes   = 8 << 10
	MaxFilterValues = 100
	MaxSearchWords  = 32
	MaxSortFields   = 8
)

// Reserved parameters.
const (
	ParamPage    = "page"
	ParamPerPage = "per_page"
	ParamSort    = "sort"
	ParamOrder   = "order"
	ParamSearch  = "search"
	ParamAPIKey  = "api_key"
	ParamFields  = "_fields" // parameters that are not in the specification begin with an underscore
	ParamFilter  = "_filter"
	ParamVersion = "_version"
	ParamTyped   = "_typed"
	ParamTypes   = "_types"  // the types of the values in a Parquet file
	ParamDataset = "dataset" // that the OpenAPI document describes
	ParamResult  = "_result" // where the result of a tool is
)

// Request is a listing request, validated against the fields of a dataset.
type Request struct {
	Page       int
	PerPage    int
	Sort       []SortField // most significant first; none if the request does not specify an order
	Conditions []Condition // sorted by field, then by operator
	Any        [][]int     // groups of fields: the conditions on one field of each must be met instead of all
	Search     *Search     // nil if there is none
	Area       Area        // where the records are
	Distance   Distance    // order by the distance from Area.Near; Sort is empty then
	Selected   []int       // positions of the fields to return, in order; nil means all
	Labels     bool        // records have the category labels of their values
	Typed      bool        // values are JSON numbers, booleans, arrays and null instead of texts as written
	Matches    bool        // the metadata says where records match

	kind   Kind
	fields []herb.Field
	words  int    // of the search and of OpMatch
	given  Params // the parameters with an effect, sorted
	moving movingDates
}

// SelectsAll reports whether all records match. Nothing else decides whether a result is that of
// the whole dataset.
func (r *Request) SelectsAll() bool {
	return len(r.Conditions) == 0 && r.Search == nil && !r.Area.HasPosition()
}

// Canonical returns the parameters that determine the result of a parsed request, as a query
// string. It does not depend on the order of the parameters, nor on a key and on empty parameters
// that count as absent. The position of values in a list, such as the fields of facets, remains.
func (r *Request) Canonical() string {
	if len(r.given) == 0 {
		return ""
	}
	return r.given.Encode()
}

// SortField is a field by which records are sorted. Missing values are last in both directions.
type SortField struct {
	Field int // position
	Desc  bool
}

// Offset returns the number of records before the page.
func (r *Request) Offset() int {
	if r.Page-1 > math.MaxInt/r.PerPage {
		return math.MaxInt
	}
	return (r.Page - 1) * r.PerPage
}

// MatchWholeValues makes equality compare the values of a primary key: a list as a whole instead of
// by element, and a day as the datetime at its start.
func (r *Request) MatchWholeValues() {
	for i, c := range r.Conditions {
		f := &r.fields[c.Field]
		if c.Op == OpEq && f.Type == herb.TypeList {
			r.Conditions[i].Op = OpWhole
		}
		for k, o := range c.Values {
			if o.Day {
				c.Values[k] = newOperand(f, text.StartOfDay(o.Text))
			}
		}
	}
}

// ByRelevance reports whether the records are ordered by search score.
func (r *Request) ByRelevance() bool {
	return r.Search != nil && len(r.Sort) == 0 && r.Distance == AnyDistance
}

// Page is the result of a listing request.
type Page struct {
	Total   int      // matching records on all pages
	Records [][]byte // of this page, each a JSON object; owned by the engine
}

// Meta is the pagination metadata of a page.
type Meta struct {
	Total      int  `json:"total"`
	Page       int  `json:"page"`
	PerPage    int  `json:"per_page"`
	TotalPages int  `json:"total_pages"`
	HasNext    bool `json:"has_next"`
	HasPrev    bool `json:"has_prev"`
	// by operand of a filter that moves with time, the instant that it meant
	Resolved    map[string]string `json:"resolved,omitempty"`
	Words       Words             `json:"words,omitempty"`
	Suggestions []Suggestion      `json:"suggestions,omitempty"` // if there are no records
}

// Meta returns the pagination metadata for a result of total records.
func (r *Request) Meta(total int) Meta {
	pages := (total + r.PerPage - 1) / r.PerPage
	return Meta{
		Total:      total,
		Page:       r.Page,
		PerPage:    r.PerPage,
		TotalPages: pages,
		HasNext:    r.Page < pages,
		HasPrev:    r.Page > 1 && pages > 0,
		Resolved:   r.Resolved(),
	}
}

// Stream is the complete result of a request, regardless of its page, yielded record by record.
type Stream struct {
	Total   int // matching records
	Longest int // no record has more bytes; 0 if that is unknown
	// Records yields the records in the order of the request, each a JSON object that is only valid
	// until the next one. An error ends the sequence.
	Records iter.Seq2[[]byte, error]
}

// Engine evaluates queries on one dataset.
type Engine interface {
	List(ctx context.Context, r *Request) (Page, error)
	// Stream returns all matching records, regardless of the page that the request names.
	Stream(ctx context.Context, r *Request) (Stream, error)
	// Facets counts the values of fields among the matching records.
	Facets(ctx context.Context, r *FacetRequest) (Facets, error)
	// Grid counts the matching records in the cells of a grid over two fields.
	Grid(ctx context.Context, r *GridRequest) (Grid, error)
	// Aggregate computes measures of groups of the matching records.
	Aggregate(ctx context.Context, r *AggregateRequest) (Aggregate, error)
	// StreamGroups computes the same groups. Their labels and values may be of any size.
	StreamGroups(ctx context.Context, r *AggregateRequest) (GroupStream, error)
	// Words returns the words of a request of which other forms are searched as well.
	Words(r *Request) (Words, error)
	// Types returns how other programs read the values of each field.
	Types() ([]typed.Column, error)
}
