package web

import (
	"herbarium/internal/herb"
	"herbarium/internal/web/view/datasets"
	"herbarium/internal/web/view/distributions"
	"herbarium/internal/web/view/format"
	"html/template"
	"io/fs"
	"path"
	"strings"
	"time"
)

// parseTemplates parses one template set per page, each with the shared layout and partials. It
// panics if one is invalid.
func (p *Site) parseTemplates() map[string]*template.Template {
	constant := func(s string) func() string { return func() string { return s } }
	funcs := template.FuncMap{
		"asset": p.assets().path, "cataloguehref": p.catalogueHref, "base": constant(p.base), "sitename": constant(siteName), "version": constant(p.opts.Version),
		"age": func(t time.Time) string { return format.Age(time.Now(), t) }, "clip": herb.Clip, "count": herb.Count, "exact": format.EscapeExact, "filesize": format.FileSize, "minus": func(a, b int) int { return a - b }, "percent": format.Percent, "plain": format.MarkdownText, "plural": herb.Plural,
		"columns": datasets.FirstColumns, "sparklabel": distributions.SparkLabel, "describe": datasets.Describe, "descriptor": datasets.ReadDescriptor, "title": func(d *herb.Dataset) string { return format.PlainText(datasets.Title(d)) },
	}
	partials := template.Must(template.New("partials").Funcs(funcs).ParseFS(p.files, "templates/partials/*.html"))
	sets := map[string]*template.Template{}
	pages, _ := fs.Glob(p.files, "templates/*.html") // the pattern is valid
	for _, file := range pages {
		sets[strings.TrimSuffix(path.Base(file), ".html")] = template.Must(template.Must(partials.Clone()).ParseFS(p.files, file))
	}
	return sets
}
