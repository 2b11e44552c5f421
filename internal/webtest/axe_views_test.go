package webtest_test

import (
	"testing"

	"herbarium/internal/programtest"
)

// allRules are the options of axe-core for all its rules: those for WCAG A and AA, best practices and experimental ones.
const allRules = `{ resultTypes: ["violations"], runOnly:
	axe.getRules().filter((rule) => !rule.tags.some((tag) => /aaa|deprecated|obsolete/.test(tag))).map((rule) => rule.ruleId) }`

// TestAccessibility_more checks further views: with all rules in the light theme, and with those for colors in the dark one.
func TestAccessibility_more(t *testing.T) {
	t.Parallel()
	script, err := axeScript()
	if err != nil {
		programtest.SkipWithout(t, "axe", "axe-core is not installed; npm ci --prefix tools/axe installs it")
	}
	s := newSite(t, nil)
	older := s.olderVersion(t)
	b := open(t, s, tabOptions{fails: []int{400, 401, 404}})
	for _, view := range []struct{ name, path, then string }{
		{"keyword", "/?keyword=plants", ""},
		{"older version", catalog + "?per_page=3&_version=" + older, ""},
		{"older version, about", catalog + "/about?_version=" + older, ""},
		{"more values", manyValues + "?per_page=3&_more=city&_offset=200", ""},
		{"charts of the server", catalog + "?per_page=3&_charts=1&_fields=title,category,price", ""},
		{"wide", wide + "?per_page=2&_fields=key,amount_8,kind_9,day_10,flag_12,labels_13,empty_14,skewed_15", ""},
		{"wide columns", wide + "?per_page=1&_fields=key,name&_menu=columns&_find=kind_9", ""},
		{"site key", "/key", ""},
	} {
		b.visit(view.path)
		b.settled()
		eval[bool](b, string(script)+"; true")
		b.axe(view.name+", light", allRules)
		b.dark(true)
		b.axe(view.name+", dark", `{ runOnly: ["color-contrast", "link-in-text-block"], resultTypes: ["violations"] }`)
		b.dark(false)
	}
}
