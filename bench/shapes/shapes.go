// Package shapes lists the measured queries.
package shapes

import (
	"net/url"
	"strconv"
	"strings"

	"herbarium/bench/gen"
	"herbarium/internal/query"
)

// Shape is a kind of query.
type Shape struct {
	Name  string // one word, for benchmarks
	Title string // shown in results
	Query string // the raw query without the page
	Depth int    // position of the page in the listing, in percent

	Facets   bool   // facet counts instead of records
	Encoding string // value of Accept-Encoding
}

// Path returns the path of the shape below that of a dataset.
func (s Shape) Path() string {
	if s.Facets {
		return "/facets"
	}
	return "/data"
}

// Relevance reports whether records are sorted by relevance, which engines may score differently.
func (s Shape) Relevance() bool {
	v, err := url.ParseQuery(s.Query)
	return err == nil && v.Has(query.ParamSearch) && !v.Has(query.ParamSort)
}

// Raw returns the raw query with the page, if total records match.
func (s Shape) Raw(total int) string {
	pages := max(1, (total+query.DefaultPerPage-1)/query.DefaultPerPage)
	page := 1 + (pages-1)*s.Depth/100
	if page == 1 {
		return s.Query
	}
	return strings.TrimPrefix(s.Query+"&"+query.ParamPage+"="+strconv.Itoa(page), "&")
}

func search(s string) string { return query.ParamSearch + "=" + url.QueryEscape(s) }

// Cliffs lists queries that are expensive in an engine without a special index for them, and
// compressed responses. Only Herbarium is measured with them.
func Cliffs() []Shape {
	return []Shape{
		{Name: "first-gzip", Title: "first page, gzip", Encoding: "gzip"},
		{Name: "first-zstd", Title: "first page, zstd", Encoding: "zstd"},
		{Name: "category-8", Title: "category of 8 %, sort=date, middle page",
			Query: "category=annual&sort=date", Depth: 50},
		{Name: "category-3", Title: "category of 3 %, sort=date, middle page",
			Query: "category=orchid&sort=date", Depth: 50},
		{Name: "tag-0.5", Title: "tag of 0.5 %, sort=date, middle page", Query: "tags=" + gen.RareTag +
			"&sort=date", Depth: 50},
		{Name: "url-prefix", Title: "prefix of every URL", Query: "url[prefix]=" + url.QueryEscape("https://")},
		{Name: "letter-word", Title: "word that begins with a letter, and a word",
			Query: search("b* " + gen.FirstWord)},
		{Name: "two-letters", Title: "words that begin with two letters, middle page",
			Query: search("b* d*"), Depth: 50},
		{Name: "eight-words", Title: "eight words and prefixes, three filters",
			Query: search(gen.CommonWord+" "+gen.FirstWord+
				" b* d* fo* ne* s* t*") + "&category=" + gen.Category + "&status=published&price[gte]=" +
				gen.PriceFrom},
		{Name: "facets-distinct", Title: "facets of fields with distinct values",
			Query: "field=image&field=id&field=url", Facets: true},
	}
}

// All lists the shapes that all servers are measured with, the simple ones first.
func All() []Shape {
	const category = "category=" + gen.Category
	return []Shape{
		{Name: "first", Title: "first page"},
		{Name: "middle", Title: "middle page", Depth: 50},
		{Name: "last", Title: "last page", Depth: 100},
		{Name: "sort-first", Title: "sort=price, first page", Query: "sort=price"},
		{Name: "sort-middle", Title: "sort=price, middle page", Query: "sort=price", Depth: 50},
		{Name: "category", Title: "category", Query: category},
		{Name: "category-sort", Title: "category, sort=date desc, middle page", Query: category +
			"&sort=date&order=desc", Depth: 50},
		{Name: "rare-word", Title: "rare word", Query: search(gen.RareWord)},
		{Name: "common-word-sort", Title: "word of 40 %, sort=date, middle page", Query: search(gen.CommonWord) +
			"&sort=date", Depth: 50},
		{Name: "common-word-category-sort", Title: "word of 40 %, category, sort=price, middle page",
			Query: search(gen.CommonWord) + "&" + category + "&sort=price", Depth: 50},
		{Name: "two-words", Title: "two words", Query: search(gen.FirstWord + " " + gen.SecondWord)},
		{Name: "tag-sort", Title: "tag, sort=title", Query: "tags=" + gen.Tag + "&sort=title"},
		{Name: "author", Title: "author", Query: "author=" + url.QueryEscape(gen.Author)},
		{Name: "range-sort", Title: "range of prices, sort=date", Query: "price[gte]=" + gen.PriceFrom + "&price[lt]=" +
			gen.PriceBelow + "&sort=date"},
		{Name: "prefix", Title: "beginning of a word", Query: search(gen.Prefix + "*")},
		{Name: "phrase", Title: "phrase", Query: search(`"` + gen.Phrase + `"`)},
		{Name: "common-word", Title: "word of 40 %, by relevance", Query: search(gen.CommonWord)},
	}
}
