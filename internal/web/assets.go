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
	folder string // URL path
	files  map[string]asset
}

type asset struct {
	contentType string
	// gzipped returns the content. It is compressed when it is first requested, because that takes longer than the first page, and
	// as small as possible; the server compresses responses as fast as possible.
	gzipped func() ([]byte, error)
}

func newAssets(base string) (*assets, error) {
	all, plain, zipped := sha256.New(), map[string][]byte{}, map[string][]byte{}
	err := fs.WalkDir(files, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := files.ReadFile(file)
		all.Write(content)
		name, ok := strings.CutSuffix(path.Base(file), ".gz")
		if ok {
			zipped[name] = content
		} else {
			plain[name] = content
		}
		return err
	})
	if err == nil {
		err = bundle(plain, "app.js")
	}
	a := &assets{base + "/assets/" + hex.EncodeToString(all.Sum(nil)[:8]), map[string]asset{}}
	types := map[string]string{
		".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml", ".woff2": "font/woff2",
	}
	for name, content := range plain {
		if contentType := types[path.Ext(name)]; contentType != "" { // templates and licenses of third-party files are not served
			a.files[name] = asset{contentType, sync.OnceValues(func() ([]byte, error) { return compress(name, content) })}
		}
	}
	for name, content := range zipped {
		a.files[name] = asset{types[path.Ext(name)], func() ([]byte, error) { return content, nil }}
	}
	return a, err
}

// compress compresses a file. Style sheets lose their comments, indentation and line breaks.
func compress(name string, content []byte) ([]byte, error) {
	if path.Ext(name) == ".css" {
		content = regexp.MustCompile(`(?s)/\*.*?\*/`).ReplaceAll(content, nil)
		content = regexp.MustCompile(`\s*\n\s*`).ReplaceAll(content, nil)
		content = regexp.MustCompile(` ?([{};]) ?`).ReplaceAll(content, []byte("$1"))
	}
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	_, err = z.Write(content)
	err = errors.Join(err, z.Close())
	return b.Bytes(), err
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
	f, ok := a.files[r.PathValue("file")]
	if !ok || path.Base(a.folder) != r.PathValue("fingerprint") {
		return herb.Errorf(herb.CodeNotFound, "no such file; reload the page that refers to it")
	}
	content, err := f.gzipped()
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", f.contentType)
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		_, err = w.Write(content)
		return err
	}
	plain, err := gzip.NewReader(bytes.NewReader(content))
	if err == nil {
		_, err = io.Copy(w, plain)
	}
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
func bundle(files map[string][]byte, entry string) error {
	imports := regexp.MustCompile(`^import (?:\{.*\} from )?"\./(.*)";$`)
	var script []byte
	joined := map[string]bool{}
	var join func(name string) error
	join = func(name string) error {
		module, ok := files[name]
		if !ok && !joined[name] {
			return fmt.Errorf("join scripts: no such module %q", name)
		}
		joined[name] = true
		delete(files, name)
		for line := range strings.Lines(string(module)) {
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
				script = append(append(script, line...), '\n')
			}
		}
		return nil
	}
	err := join(entry)
	files[entry] = script
	return err
}
