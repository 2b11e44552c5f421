package reading

import (
	"context"
	"io"
	"net/http"
	"strconv"

	"herbarium/internal/httpapi/gate"
	"herbarium/internal/httpapi/operations"
	"herbarium/internal/httpapi/response"

	"herbarium/internal/changes"
	"herbarium/internal/export"
	"herbarium/internal/query"
)

// ChangesFormats returns the formats in which changes are exported.
func ChangesFormats() []export.Format { return []export.Format{export.NDJSON, export.CSV} }

// Changes sends a page of the changes between two versions.
func (h *Handlers) Changes(w *response.Writer, r *http.Request, from, to gate.DatasetView) error {
	return h.withChanges(w, r, from, to, response.ContentJSON,
		func(req *query.ChangesRequest, selectChanges selectFunc) error {
			selected, release, err := selectChanges(r.Context())
			if err != nil {
				return err
			}
			defer release()
			meta := req.Meta(selected.Total())
			w.Set("X-Total-Count", strconv.Itoa(meta.Total))
			h.setLinks(w, r, meta)
			page := changesPage{selected, req.Offset(), req.PerPage, meta}
			size := byteCount(0)
			if err := page.write(r.Context(), &size); err != nil {
				return err
			}
			return h.sendRecords(w, r, int(size), func(out io.Writer) error { return page.write(r.Context(), out) })
		})
}

// ExportChanges sends all changes between two versions as a file.
func (h *Handlers) ExportChanges(w *response.Writer, r *http.Request, from, to gate.DatasetView,
	format export.Format) error {
	return h.withChanges(w, r, from, to, format.MediaType(),
		func(req *query.ChangesRequest, selectChanges selectFunc) error {
			name := gate.RefOf(r).Name + "-changes." + string(format)
			release := func() {}
			defer func() { release() }()
			return h.sendFile(w, r, format, name, func(ctx context.Context) (_ writeFile, err error) {
				var selected *changes.Changes
				selected, release, err = selectChanges(ctx)
				if err != nil {
					release = func() {}
					return nil, err
				}
				w.Set("X-Total-Count", strconv.Itoa(selected.Total()))
				if format == export.CSV {
					fields, err := selected.UpdateFields()
					return recordsFile(format, fields,
						query.Stream{Total: selected.Total(), Records: selected.Updates(ctx)}), err
				}
				lines, err := selected.Stream(ctx)
				return recordsFile(format, nil, query.Stream{Total: selected.Total() + 1, Records: lines}), err
			})
		})
}

// selectFunc compares the versions of a request and selects its changes. release must be called
// after they are read.
type selectFunc func(context.Context) (selected *changes.Changes, release func(), err error)

// withChanges calls send with the changes between two versions, unless the client has the response.
func (h *Handlers) withChanges(
	w *response.Writer, r *http.Request, from, to gate.DatasetView, contentType string,
	send func(*query.ChangesRequest, selectFunc) error,
) error {
	isExport := contentType != response.ContentJSON
	req, err := to.Query.Changes(from.Fields, to.Fields, isExport)
	if err != nil || w.NotModified(r, response.EntityTag(w.Path, req.ResultKey(), from.Version+" "+to.Version,
		contentType)) {
		return err
	}
	if isExport {
		w.SetVary(response.VaryAccept)
	}
	return send(req, func(ctx context.Context) (*changes.Changes, func(), error) {
		found, err := operations.CompareVersions(ctx, h.opts.Changes, &from.View, &to.View, req)
		if err != nil {
			return nil, nil, err
		}
		return found.Selected[0], found.Release, nil
	})
}

// changesPage is the body of a page of changes.
type changesPage struct {
	changes       *changes.Changes
	offset, limit int
	meta          query.Meta
}

// write writes the body.
func (p changesPage) write(ctx context.Context, out io.Writer) error {
	summary, err := p.changes.AppendSummary(nil)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(out, listingStart); err != nil {
		return err
	}
	comma := []byte(nil)
	for line, err := range p.changes.Lines(ctx, p.offset, p.limit) {
		if err == nil {
			_, err = out.Write(comma)
		}
		if err == nil {
			_, err = out.Write(line)
		}
		if err != nil {
			return err
		}
		comma = []byte{','}
	}
	end := append([]byte(`],"meta":`), summary[:len(summary)-1]...)
	_, err = out.Write(append(appendPagination(append(end, ','), p.meta), "}}"...))
	return err
}

// byteCount counts the bytes that are written to it.
type byteCount int

// Write implements io.Writer.
func (n *byteCount) Write(p []byte) (int, error) {
	*n += byteCount(len(p))
	return len(p), nil
}
