package peer

import (
	"strings"

	"herbarium/bench/gen"
)

type statement struct {
	counted string // FROM and WHERE of the total
	listed  string // FROM and WHERE of the page
	order   string // ORDER BY; ties are in the order of the file
	args    []any
}

// statements returns the SQL of the shapes, by name.
func statements() map[string]statement {
	list := func(from, order string, args ...any) statement { return statement{from, from, order, args} }
	// Ranked by relevance; the total needs no join. Quotation marks need no escapes, because words
	// are letters.
	search := func(match string) statement {
		const matching = "WHERE words MATCH ?"
		return statement{"words " + matching, "words JOIN items ON items.id = words.rowid " + matching, "words.rank",
			[]any{match}}
	}
	const (
		byID, byPrice, byDate = "items.id", "items.price_number, items.id", "items.date, items.id"
		matching              = "items WHERE items.id IN (SELECT rowid FROM words WHERE words MATCH ?)"
		common                = `"` + gen.CommonWord + `"`
	)
	category := list("items WHERE items.category = ?", byID, gen.Category)
	return map[string]statement{
		"first": list("items", byID), "middle": list("items", byID), "last": list("items", byID),
		"sort-first": list("items", byPrice), "sort-middle": list("items", byPrice),
		"category":                  category,
		"category-sort":             list(category.listed, "items.date DESC, items.id", gen.Category),
		"rare-word":                 search(`"` + gen.RareWord + `"`),
		"two-words":                 search(`"` + gen.FirstWord + `" AND "` + gen.SecondWord + `"`),
		"prefix":                    search(`"` + gen.Prefix + `" *`),
		"phrase":                    search(`"` + gen.Phrase + `"`),
		"common-word":               search(common),
		"common-word-sort":          list(matching, byDate, common),
		"common-word-category-sort": list(matching+" AND items.category = ?", byPrice, common, gen.Category),
		"tag-sort": list("items WHERE items.id IN (SELECT item FROM item_tags WHERE tag = ?)",
			"items.title_key, items.id", gen.Tag),
		"author": list("items WHERE items.author = ?", byID, gen.Author),
		"range-sort": list("items WHERE items.price_number >= CAST(? AS REAL) AND items.price_number < CAST(? AS REAL)",
			byDate,
			gen.PriceFrom, gen.PriceBelow),
	}
}

func (s statement) count() string { return "SELECT count(*) FROM " + s.counted }

// page returns the SQL of a page. Its last arguments are the size and the offset.
func (s statement) page() string {
	columns := "items." + strings.ReplaceAll(strings.TrimSpace(gen.Header), ",", ", items.")
	return "SELECT " + columns + " FROM " + s.listed + " ORDER BY " + s.order + " LIMIT ? OFFSET ?"
}
