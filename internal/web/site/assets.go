// Package site renders what all pages have in common: the shell, templates, assets, the keys of
// visitors, and pages about errors.
package site

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
	"herbarium/internal/web/view/plot"
)

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

// newAssets reads the files of the pages. It panics if they are invalid.
func newAssets(files fs.FS, base string) *assets {
	all, plain := sha256.New(), map[string][]byte{}
	a := &assets{files: map[string]asset{}}
	types := map[string]string{
		".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
		".woff2": "font/woff2",
	}
	err := fs.WalkDir(files, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := fs.ReadFile(files, file)
		all.Write(content)
		if name, ok := strings.CutSuffix(path.Base(file), ".gz"); ok {
			a.files[name] = asset{types[path.Ext(name)], func() []byte { return content },
				sync.OnceValue(func() []byte { return decompress(content) })}
		} else {
			plain[name] = content
		}
		return err
	})
	colors := []byte(plot.PageStyle())
	all.Write(colors)
	for _, name := range []string{"chart.css", "map.css"} {
		plain[name] = append(plain[name], colors...)
	}
	if err != nil {
		panic(err)
	}
	a.folder = base + "/assets/" + hex.EncodeToString(all.Sum(nil)[:8])
	for name, content := range plain {
		// templates and licenses of third-party files are not served
		if contentType := types[path.Ext(name)]; contentType != "" {
			a.files[name] = asset{contentType, sync.OnceValue(func() []byte { return compress(content) }),
				func() []byte { return content }}
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

// modules returns the paths of the modules that a module imports, directly or not, so that pages
// can request all of them at once. Imports are statements of one line; those on demand are none.
func (a *assets) modules(entry string) []string {
	imports := regexp.MustCompile(`(?m)^import .*"\./(.*)";$`)
	names := []string{entry}
	for i := 0; i < len(names); i++ {
		for _, imported := range imports.FindAllSubmatch(a.files[names[i]].plain(), -1) {
			if name := string(imported[1]); !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	paths := make([]string, 0, len(names))
	for _, name := range names[1:] {
		paths = append(paths, a.folder+"/"+name)
	}
	return paths
}

func (p *Site) asset(w *httpapi.Page, r *http.Request) error {
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
		w.WriteShared(f.gzipped())
		return nil
	}
	w.WriteShared(f.plain())
	return nil
}
