package webtest_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"herbarium/internal/programtest"
)

// readAxe reads the accessibility rules of axe-core.
var readAxe = sync.OnceValues(func() ([]byte, error) {
	return os.ReadFile(filepath.Join("..", "..", "tools", "node_modules", "axe-core", "axe.min.js"))
})

// axeScript returns a script that loads axe-core. Without it, the test is skipped.
func axeScript(t *testing.T) string {
	t.Helper()
	script, err := readAxe()
	if err != nil {
		programtest.SkipWithout(t, "axe-core", "axe-core is not installed; `make parts` installs it")
	}
	return string(script) + "; true"
}

// allRules are the options of axe-core for all its rules: those for WCAG A and AA, best practices
// and experimental ones.
const allRules = `{ resultTypes: ["violations"], runOnly:
	axe.getRules().filter((rule) => !rule.tags.some((tag) => /aaa|deprecated|obsolete/.test(tag))).map((rule) => rule.ruleId) }`

// colorRules are the options of axe-core for the rules that depend on the theme.
const colorRules = `{ runOnly: ["color-contrast", "link-in-text-block"], resultTypes: ["violations"] }`

// TestAccessibility checks a view of each kind with all axe-core rules in the light theme, and with
// the rules that depend on the theme or on the screen in the dark theme and on a phone. axe-core
// takes time for each element, so pages have few rows, and of a view that differs from another one
// by what is open only that part is checked.
func TestAccessibility(t *testing.T) {
	t.Parallel()
	script := axeScript(t)
	s := newSite(t, nil)
	views := []struct{ name, path, then, part string }{
		{"catalogue", "/", "", ""},
		{"data", catalog + "?per_page=3&category=herb&price[gte]=5&search=a*&sort=price", "", ""},
		{"columns", catalog + "?per_page=1", `document.querySelector("#columns").open = true`, "#columns"},
		{"filter", catalog + "?per_page=1&_facet=category", "", "#filters"},
		{"cell menu", catalog + "?per_page=1",
			`(document.querySelector("#grid td").dispatchEvent(new MouseEvent("contextmenu", { bubbles: true })), true)`,
			"[role=menu]"},
		{"share", catalog + "?per_page=1",
			`(document.querySelectorAll("#share, #share details:not([data-embed])").forEach((d) => (d.open = true)), true)`,
			"#share"},
		{"record", catalog + "?per_page=3&_record=3", `document.querySelector("#record details").open = true`, ""},
		{"wrong", catalog + "?sort=prize&per_page=1", "", ""},
		{"key", staff, "", ""},
		{"help", catalog + "?per_page=1", `document.querySelector("#help").showModal() ?? true`, "#help"},
		{"about", catalog + "/about", "", ""},
		{"reference", catalog + "/api", "", ""},
		{"versions", catalog + "/versions", `document.querySelector(".versions details").open = true`, ""},
		{"docs", "/docs", `(document.querySelector(".opblock-post .opblock-summary-control").click(), true)`,
			""},
	}
	for half := range 2 { // one tab each, so that they run in parallel
		t.Run(fmt.Sprint("half ", half), func(t *testing.T) {
			t.Parallel()
			b := open(t, s, tabOptions{Fails: []int{400, 401, 404}})
			for i, view := range views {
				if i%2 != half {
					continue
				}
				b.Visit(view.path)
				b.settled()
				if view.name == "docs" {
					b.Until("document.querySelector('#swagger .opblock')")
				}
				if view.then != "" {
					eval[bool](b, view.then)
				}
				if view.name == "docs" {
					b.Until("document.querySelector('.opblock.is-open .responses-table')")
				}
				eval[bool](b, script)
				b.axe(view.name+", light", view.part, allRules)
				b.Dark(true)
				b.axe(view.name+", dark", view.part, colorRules)
				if view.name == "docs" { // also with the dark theme selected on a light system
					b.Dark(false)
					b.Click("[data-theme-toggle]")
					b.axe(view.name+", chosen dark", view.part, `{ runOnly: ["color-contrast"], resultTypes: ["violations"] }`)
				}
				b.Dark(false)
				if view.name == "data" || view.name == "record" || view.name == "catalogue" {
					b.Screen(tabOptions{Phone: true})
					b.axe(view.name+", phone", view.part,
						`{ rules: { "target-size": { enabled: true }, "color-contrast": { enabled: false } },
						resultTypes: ["violations"] }`)
					b.Screen(tabOptions{})
				}
			}
		})
	}
}

