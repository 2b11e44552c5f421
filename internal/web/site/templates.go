package site

import (
	"html/template"
	"io/fs"
	"path"
	"strings"
	"time"

	"herbarium/internal/export"
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
		"asset": p.assets().path, "cataloguehref": p.CatalogueHref, "base": constant(p.Base), "sitename": constant(Name), "version": constant(p.Opts.Version),
		"age": func(t time.Time) string { return format.Age(time.Now(), t) }, "chartcolors": func() template.CSS { return template.CSS(plot.FileStyle()) }, "clip": herb.Clip, "darkchartcolors": func() template.CSS { return template.CSS(plot.DarkFileStyle()) }, "count": herb.Count, "exact": format.EscapeExact, "exports": export.Formats, "bytes": herb.FormatBytes, "minus": func(a, b int) int { return a - b }, "percent": format.Percent, "plain": format.MarkdownText, "plural": herb.Plural,
		"columns": datasets.FirstColumns, "describe": datasets.Describe, "descriptor": datasets.ReadDescriptor, "title": func(d *herb.Dataset) string { return format.PlainText(datasets.Title(d)) },
	}
	partials := template.Must(template.New("partials").Funcs(funcs).ParseFS(p.Files, "templates/partials/*.html"))
	sets := map[string]*template.Template{}
	pages, _ := fs.Glob(p.Files, "templates/*.html") // the pattern is valid
	for _, file := range pages {
		sets[strings.TrimSuffix(path.Base(file), ".html")] = template.Must(template.Must(partials.Clone()).ParseFS(p.Files, file))
	}
	return sets
}
