package webtest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// axeScript reads the accessibility rules of axe-core.
var axeScript = sync.OnceValues(func() ([]byte, error) {
	return os.ReadFile(filepath.Join("..", "..", "tools", "axe", "node_modules", "axe-core", "axe.min.js"))
})

// TestAccessibility holds every view against all rules of WCAG 2.2 AA and the best practices of axe-core, light and dark.
func TestAccessibility(t *testing.T) {
	t.Parallel()
	axe, err := axeScript()
	if err != nil {
		skipUnlessRequired(t, "axe", "axe-core is not installed; npm ci --prefix tools/axe installs it")
	}
	s := newSite(t, nil)
	for _, opts := range []tabOptions{{}, {dark: true}, {phone: true}} {
		t.Run(fmt.Sprintf("dark=%v,phone=%v", opts.dark, opts.phone), func(t *testing.T) {
			t.Parallel()
			opts.fails = []int{400, 401, 404}
			b := open(t, s, opts)
			for _, view := range []struct{ name, path, then string }{
				{"catalogue", "/", ""},
				{"no dataset", "/?search=nothingofthekind", ""},
				{"data", catalog + "?category=herb&price[gte]=5&search=a*&sort=price", ""},
				{"columns", catalog, `document.querySelector(".menu").open = true`},
				{"record", catalog + "?_record=3", `document.querySelector("#record details").open = true`},
				{"no match", catalog + "?search=nosuchword&category=herb", ""},
				{"wrong", catalog + "?sort=prize", ""},
				{"empty", none, ""},
				{"unknown", "/datasets/garden/nothing", ""},
				{"key", staff, ""},
				{"hostile", nasty, ""},
				{"help", catalog, `document.querySelector("#help").showModal() ?? true`},
				{"reference", catalog + "/api?sort=price&_try=1", ""},
				{"versions", catalog + "/versions", ""},
				{"docs", "/docs", ""},
			} {
				b.visit(view.path)
				b.settled()
				if view.name == "docs" {
					b.until("document.querySelector('#swagger .opblock')")
				}
				if view.then != "" {
					eval[bool](b, view.then)
				}
				eval[bool](b, string(axe)+"; true")
				wrong := eval[[]string](b, `axe.run({ exclude: [".swagger-ui .opblock-tag"] }, { rules: { "target-size": { enabled: true } }, resultTypes: ["violations"] }).then((r) => r.violations.flatMap((v) =>
					v.nodes.map((n) => v.id + ": " + v.help + " " + n.target.join(" ") + "\n" + n.html + "\n" + n.failureSummary)))`)
				if len(wrong) > 0 {
					t.Errorf("%s: %d violations, the first are\n%s", view.name, len(wrong), strings.Join(wrong[:min(len(wrong), 3)], "\n\n"))
				}
			}
		})
	}
}