// TestAccessibility_more checks further views: with all rules in the light theme, and with those
// for colors in the dark one.
func TestAccessibility_more(t *testing.T) {
	t.Parallel()
	onlyInSoakRuns(t)
	script := axeScript(t)
	s := newSite(t, nil)
	older := s.olderVersion(t)
	b := open(t, s, tabOptions{Fails: []int{400, 401, 404}})
	for _, view := range []struct{ name, path, then string }{
		{"keyword", "/?keyword=plants", ""},
		{"no dataset", "/?search=nothingofthekind", ""},
		{"rows of all datasets", "/?search=rose", ""},
		{"column menu", catalog + "?per_page=5", `document.querySelector("#grid .col-menu").open = true`},
		{"embedded rows", "/embed/garden/catalog?per_page=5&category=herb&search=a*&sort=price", ""},
		{"downloads", catalog + "?per_page=5", `document.querySelector("#download").open = true`},
		{"scrolled", catalog + "?page=11&_fields=title,price", ""},
		{"no match", catalog + "?search=nosuchword&category=herb", ""},
		{"empty", none, ""},
		{"unknown", "/datasets/garden/nothing", ""},
		{"older version", catalog + "?per_page=3&_version=" + older, ""},
		{"older version, about", catalog + "/about?_version=" + older, ""},
		{"more values", manyValues + "?per_page=3&_more=city&_offset=200", ""},
		{"distributions of the server", catalog + "?per_page=3&_distributions=1&_fields=title,category,price", ""},
		{"wide", wide + "?per_page=2&_fields=key,amount_8,kind_9,day_10,flag_12,labels_13,empty_14,skewed_15", ""},
		{"wide columns", wide + "?per_page=1&_fields=key,name", `document.querySelector("#columns").open = true`},
		{"site key", "/key", ""},
		{"chart", catalog + "/chart?category=tree&category=fern&search=a*", ""},
		{"chart with a split", catalog + "/chart?_by=date:year&_by=category&_measure=sum:price", ""},
		{"chart of many columns", wide + "/chart", ""},
		{"chart of weekdays", catalog + "/chart?_by=date:weekday", ""},
		{"chart with an unused zone", catalog + "/chart?_by=date:year&_zone=UTC", ""},
		{"stacked chart", catalog + "/chart?_by=category&_by=status", ""},
		{"heat map", catalog + "/chart?_by=date:year&_by=category&_kind=heat", ""},
		{"table of a chart", catalog + "/chart?_by=date:year&_by=category&_kind=table", ""},
		{"number", catalog + "/chart?_measure=mean:price", ""},
		{"invalid chart", catalog + "/chart?_by=nothing", ""},
		{"pinned charts", wide + "/about", ""},
		{"embedded chart", "/embed/garden/catalog/chart?_by=date:year&_by=category", ""},
	} {
		b.Visit(view.path)
		b.settled()
		if view.then != "" {
			eval[bool](b, view.then)
		}
		eval[bool](b, script)
		b.axe(view.name+", light", "", allRules)
		b.Dark(true)
		b.axe(view.name+", dark", "", colorRules)
		b.Dark(false)
	}
}

// axe runs axe-core on the page, or on the part of it that matches a selector, and reports
// violations.
func (b *tab) axe(view, part, options string) {
	b.Helper()
	wrong := eval[[]string](b, fmt.Sprintf(`axe.run(%s, %s).then((r) => r.violations.flatMap((v) =>
		v.nodes.map((n) => v.id + ": " + v.help + " " + n.target.join(" ") + "\n" + n.html + "\n" + n.failureSummary)))`,
		quote(cmp.Or(part, "html")), options))
	if len(wrong) > 0 {
		b.Errorf("%s: %d violations, the first are\n%s", view, len(wrong),
			strings.Join(wrong[:min(len(wrong), 3)], "\n\n"))
	}
}
