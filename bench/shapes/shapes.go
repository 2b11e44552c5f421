// Package shapes is the list of queries that are measured.
package shapes

import (
	"context"
	"fmt"
	"net/url"
	"strconv"

	"herbarium/bench/gen"
	"herbarium/internal/query"
)

// Depth is how far into a listing a page is: 0 is the first, 100 the last.
type Depth int

// The depths of the shapes.
const (
	First  Depth = 0
	Middle Depth = 50
	Last   Depth = 100
)

// Page is the page at that depth of a listing of that many records.
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

// Relevance reports whether the best matches come first. How good a match is, each engine may see in its own way.
func (s Shape) Relevance() bool {
	v, err := url.ParseQuery(s.Query)
	return err == nil && v.Has(query.ParamSearch) && !v.Has(query.ParamSort)
}

// Raw is the raw query, page included, when total records meet it.
func (s Shape) Raw(total int) string { return WithPage(s.Query, s.Depth.Page(total)) }

// WithPage adds a page to a raw query that has none.
func WithPage(raw string, page int) string {
	switch {
	case page == 1:
		return raw
	case raw == "":
		return query.ParamPage + "=" + strconv.Itoa(page)
	default:
		return raw + "&" + query.ParamPage + "=" + strconv.Itoa(page)
	}
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
		{
			"common-word-category-sort", "word of 40 %, category, sort=price, middle page",
			search(gen.CommonWord) + "&" + category + "&sort=price", Middle,
		},
		{"two-words", "two words", search(gen.FirstWord + " " + gen.SecondWord), First},
		{"tag-sort", "tag, sort=title", "tags=" + gen.Tag + "&sort=title", First},
		{"author", "author", "author=" + url.QueryEscape(gen.Author), First},
		{"range-sort", "range of prices, sort=date", "price[gte]=" + gen.PriceFrom + "&price[lt]=" + gen.PriceBelow + "&sort=date", First},
		{"prefix", "beginning of a word", search(gen.Prefix + "*"), First},
		{"phrase", "phrase", search(`"` + gen.Phrase + `"`), First},
		{"common-word", "word of 40 %, by relevance", search(gen.CommonWord), First},
	}
}

// Request is a shape made ready for one dataset.
type Request struct {
	Shape
	Total int    // records that meet it
	Raw   string // the raw query
}

// Resolve makes all shapes ready. total asks an engine how many records meet a raw query.
func Resolve(ctx context.Context, total func(ctx context.Context, raw string) (int, error)) ([]Request, error) {
	var out []Request
	for _, s := range All() {
		n, err := total(ctx, s.Query)
		if err != nil {
			return nil, fmt.Errorf("asking for the total of %q: %w", s.Name, err)
		}
		out = append(out, Request{Shape: s, Total: n, Raw: s.Raw(n)})
	}
	return out, nil
}
