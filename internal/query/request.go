package query

import (
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"herbarium/internal/herb"
)

// The limits of a request. What is over one is refused by name, except PerPage, which is served as MaxPerPage.
const (
	DefaultPerPage  = 25
	MaxPerPage      = 100
	MaxPage         = 1<<53 - 1 // the largest integer that every JSON reader takes in exactly
	MaxQueryBytes   = 8 << 10
	MaxFilterValues = 100
	MaxSearchWords  = 32
)

// The reserved parameters.
const (
	ParamPage    = "page"
	ParamPerPage = "per_page"
	ParamSort    = "sort"
	ParamOrder   = "order"
	ParamSearch  = "search"
	ParamAPIKey  = "api_key"
)

// Request is a listing request that was found right for the fields of a dataset.
type Request struct {
	Page       int
	PerPage    int
	Sort       int // position of the field to sort by, NoSort without one
	Desc       bool
	Conditions []Condition // in the order of their fields, then of their operators
	Search     *Search     // nil: none

	fields []herb.Field
}

// NoSort is the value of Request.Sort in a request without an order of its own.
const NoSort = -1

// Offset is the number of records before the page.
func (r *Request) Offset() int {
	if r.Page-1 > math.MaxInt/r.PerPage {
		return math.MaxInt
	}
	return (r.Page - 1) * r.PerPage
}

// ByRelevance reports whether the best matches of a search come first.
func (r *Request) ByRelevance() bool { return r.Search != nil && r.Sort == NoSort }

// String returns the request in canonical form: a query string that reads back as the same request. Requests that must
// have the same answer because they differ in spelling or order alone have the same form.
func (r *Request) String() string {
	var b strings.Builder
	b.Grow(64) // enough for most, in one piece
	r.writeQuestion(&b)
	if r.Sort != NoSort {
		writeParam(&b, ParamSort, r.fields[r.Sort].Name)
		if r.Desc {
			writeParam(&b, ParamOrder, orderDesc)
		}
	}
	writeParam(&b, ParamPage, strconv.Itoa(r.Page))
	writeParam(&b, ParamPerPage, strconv.Itoa(r.PerPage))
	return b.String()
}

// writeQuestion writes what decides which records meet the request: its conditions and its search.
func (r *Request) writeQuestion(b *strings.Builder) {
	for _, c := range r.Conditions {
		name := FilterParam(r.fields[c.Field].Name, c.Op)
		for _, v := range c.Values {
			writeParam(b, name, v.Text)
		}
	}
	if r.Search != nil {
		writeParam(b, ParamSearch, r.Search.String())
	}
}

func writeParam(b *strings.Builder, name, value string) {
	if b.Len() > 0 {
		b.WriteByte('&')
	}
	b.WriteString(url.QueryEscape(name))
	b.WriteByte('=')
	b.WriteString(url.QueryEscape(value))
}

// Page is what an engine found.
type Page struct {
	Total   int      // records that meet the request, on all pages
	Records [][]byte // those of the page, each a JSON object; the bytes belong to the engine
}

// Meta tells a client where its page stands.
type Meta struct {
	Total      int  `json:"total"`
	Page       int  `json:"page"`
	PerPage    int  `json:"per_page"`
	TotalPages int  `json:"total_pages"`
	HasNext    bool `json:"has_next"`
	HasPrev    bool `json:"has_prev"`
}

// Meta returns the metadata of the answer when total records meet the request.
func (r *Request) Meta(total int) Meta {
	pages := (total + r.PerPage - 1) / r.PerPage
	return Meta{
		Total:      total,
		Page:       r.Page,
		PerPage:    r.PerPage,
		TotalPages: pages,
		HasNext:    r.Page < pages,
		HasPrev:    r.Page > 1 && pages > 0,
	}
}

// WithPage returns a raw query as it would be asked for another page, which it names last. A key in it is left out: what
// is built of the result may be logged, shared and cached.
func WithPage(raw string, page int) (string, error) {
	if raw == "" {
		return ParamPage + "=" + strconv.Itoa(page), nil
	}
	ps, err := ParseParams(raw)
	if err != nil {
		return "", err
	}
	ps = slices.DeleteFunc(ps, func(p Param) bool { return p.Name == ParamPage || p.Name == ParamAPIKey })
	return append(ps, Param{ParamPage, strconv.Itoa(page)}).Encode(), nil
}
