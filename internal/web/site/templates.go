package site

import (
	"encoding/base64"
	"html/template"
	"io/fs"
	"path"
	"strings"
	"sync"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/web/view/datasets"
	"herbarium/internal/web/view/format"
	"herbarium/internal/web/view/plot"
)

// parseTemplates parses one template set per page, each with the shared shell and partials. It
// panics if one is invalid.
func (p *Site) parseTemplates() map[string]*template.Template {
	constant := func(s string) func() string { return func() string { return s } }
	funcs := template.FuncMap{
		"asset": p.assets().path, "modules": sync.OnceValue(func() []string { return p.assets().modules("app.js") }),
		"cataloguehref": p.CatalogueHref, "base": constant(p.Base), "sitename": constant(Name),
		"version":   constant(p.Opts.Version),
		"freshness": func(d *herb.Dataset) herb.Freshness { return d.FreshnessAt(time.Now()) },
		"age":       func(t time.Time) string { return format.Age(time.Now(), t) }, "picturefont": p.pictureFont(),
		"chartcolors": func() template.CSS { return template.CSS(plot.FileStyle()) }, "clip": herb.Clip,
		"darkchartcolors": func() template.CSS { return template.CSS(plot.DarkFileStyle()) }, "count": herb.Count,
		"exact": format.EscapeExact, "bytes": herb.FormatBytes, "minus": func(a, b int) int { return a - b },
		"percent": format.Percent, "plain": format.MarkdownText, "plural": herb.Plural,
		"columns": datasets.FirstColumns, "describe": datasets.Describe, "descriptor": datasets.ReadDescriptor,
		"title": func(d *herb.Dataset) string { return format.PlainText(datasets.Title(d)) },
	}
	partials := template.Must(template.New("partials").Funcs(funcs).ParseFS(p.Files, "templates/partials/*.html"))
	sets := map[string]*template.Template{}
	pages, _ := fs.Glob(p.Files, "templates/*.html") // the pattern is valid
	for _, file := range pages {
		sets[strings.TrimSuffix(path.Base(file), ".html")] = template.Must(
			template.Must(partials.Clone()).ParseFS(p.Files, file))
	}
	return sets
}

// pictureFont returns the function for the style sheet with the font of the pages, for pictures
// that other pages show: browsers load no other files for these.
func (p *Site) pictureFont() func() template.CSS {
	return sync.OnceValue(func() template.CSS {
		font, err := fs.ReadFile(p.Files, "assets/inter.woff2")
		if err != nil {
			panic(err) // it is embedded
		}
		return template.CSS(`@font-face{font-family:Inter;font-weight:400 700;src:url(data:font/woff2;base64,` +
			base64.StdEncoding.EncodeToString(font) + `) format("woff2")}`)
	})
}
