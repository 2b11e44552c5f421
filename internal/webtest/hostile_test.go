package webtest_test

import (
	"encoding/csv"
	"encoding/json"
	"strings"
)

// hostileValues are values that attack a page. Each script among them calls alert, which fails the
// test.
func hostileValues() []string {
	return []string{
		`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `javascript:alert(1)`, ` javascript:alert(1)`,
		`data:text/html,<script>alert(1)</script>`, `https://a@evil.example/`,
		`https://x.example/"onmouseover="alert(1)`,
		"\u202Eexe.gnp", "\u2066\u202Eabc", "</td></table><h1>gone", "{{.}}", "'`${alert(1)}`'", "<!-- x", "]]>",
		"&lt;b&gt;",
		"<swap-mark>", "vbscript:x", "//evil.example/x.jpg", "http://plain.example/x.jpg", "<svg onload=alert(1)>",
		"<iframe srcdoc='<script>alert(1)</script>'>", "<style>*{display:none}</style>", "<base href=//evil.example>",
		strings.Repeat("long ", 20_000), strings.Repeat("W", 5_000),
	}
}

const hostileField = `"><script>alert(1)</script>`

func evilCSV() string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	_ = w.Write([]string{hostileField, "image", "tags", "_column", "\u202Efield"}) // strings.Builder never fails
	for _, v := range hostileValues() {
		_ = w.Write([]string{v, v, v + ",b", v, v})
	}
	w.Flush()
	return b.String()
}

func evilPackage() string {
	b, _ := json.Marshal(map[string]any{ // plain values cannot fail
		"name": "evil",
		"resources": []any{map[string]any{
			"name": "nasty", "path": "nasty.csv", "title": "</title><script>alert(1)</script>\u202Ex",
			"description": `"><script>alert(1)</script>` + strings.Repeat("W", 500),
			"licenses":    []any{map[string]any{"name": "<script>alert(1)</script>", "path": "javascript:alert(1)"}},
			"keywords":    []string{"</script><script>alert(1)</script>"},
		}},
	})
	return string(b)
}
