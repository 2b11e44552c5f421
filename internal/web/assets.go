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
	// a file prepares them, so that the first page does not wait for it.
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
		if err != nil {
			return err
		}
		all.Write(content)
		name, compressed := strings.CutSuffix(path.Base(file), ".gz")
		if contentType := types[path.Ext(name)]; contentType != "" { // templates and licenses of third-party files are not served
			a.files[name] = asset{contentType, content, compressed}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read assets: %w", err)
	}
	a.folder = base + "/assets/" + hex.EncodeToString(all.Sum(nil)[:8])
	a.served = sync.OnceValues(func() (map[string]asset, error) {
		prepared, err := bundle(a.files, "app.js")
		for name, f := range prepared {
			var failed error
			prepared[name], failed = f.compress()
			err = errors.Join(err, failed)
		}
		return prepared, err
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
	if f.compressed {
		return f, nil
	}
	if strings.HasPrefix(f.contentType, "text/css") {
		f.content = stripCSS(f.content)
	}
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return f, err
	}
	_, err = z.Write(f.content)
	if err := errors.Join(err, z.Close()); err != nil || b.Len() >= len(f.content) {
		return f, err
	}
	return asset{f.contentType, b.Bytes(), true}, nil
}

// path returns the URL path of an asset.
func (a *assets) path(name string) (string, error) {
	if _, ok := a.files[name]; ok {
		return a.folder + "/" + name, nil
	}
	return "", fmt.Errorf("no such asset %q", name)
}

// asset serves a file that pages refer to.
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
func parseTemplates(a *assets) (map[string]*template.Template, error) {
	funcs := template.FuncMap{
		"asset": a.path, "clip": herb.Clip, "count": herb.Count, "day": view.Day, "exact": view.EscapeExact, "moment": view.Moment, "percent": view.Percent, "plain": view.MarkdownText, "plural": herb.Plural, "shortday": view.ShortDay, "timestamp": view.Timestamp,
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

// bundle returns a copy of files in which a module and the modules that it imports, directly or not, are one module without comments
// and indentation. A page with a module per component would wait for a request per module.
//
// The modules share one scope, so their top-level names are unique: browsers reject a script that declares a name twice.
// Imports are declarations of one line. Only the exports of the entry remain.
func bundle(files map[string]asset, entry string) (map[string]asset, error) {
	imports := regexp.MustCompile(`(?m)^import (?:\{.*\} from )?"\./(.*)";\n`)
	comments := regexp.MustCompile("(?m)^\\s*//.*\n|\\s+// [^\"'`\n]*$") // a string would end with a quote
	indentation, exports := regexp.MustCompile(`(?m)^\s+`), regexp.MustCompile(`(?m)^export `)
	var out bytes.Buffer
	bundled := maps.Clone(files)
	joined := map[string]bool{}
	var join func(name string) error
	join = func(name string) error {
		module, ok := files[name]
		switch {
		case joined[name]:
			return nil
		case !ok:
			return fmt.Errorf("join scripts: no such module %q", name)
		}
		joined[name] = true
		for _, imported := range imports.FindAllSubmatch(module.content, -1) {
			if err := join(string(imported[1])); err != nil {
				return err
			}
		}
		code := indentation.ReplaceAll(comments.ReplaceAll(imports.ReplaceAll(module.content, nil), nil), nil)
		if unsupported := regexp.MustCompile(`(?m)^import .*`).Find(code); unsupported != nil {
			return fmt.Errorf("join scripts: %s: unsupported import: %s", name, unsupported)
		}
		if name != entry {
			code = exports.ReplaceAll(code, nil)
			delete(bundled, name)
		}
		out.Write(code)
		return nil
	}
	if err := join(entry); err != nil {
		return nil, err
	}
	bundled[entry] = asset{contentType: files[entry].contentType, content: out.Bytes()}
	return bundled, nil
}
