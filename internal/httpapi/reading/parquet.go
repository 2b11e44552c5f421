package reading

import (
	"mime"
	"net/http"
	"strings"

	"herbarium/internal/httpapi/gate"
	"herbarium/internal/httpapi/response"

	"herbarium/internal/etag"
	"herbarium/internal/export/parquet"
	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/query"
)

// typesText is the value of query.ParamTypes that keeps texts as written.
const typesText = "text"

// maxRanges is the maximum number of ranges of a request. Readers of Parquet files ask for a few.
const maxRanges = 100

// Parquet handles the Parquet file of a version. Programs read it by ranges, so every response is a
// part of the same file, which is never compressed. A request occupies no slot while the file is
// built, and then enters the lane of exports.
func (h *Handlers) Parquet(w *response.Writer, r *http.Request, view gate.DatasetView) error {
	exact, err := parseTypes(view.Query)
	if err != nil {
		return err
	}
	if n := strings.Count(strings.Join(r.Header["Range"], ","), ","); n >= maxRanges {
		return herb.Invalidf("the header Range has %d ranges; the maximum is %d", n+1, maxRanges)
	}
	name := library.ParquetName(view.Version, exact)
	tag := `"` + strings.TrimSuffix(name, ".parquet") + `"`
	w.Set("Accept-Ranges", "bytes")
	if etag.Match(r.Header, tag) && r.Header.Get("If-Match") == "" {
		w.Set("Etag", tag)
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	file, err := h.opts.Library.OpenParquet(r.Context(), view.View, exact)
	if err != nil {
		return err
	}
	defer file.Close()
	ctx, cancel, err := w.AdmitExport(r)
	if err != nil {
		return err
	}
	defer cancel()
	w.Set("Etag", tag)
	w.Set("Content-Type", parquet.MediaType)
	w.Set("Content-Disposition",
		mime.FormatMediaType("attachment", map[string]string{"filename": view.Ref.Namespace + "-" + view.Ref.Name +
			".parquet"}))
	return w.SendFile(r.WithContext(ctx), file)
}

// parseTypes returns whether the values of a Parquet file are texts as written.
func parseTypes(q query.String) (exact bool, err error) {
	switch types := q.Get(query.ParamTypes); types {
	case "":
		return false, nil
	case typesText:
		return true, nil
	default:
		return false, herb.Invalidf("unknown value %q of %s; the only one is %s, for values as written",
			herb.Clip(types, response.MaxShown), query.ParamTypes, typesText)
	}
}
