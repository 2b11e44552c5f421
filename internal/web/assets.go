package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"path"
	"regexp"
	"strings"
	"sync"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/web/view"
)

// files contains Swagger UI compressed, and only those of its files that are served.
//
//go:embed assets templates swagger-ui/*.gz
var files embed.FS

// assets are the files that pages refer to. Their folder is named by a hash of them and the templates, so that browsers cache them
// without revalidation and never combine a new page with an old file. Files refer to each other by relative names.
type assets struct {
	folder string           // URL path
	files  map[string]asset // as embedded
	// served returns the files as they are served: scripts bundled, style sheets stripped, all compressed. The first request for
	// a file prepares them, which takes longer than the first page.
	served func() (map[string]asset, error)
}

type asset struct {
	contentType string
	content     []byte
	compressed  bool // with gzip
}

func newAssets(base string) (*assets, error) {
	a := &assets{files: map[string]asset{}}
	types := map[string]string{
		".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml", ".woff2": "font/woff2",
	}
	all := sha256.New()
	err := fs.WalkDir(files, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := files.ReadFile(file)
		all.Write(content)
		name, compressed := strings.CutSuffix(path.Base(file), ".gz")
		if contentType := types[path.Ext(name)]; contentType != "" { // templates and licenses of third-party files are not served
			a.files[name] = asset{contentType, content, compressed}
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read assets: %w", err)
	}
	a.folder = base + "/assets/" + hex.EncodeToString(all.Sum(nil)[:8])
	a.served = sync.OnceValues(func() (map[string]asset, error) {
		served := maps.Clone(a.files)
		err := bundle(served, "app.js")
		for name, f := range served {
			var failed error
			served[name], failed = f.compress()
			err = errors.Join(err, failed)
		}
		return served, err
	})
	return a, nil
}

// stripCSS removes comments, indentation and line breaks.
func stripCSS(content []byte) []byte {
	content = regexp.MustCompile(`(?s)/\*.*?\*/`).ReplaceAll(content, nil)
	content = regexp.MustCompile(`\s*\n\s*`).ReplaceAll(content, nil)
	return regexp.MustCompile(` ?([{};]) ?`).ReplaceAll(content, []byte("$1"))
}

// compress compresses a file once, as small as possible; the server compresses responses as fast as possible.
func (f asset) compress() (asset, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil || f.compressed {
		return f, err
	}
	if strings.HasPrefix(f.contentType, "text/css") {
		f.content = stripCSS(f.content)
	}
	_, err = z.Write(f.content)
	if err := errors.Join(err, z.Close()); err != nil || b.Len() >= len(f.content) {
		return f, err
	}
	return asset{f.contentType, b.Bytes(), true}, nil
}

func (a *assets) path(name string) (string, error) {
	if _, ok := a.files[name]; ok {
		return a.folder + "/" + name, nil
	}
	return "", fmt.Errorf("no such asset %q", name)
}

func (p *Pages) asset(w http.ResponseWriter, r *http.Request) error {
	a, err := p.assets()
	if err != nil {
		return err
	}
	served, err := a.served()
	if err != nil {
		return err
	}
	f, ok := served[r.PathValue("file")]
	if !ok || path.Base(a.folder) != r.PathValue("fingerprint") {
		return herb.Errorf(herb.CodeNotFound, "no such file; reload the page that refers to it")
	}
	h := w.Header()
	h.Set("Content-Type", f.contentType)
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
	var content io.Reader = bytes.NewReader(f.content)
	if f.compressed && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
	} else if f.compressed {
		if content, err = gzip.NewReader(content); err != nil {
			return err
		}
	}
	_, err = io.Copy(w, content)
	return err
}

// parseTemplates parses one template set per page, each with the shared layout and partials.
func (p *Pages) parseTemplates() (map[string]*template.Template, error) {
	a, err := p.assets()
	if err != nil {
		return nil, err
	}
	constant := func(s string) func() string { return func() string { return s } }
	funcs := template.FuncMap{
		"asset": a.path, "cataloguehref": p.catalogueHref, "base": constant(p.base), "sitename": constant(siteName), "version": constant(p.opts.Version),
		"age": func(t time.Time) string { return view.Age(time.Now(), t) }, "clip": herb.Clip, "count": herb.Count, "exact": view.EscapeExact, "minus": func(a, b int) int { return a - b }, "percent": view.Percent, "plain": view.MarkdownText, "plural": herb.Plural,
		"describe": view.Describe, "descriptor": view.ReadDescriptor, "title": func(d *herb.Dataset) string { return view.PlainText(view.Title(d)) },
	}
	partials, err := template.New("partials").Funcs(funcs).ParseFS(files, "templates/partials/*.html")
	if err != nil {
		return nil, err
	}
	pages, err := fs.Glob(files, "templates/*.html")
	if err != nil {
		return nil, err
	}
	out := map[string]*template.Template{}
	for _, file := range pages {
		t, err := partials.Clone()
		if err == nil {
			t, err = t.ParseFS(files, file)
		}
		if err != nil {
			return nil, err
		}
		out[strings.TrimSuffix(path.Base(file), ".html")] = t
	}
	return out, nil
}

// bundle joins a module and the modules that it imports, directly or not, into one module without comments and indentation. A page
// with a module per component would wait for a request per module.
//
// The modules share one scope, so their top-level names are unique: browsers reject a script that declares a name twice.
// Imports are declarations of one line. Only the exports of the entry remain.
func bundle(files map[string]asset, entry string) error {
	imports := regexp.MustCompile(`^import (?:\{.*\} from )?"\./(.*)";$`)
	script, joined := asset{contentType: files[entry].contentType}, map[string]bool{}
	var join func(name string) error
	join = func(name string) error {
		module, ok := files[name]
		if !ok && !joined[name] {
			return fmt.Errorf("join scripts: no such module %q", name)
		}
		joined[name] = true
		delete(files, name)
		for line := range strings.Lines(string(module.content)) {
			line = strings.TrimSpace(line)
			if i := strings.LastIndex(line, " // "); i >= 0 && !strings.ContainsAny(line[i:], "\"'`") { // not in a string
				line = strings.TrimSpace(line[:i])
			}
			if imported := imports.FindStringSubmatch(line); imported != nil {
				if err := join(imported[1]); err != nil {
					return err
				}
				continue
			}
			if strings.HasPrefix(line, "import ") {
				return fmt.Errorf("join scripts: %s: unsupported import: %s", name, line)
			}
			if name != entry {
				line = strings.TrimPrefix(line, "export ")
			}
			if line != "" && !strings.HasPrefix(line, "//") {
				script.content = append(append(script.content, line...), '\n')
			}
		}
		return nil
	}
	err := join(entry)
	files[entry] = script
	return err
}
