package reading

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"net/http"
	"strconv"

	"herbarium/internal/httpapi/gate"
	"herbarium/internal/httpapi/response"

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

// Export sends the complete result of a query. A failure before the first byte is reported like any
// other; a later failure aborts the connection, so that a partial export does not look complete.
//
// The first byte must be sent within Options.RequestTimeout. After that, the export takes as long
// as the client needs.
func (h *Handlers) Export(w *response.Writer, r *http.Request, view gate.DatasetView, format export.Format) error {
	w.SetVary(response.VaryAccept)
	if w.Route.Page { // the link of a page
		view.Query = view.Query.Without(query.ParamPage, query.ParamPerPage)
	}
	req, err := view.Query.Export(view.Fields, view.Order)
	if err == nil {
		err = format.CheckRequest(&view.Dataset, req)
	}
	if err != nil || w.NotModified(r, response.EntityTag(w.Path, req.ResultKey(), view.Version, format.MediaType())) {
		return err
	}
	types, err := req.Types(view)
	if err != nil {
		return err
	}
	d := &view.Dataset
	memory := export.RecordMemory(d, req) + export.TypedMemory(d, req) + export.GeometryMemory(d, format)
	release, err := w.Reserve(r.Context(), memory)
	if err != nil {
		return err
	}
	defer release()
	return h.sendFile(w, r, format, format.FileName(view.Ref), func(ctx context.Context) (writeFile, error) {
		s, err := view.Stream(ctx, req)
		if err != nil {
			return nil, err
		}
		w.Set("X-Total-Count", strconv.Itoa(s.Total))
		s, err = format.Select(&view.Dataset, req, types, s)
		if err != nil {
			return nil, err
		}
		return recordsFile(format, req.Fields(), s), format.Check(req.Fields(), s)
	})
}

// writeFile writes a file and returns its summary.
type writeFile func(io.Writer) (export.Summary, error)

// recordsFile returns a file of records.
func recordsFile(format export.Format, fields []herb.Field, s query.Stream) writeFile {
	return func(out io.Writer) (export.Summary, error) { return export.Write(out, format, fields, s) }
}

// sendFile sends the file that open returns, with its digests and the number of its rows as
// trailers. A file without a name is named by the page that links to it.
func (h *Handlers) sendFile(
	w *response.Writer, r *http.Request, format export.Format, name string,
	open func(context.Context) (writeFile, error),
) (err error) {
	ctx, cancel, err := w.AdmitExport(r)
	if err != nil {
		return err
	}
	defer cancel()
	defer func() {
		if err != nil && !w.IsSent() && errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
			err = context.DeadlineExceeded
		}
	}()
	write, err := open(ctx)
	if err != nil {
		return err
	}
	trailers := r.ProtoAtLeast(1, 1)
	w.Set("Content-Type", format.ContentType())
	disposition := "attachment"
	if name != "" {
		disposition += `; filename="` + name + `"`
	}
	w.Set("Content-Disposition", disposition)
	if trailers {
		w.Set("Trailer", exportTrailers)
	}
	body := response.NewStream(w, r)
	if format.IsCompressed() {
		body.Coding = response.Identity
	}
	if body.Coding != response.Identity {
		body.Digest = sha256.New()
	}
	var sum export.Summary
	err = body.Send(r, func(out io.Writer) (err error) {
		sum, err = write(out)
		return err
	})
	if err != nil || r.Method == http.MethodHead {
		return err
	}
	if trailers {
		w.Set(trailerDigest, sum.Digest)
		w.Set(trailerOriginal, sum.Digest)
		w.Set(trailerRows, strconv.Itoa(sum.Rows))
		if body.Digest != nil {
			w.Set(trailerDigest, export.Digest(body.Digest))
		}
	}
	return nil
}
