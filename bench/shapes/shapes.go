// Package shapes lists the measured queries.
package shapes

import (
	"net/url"
	"strconv"
	"strings"

	"herbarium/bench/gen"
	"herbarium/internal/query"
)

// Depth is the position of a page in a listing, in percent.
type Depth int

// The depths of the shapes.
const (
	First  Depth = 0
	Middle Depth = 50
	Last   Depth = 100
)

// Page returns the number of the page at a depth of a listing with total records.
func (d Depth) Page(total int) int {
	pages := max(1, (total+query.DefaultPerPage-1)/query.DefaultPerPage)
	return 1 + (pages-1)*int(d)/100
}

// Shape is a kind of query.
type Shape struct {
	Name  string // one word, for benchmarks
	Title string // shown in results
	Query string // the raw query without the page
	Depth Depth
}

// Relevance reports whether records are sorted by relevance, which engines may score differently.
func (s Shape) Relevance() bool {
	v, err := url.ParseQuery(s.Query)
	return err == nil && v.Has(query.ParamSearch) && !v.Has(query.ParamSort)
}

// Raw returns the raw query with the page, if total records match.
func (s Shape) Raw(total int) string {
	page := s.Depth.Page(total)
	if page == 1 {
		return s.Query
	}
	return strings.TrimPrefix(s.Query+"&"+query.ParamPage+"="+strconv.Itoa(page), "&")
}

// All lists the shapes, the simple ones first.
func All() []Shape {
	search := func(s string) string { return "search=" + url.QueryEscape(s) }
	const category = "category=" + gen.Category
	return []Shape{
		{"first", "first page", "", First},
		{"middle", "middle page", "", Middle},
		{"last", "last page", "", Last},
		{"sort-first", "sort=price, first page", "sort=price", First},
		{"sort-middle", "sort=price, middle page", "sort=price", Middle},
		{"category", "category", category, First},
		{"category-sort", "category, sort=date desc, middle page", category + "&sort=date&order=desc", Middle},
		{"rare-word", "rare word", search(gen.RareWord), First},
		{"common-word-sort", "word of 40 %, sort=date, middle page", search(gen.CommonWord) + "&sort=date", Middle},
		{"common-word-category-sort", "word of 40 %, category, sort=price, middle page", search(gen.CommonWord) + "&" + category + "&sort=price", Middle},
		{"two-words", "two words", search(gen.FirstWord + " " + gen.SecondWord), First},
		{"tag-sort", "tag, sort=title", "tags=" + gen.Tag + "&sort=title", First},
		{"author", "author", "author=" + url.QueryEscape(gen.Author), First},
		{"range-sort", "range of prices, sort=date", "price[gte]=" + gen.PriceFrom + "&price[lt]=" + gen.PriceBelow + "&sort=date", First},
		{"prefix", "beginning of a word", search(gen.Prefix + "*"), First},
		{"phrase", "phrase", search(`"` + gen.Phrase + `"`), First},
		{"common-word", "word of 40 %, by relevance", search(gen.CommonWord), First},
	}
}
