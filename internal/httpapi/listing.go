package httpapi

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/query"
)

// list sends a page of records, or an export of all records if Accept requests one.
func (a *API) list(w *response, r *http.Request) error {
	if format, ok := wantsExport(r.Header["Accept"]); ok {
		return a.export(w, r, format)
	}
	view, q, err := a.openDataset(w, r)
	if err != nil {
		return err
	}
	defer view.Release()
	w.setVary(varyAccept)
	req, err := q.Listing(view.Fields, view.Order)
	if err != nil || w.notModified(r, a.entityTag(w.path, req.Canonical(), view.Version, contentJSON)) {
		return err
	}
	page, err := view.List(r.Context(), req)
	if err != nil {
		return err
	}
	w.set("X-Total-Count", strconv.Itoa(page.Total))
	meta := req.Meta(page.Total)
	a.setLinks(w, r, meta)
	body, err := newListing(page.Records, req.NewSelector(), meta)
	if err != nil {
		return err
	}
	return a.sendRecords(w, r, body.size, body.write)
}

// sendRecords sends a body of records of a size that write produces: from a buffer, or directly if it is too large to buffer.
func (a *API) sendRecords(w *response, r *http.Request, size int, write func(io.Writer) error) error {
	if size > maxBufferedPage {
		return a.streamRecords(w, r, size, write)
	}
	buf := w.newBuffer(r.Context())
	defer buf.free()
	if err := buf.Grow(size); err != nil {
		return err
	}
	if err := write(buf); err != nil {
		return err
	}
	w.send(r, http.StatusOK, contentJSON, buf.Bytes())
	return nil
}

// listing is the body of a listing. The selected fields of records are copied unchanged.
type listing struct {
	records  [][]byte
	selector *query.Selector
	end      []byte // follows the records
	size     int
}

// listingStart is the start of the body of a listing.
const listingStart = `{"data":[`

func newListing(records [][]byte, selector *query.Selector, m query.Meta) (listing, error) {
	end := fmt.Appendf(make([]byte, 0, 128), `],"meta":{"total":%d,"page":%d,"per_page":%d,"total_pages":%d,"has_next":%t,"has_prev":%t}}`,
		m.Total, m.Page, m.PerPage, m.TotalPages, m.HasNext, m.HasPrev)
	size := len(listingStart) + max(len(records)-1, 0) + len(end)
	for _, rec := range records {
		n, err := selector.Size(rec)
		if err != nil {
			return listing{}, err
		}
		size += n
	}
	return listing{records, selector, end, size}, nil
}

// write writes the body.
func (l listing) write(out io.Writer) error {
	_, err := io.WriteString(out, listingStart)
	comma := []byte{','} // allocated once
	for i, rec := range l.records {
		if i > 0 && err == nil {
			_, err = out.Write(comma)
		}
		if err == nil {
			err = l.selector.Write(out, rec)
		}
	}
	if err == nil {
		_, err = out.Write(l.end)
	}
	return err
}

// maxBufferedPage is the maximum size of a page that is buffered in memory. A page of 100 records is rarely larger than
// 64 KiB, but a record can have megabytes.
const maxBufferedPage = 256 << 10

// streamRecords sends a body that is too large to buffer, directly from the memory map of the segment. It runs in a lane of its
// own, because sending it can take as long as an export.
func (a *API) streamRecords(w *response, r *http.Request, size int, write func(io.Writer) error) error {
	if err := w.admitLargePage(r); err != nil {
		return err
	}
	body := newStream(w, r)
	w.set("Content-Type", contentJSON)
	if body.coding == identity {
		w.set("Content-Length", strconv.Itoa(size))
	}
	return body.send(r, func(out io.Writer) error {
		chunks := bufio.NewWriterSize(out, streamChunk) // each write to the stream costs a slot; large values are not copied
		if err := write(chunks); err != nil {
			return err
		}
		return chunks.Flush()
	})
}

// openDataset opens the dataset of the path, in the version that the query names, and authorizes the client. It returns the
// query string without the version, which must not be interpreted before: an error would tell an unauthorized client the fields. The
// caller must release the view.
func (a *API) openDataset(w *response, r *http.Request) (view library.View, q query.String, err error) {
	if view, err = a.acquire(r); err != nil {
		return view, q, err
	}
	if err = a.authorizeRead(w, r, view.Dataset); err == nil {
		var version string
		if version, q, err = w.queryString(r).CutVersion(); version != "" {
			view, err = a.switchVersion(w, r, view, version)
		}
	}
	if err != nil {
		view.Release()
		return view, q, err
	}
	w.setCaching(r, view.Access)
	w.set("X-Dataset-Version", view.Version)
	w.immutable = view.Ref != herb.PlantsRef
	return view, q, nil
}

// switchVersion replaces the view of the live version, which the client may read, by that of another one. A key is required
// if one of them requires it: a dataset can become protected after the version was published, or open.
func (a *API) switchVersion(w *response, r *http.Request, live library.View, version string) (library.View, error) {
	view, err := a.opts.Library.AcquireVersion(r.Context(), live.Ref, version)
	if err != nil {
		return live, err
	}
	live.Release()
	if live.Access == herb.AccessKey {
		view.Access = herb.AccessKey
	}
	return view, a.authorizeRead(w, r, view.Dataset)
}

// authorizeRead checks that the client may read the records of a dataset.
func (a *API) authorizeRead(w *response, r *http.Request, d herb.Dataset) error {
	if d.Access != herb.AccessKey {
		return nil
	}
	w.setKeyVary()
	howTo := "dataset " + d.Ref.String() + " requires a key; send it as X-API-Key: <key>, as Authorization: Bearer <key>, or as the parameter api_key"
	_, err := a.authorize(w, r, a.requestKey(w, r), howTo, d.ReadScopes()...)
	return err
}

// acquire opens the live version of the dataset of the path.
func (a *API) acquire(r *http.Request) (library.View, error) {
	ref := herb.Ref{Namespace: herb.Clip(r.PathValue("namespace"), maxShown), Name: herb.Clip(r.PathValue("dataset"), maxShown)}
	return a.opts.Library.Acquire(r.Context(), ref)
}

// setLinks sets the Link header to the first, previous, next and last page of a listing. The links do not contain the key,
// because they may be logged, shared and cached.
func (a *API) setLinks(w *response, r *http.Request, m query.Meta) {
	others := w.queryString(r).Encode(query.ParamPage, query.ParamAPIKey)
	if others != "" {
		others += "&"
	}
	target := a.base + w.path + "?" + others + query.ParamPage + "=" // the number of the page follows
	var b strings.Builder
	b.Grow(4 * (len(target) + len(`<1000000>; rel="first", `)))
	add := func(rel string, page int) {
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		for _, s := range []string{"<", target, strconv.Itoa(page), `>; rel="`, rel, `"`} {
			b.WriteString(s)
		}
	}
	add("first", 1)
	if m.HasPrev {
		add("prev", min(m.Page-1, m.TotalPages))
	}
	if m.HasNext {
		add("next", m.Page+1)
	}
	add("last", max(m.TotalPages, 1))
	w.set("Link", b.String())
}
