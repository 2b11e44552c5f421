package httpapi

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"net/http"
	"strconv"

	"herbarium/internal/export"
	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// Trailer fields of an export, by which a client can verify that it is complete. The first two are
// defined by RFC 9530 and its companion: hashes of the bytes sent, and of the bytes after
// decompression.
const (
	trailerDigest   = "Content-Digest"
	trailerOriginal = "Unencoded-Digest"
	trailerRows     = "X-Content-Rows"
	exportTrailers  = trailerDigest + ", " + trailerOriginal + ", " + trailerRows
)

// export sends the complete result of a query. A failure before the first byte is reported like any
// other; a later failure aborts the connection, so that a partial export does not look complete.
//
// The first byte must be sent within Options.RequestTimeout. After that, the export takes as long
// as the client needs.
func (a *API) export(w *response, r *http.Request, format export.Format) (err error) {
	view, err := a.openDataset(w, r)
	if err != nil {
		return err
	}
	defer view.Release()
	w.setVary(varyAccept)
	if w.route.page { // the link of a page
		view.Query = view.Query.Without(query.ParamPage, query.ParamPerPage)
	}
	req, err := view.Query.Export(view.Fields, view.Order)
	if err != nil || w.notModified(r, entityTag(w.path, req.Canonical(), view.Version, format.MediaType())) {
		return err
	}
	release, err := w.reserve(r.Context(), recordMemory(view.Dataset, req))
	if err != nil {
		return err
	}
	defer release()
	ctx, firstByte, cancel, err := w.admitExport(r)
	if err != nil {
		return err
	}
	defer cancel()
	defer func() {
		if err != nil && w.status == 0 && errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
			err = context.DeadlineExceeded
		}
	}()
	records, err := view.Stream(ctx, req)
	if err != nil {
		return err
	}
	if format == export.XLSX {
		if err := export.CheckLimits(req.Fields(), req.SelectStream(records)); err != nil {
			return err
		}
	}
	trailers := r.ProtoAtLeast(1, 1)
	w.set("Content-Type", format.ContentType())
	w.set("Content-Disposition", `attachment; filename="`+format.FileName(view.Ref)+`"`)
	w.set("X-Total-Count", strconv.Itoa(records.Total))
	if trailers {
		w.set("Trailer", exportTrailers)
	}
	body := newStream(w, r)
	body.firstByte = firstByte
	if format == export.XLSX {
		body.coding = identity // it is compressed
	}
	if body.coding != identity {
		body.digest = sha256.New()
	}
	var sum export.Summary
	err = body.send(r, func(out io.Writer) (err error) {
		sum, err = export.Write(out, format, req.Fields(), req.SelectStream(records))
		return err
	})
	if err != nil || r.Method == http.MethodHead {
		return err
	}
	if trailers {
		w.set(trailerDigest, sum.Digest)
		w.set(trailerOriginal, sum.Digest)
		w.set(trailerRows, strconv.Itoa(sum.Rows))
		if body.digest != nil {
			w.set(trailerDigest, export.Digest(body.digest))
		}
	}
	return nil
}

// recordMemory returns about how many bytes an export needs for its longest record: a copy of it
// with the selected fields, and a decoded value. The lane accounts for an export of short records.
func recordMemory(d herb.Dataset, req *query.Request) int {
	const copies, inLane = 3, 256 << 10
	if d.Report == nil {
		return 0 // plants, which are short
	}
	longest := 0
	for _, c := range d.Report.Columns {
		if req.Selected == nil {
			longest += c.Longest
		}
	}
	for _, i := range req.Selected {
		if i < len(d.Report.Columns) {
			longest += d.Report.Columns[i].Longest
		}
	}
	return max(0, copies*longest-inLane)
}
