package httpapi

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"herbarium/internal/query"
)

// list sends a page of records, or an export of all records if Accept requests one.
func (a *API) list(w *response, r *http.Request) error {
	if format, ok := wantsExport(r.Header["Accept"]); ok {
		return a.export(w, r, format)
	}
	view, err := a.openDataset(w, r)
	if err != nil {
		return err
	}
	defer view.Release()
	w.setVary(varyAccept)
	req, err := view.Query.Listing(view.Fields, view.Order)
	if err != nil || w.notModified(r, entityTag(w.path, req.Canonical(), view.Version, contentJSON)) {
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

// sendRecords sends a body of records of a size that write produces: from a buffer, or directly if
// it is too large to buffer.
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

// maxBufferedPage is the maximum size of a page that is buffered in memory. A page of 100 records
// is rarely larger than 64 KiB, but a record can have megabytes.
const maxBufferedPage = 256 << 10

// streamRecords sends a body that is too large to buffer, directly from the memory map of the
// segment. It runs in a lane of its own, because sending it can take as long as an export.
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

// setLinks sets the Link header to the first, previous, next and last page of a listing. The links
// do not contain the key, because they may be logged, shared and cached.
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
