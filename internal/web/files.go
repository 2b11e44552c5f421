package web

import (
	"net/http"
	"os"

	"herbarium/internal/herb"
	"herbarium/internal/web/view"
)

// maxFile is the size of the largest image that is served, in bytes.
const maxFile = 4 << 20

// file serves an image from the folder of the dataset's source file. Other files are not served: they may be private.
func (p *Pages) file(w http.ResponseWriter, r *http.Request, v datasetView) error {
	if v.denied != nil {
		return v.denied
	}
	folder, name := p.opts.Folder(v.Ref), r.PathValue("path")
	if folder == "" || !view.IsImagePath(name) {
		return errNoFile(name)
	}
	root, err := os.OpenRoot(folder) // symbolic links cannot lead out of the folder
	if err != nil {
		return errNoFile(name)
	}
	defer root.Close()
	info, err := root.Stat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxFile {
		return errNoFile(name)
	}
	setCaching(w, &v.Dataset)
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox") // an SVG image cannot run scripts
	h.Set("X-Content-Type-Options", "nosniff")
	http.ServeFileFS(w, r, root.FS(), name)
	return nil
}

func errNoFile(name string) error {
	return herb.Errorf(herb.CodeNotFound, "no such image %q; images are served from the folder of the dataset's source file, up to %d MiB", name, maxFile>>20)
}
