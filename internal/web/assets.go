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
	"herbarium/internal/web/view/datasets"
	"herbarium/internal/web/view/distributions"
	"herbarium/internal/web/view/format"
)

// files contains Swagger UI compressed, and only those of its files that are served.
//
//go:embed assets templates swagger-ui/*.gz
var files embed.FS

// assets are the files that pages refer to. Their folder is named by a hash of them and the
// templates, so that browsers cache them without revalidation and never combine a new page with an
// old file. Files refer to each other by relative names.
type assets struct {
	folder string // URL path
	files  map[string]asset
}

type asset struct {
	contentType string
	// gzipped returns the content. It is compressed when it is first requested, because that takes
	// longer than the first page, and as small as possible; the server compresses responses as fast
	// as possible.
	gzipped func() []byte
	plain   func() []byte // the content uncompressed, for the few clients that do not accept gzip
}

// newAssets reads the embedded files. It panics if they are invalid.
func newAssets(base string) *assets {
	all, plain := sha256.New(), map[string][]byte{}
	a := &assets{files: map[string]asset{}}
	types := map[string]string{
		".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml", ".woff2": "font/woff2",
	}
	err := fs.WalkDir(files, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := files.ReadFile(file)
		all.Write(content)
		if name, ok := strings.CutSuffix(path.Base(file), ".gz"); ok {
			a.files[name] = asset{types[path.Ext(name)], func() []byte { return content }, sync.OnceValue(func() []byte { return decompress(content) })}
		} else {
			plain[name] = content
		}
		return err
	})
	if err = errors.Join(err, bundle(plain, "app.js")); err != nil {
		panic(err)
	}
	a.folder = base + "/assets/" + hex.EncodeToString(all.Sum(nil)[:8])
	comments := regexp.MustCompile(`(?s)/\*.*?\*/\n?`)
	for name, content := range plain {
		if path.Ext(name) == ".css" {
			content = comments.ReplaceAll(content, nil)
		}
		if contentType := types[path.Ext(name)]; contentType != "" { // templates and licenses of third-party files are not served
			a.files[name] = asset{contentType, sync.OnceValue(func() []byte { return compress(content) }), func() []byte { return content }}
		}
	}
	return a
}

func compress(content []byte) []byte {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // neither this nor writing to a buffer can fail
	_, _ = z.Write(content)
	_ = z.Close()
	return b.Bytes()
}

func decompress(content []byte) []byte {
	z, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		panic(err) // it is embedded
	}
	plain, err := io.ReadAll(z)
	if err != nil {
		panic(err)
	}
	return bytes.Clone(plain) // without the spare capacity
}

func (a *assets) path(name string) (string, error) {
	if _, ok := a.files[name]; ok {
		return a.folder + "/" + name, nil
	}
	return "", fmt.Errorf("no such asset %q", name)
}

func (p *Pages) asset(w http.ResponseWriter, r *http.Request) error {
	a := p.assets()
	f, ok := a.files[r.PathValue("file")]
	if !ok || path.Base(a.folder) != r.PathValue("fingerprint") {
		return herb.Errorf(herb.CodeNotFound, "no such file; reload the page that refers to it")
	}
	h := w.Header()
	h.Set("Content-Type", f.contentType)
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
	// The server negotiates the encoding of all other responses, and of this one if gzip has a
	// weight.
	accepted := strings.ReplaceAll(r.Header.Get("Accept-Encoding"), " ", "")
	if strings.Contains(accepted, "gzip") && !strings.Contains(accepted, "gzip;q=") {
		h.Set("Content-Encoding", "gzip")
		writeShared(w, f.gzipped())
		return nil
	}
	writeShared(w, f.plain())
	return nil
}

// writeShared writes a body that never changes. The server does not copy it, if it can do without.
func writeShared(w http.ResponseWriter, body []byte) {
	if sharing, ok := w.(interface{ WriteShared(body []byte) }); ok {
		sharing.WriteShared(body)
		return
	}
	_, _ = w.Write(body) // a writer in memory
}

// parseTemplates parses one template set per page, each with the shared layout and partials. It
// panics if one is invalid.
func (p *Pages) parseTemplates() map[string]*template.Template {
	constant := func(s string) func() string { return func() string { return s } }
	funcs := template.FuncMap{
		"asset": p.assets().path, "cataloguehref": p.catalogueHref, "base": constant(p.base), "sitename": constant(siteName), "version": constant(p.opts.Version),
		"age": func(t time.Time) string { return format.Age(time.Now(), t) }, "clip": herb.Clip, "count": herb.Count, "exact": format.EscapeExact, "filesize": format.FileSize, "minus": func(a, b int) int { return a - b }, "percent": format.Percent, "plain": format.MarkdownText, "plural": herb.Plural,
		"columns": datasets.FirstColumns, "sparklabel": distributions.SparkLabel, "describe": datasets.Describe, "descriptor": datasets.ReadDescriptor, "title": func(d *herb.Dataset) string { return format.PlainText(datasets.Title(d)) },
	}
	partials := template.Must(template.New("partials").Funcs(funcs).ParseFS(files, "templates/partials/*.html"))
	sets := map[string]*template.Template{}
	pages, _ := fs.Glob(files, "templates/*.html") // the pattern is valid
	for _, file := range pages {
		sets[strings.TrimSuffix(path.Base(file), ".html")] = template.Must(template.Must(partials.Clone()).ParseFS(files, file))
	}
	return sets
}

// bundle joins a module and the modules that it imports, directly or not, into one module without
// comments and indentation. A page with a module per component would wait for a request per module.
//
// The modules share one scope, so their top-level names are unique: browsers reject a script that
// declares a name twice. Imports are declarations of one line. Only the exports of the entry
// remain.
func bundle(files map[string][]byte, entry string) error {
	imports := regexp.MustCompile(`^import (?:\{.*\} from )?"\./(.*)";$`)
	types := regexp.MustCompile(`/\*\* @.*? \*/ ?`) // comments that declare types
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
			line = strings.TrimSpace(types.ReplaceAllString(line, ""))
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
