package webtest_test

import (
	"fmt"
	"net/url"
	"strings"

	"herbarium/internal/must"
)

// settled waits until the page is complete, with scripts including the distributions in view and
// the values of open filters.
func (b *tab) settled() {
	b.Helper()
	b.Until(`document.readyState === "complete" && !document.querySelector("#swap[data-was], #swap[aria-busy], #grid[data-loading], #grid[data-fetching], [data-pending], " +
		".js #swap:not([data-facets='']) details[data-facet][open] .facet-data:not([data-loaded])")`)
}

// next runs an action that leads to a new view, and waits for that view.
func (b *tab) next(act func()) {
	b.Helper()
	eval[bool](b, `document.getElementById("swap") ? (document.getElementById("swap").dataset.was = "") === "" : true`)
	act()
	b.settled()
}

// follow clicks an element and waits for the new view.
func (b *tab) follow(selector string) { b.Helper(); b.next(func() { b.Click(selector) }) }

// column returns the values of a column of the grid.
func (b *tab) column(field string) []string {
	b.Helper()
	return eval[[]string](b, fmt.Sprintf(`(() => {
		const at = document.querySelector("#grid th[data-field=" + CSS.escape(%q) + "]").cellIndex;
		return [...document.querySelectorAll("#grid tbody tr")].map((tr) => tr.cells[at].innerText.trim());
	})()`, field))
}

// query returns the query parameters of the URL.
func (b *tab) query() url.Values {
	b.Helper()
	q, err := url.ParseQuery(strings.TrimPrefix(eval[string](b, "location.search"), "?"))
	must.NoError(b, err)
	return q
}

// view returns the visible text of a listing, for comparison.
func (b *tab) view() string {
	b.Helper()
	return strings.Join([]string{
		"found " + b.Text(".found"), "chips " + strings.Join(b.Texts(".chip summary"), " "),
		"headings " + strings.Join(b.Texts("#grid th .col-name"), " "), "distributions " +
			strings.Join(b.Texts("#grid .distribution"), " "),
		"rows " + strings.Join(b.Texts("#grid tbody tr"), "\n"), "record " + b.Text("#record dl"),
		"pages " + b.Text("#pages summary"),
		"call " + b.Text("#call code"), "search " + eval[string](b, `document.getElementById("search").value`),
	}, "\n")
}
