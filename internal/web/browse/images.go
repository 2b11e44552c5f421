package browse

import (
	"cmp"
	"context"
	"io"
	"mime"
	"net/http"
	"os"
	"path"
	"slices"
	"strconv"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
	"herbarium/internal/query"
	"herbarium/internal/web/site"
	"herbarium/internal/web/view/columns"
)

// maxImage is the maximum size of an image in bytes.
const maxImage = 4 << 20

// imageFolder returns the folder with the images of a version; empty if there is none. A version
// whose file was sent to the server has none: its publisher may not read files of the server.
func (p *datasetPages) imageFolder(v datasetView) string {
	if v.Kept {
		return ""
	}
	return p.folder(v.Ref)
}

// file serves an image from the folder of the dataset's source file, if a row of the version that
// the page shows names it in a column of images. Nothing else is served: the folder may have
// private files, and images of another dataset that requires a key.
func (p *pictures) file(w *httpapi.Page, r *http.Request, v datasetView) error {
	if v.Denied != nil {
		return v.Denied
	}
	folder, name := p.imageFolder(v), r.PathValue("path")
	missing := herb.Errorf(herb.CodeNotFound,
		"no such image %q; images that rows name are served from the folder of the dataset's source file, up to %s",
		name, herb.FormatBytes(maxImage))
	if folder == "" || !columns.IsImagePath(name) {
		return missing
	}
	if named, err := v.namesImage(r.Context(), name); err != nil || !named {
		return cmp.Or(err, error(missing))
	}
	root, err := os.OpenRoot(folder) // symbolic links cannot lead out of the folder
	if err != nil {
		return missing
	}
	defer root.Close()
	info, err := root.Stat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxImage {
		return missing
	}
	h := w.Header()
	h.Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
	// an SVG image cannot run scripts
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox")
	if site.MatchTag(w, r, site.FileTag(name, info.ModTime().String(), strconv.FormatInt(info.Size(), 10))) {
		return nil
	}
	f, err := root.Open(name)
	if err != nil {
		return missing
	}
	defer f.Close()
	_, err = io.Copy(w, io.LimitReader(f, maxImage))
	return err
}

// namesImage reports whether a column of images has a path as a value.
func (v datasetView) namesImage(ctx context.Context, path string) (bool, error) {
	for _, i := range v.columns.Images {
		fields := slices.Clone(v.Fields)
		fields[i].Filterable = true // the page shows the column whether it is filterable or not
		req, err := query.Parse(query.Params{
			{Name: query.FilterParam(fields[i].Name, query.OpEq), Value: path}, {Name: query.ParamPerPage, Value: "1"},
		}.Encode(), fields)
		if herb.CodeOf(err) == herb.CodeInvalid { // too long for a query, and for a path
			continue
		}
		if err != nil {
			return false, err
		}
		if found, err := v.List(ctx, req); err != nil || found.Total > 0 {
			return err == nil, err
		}
	}
	return false, nil
}
