package httpapi

import (
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"herbarium/internal/admission"
	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/query"
)

// list sends a page of records, or a file of all records if the client requests one.
func (a *API) list(w *response, r *http.Request) error {
	if format, ok := wantsExport(r.Header["Accept"]); ok {
		return a.export(w, r, format)
	}
	snap, req, err := a.openListing(w, r, r.URL.RawQuery)
	if err != nil {
		return err
	}
	defer snap.Release()
	if w.notModified(r, a.entityTag(snap.Version, req.String())) {
		return nil
	}
	page, err := snap.List(r.Context(), req)
	if err != nil {
		return err
	}
	meta := req.Meta(page.Total)
	if err := a.setLinks(w, r.URL, meta); err != nil {
		return err
	}
	size := len(listingStart) + len(page.Records)
	for _, rec := range page.Records {
		size += len(rec)
	}
	if size > maxBufferedPage {
		return a.streamListing(w, r, page.Records, meta)
	}
	buf := a.buffers.get()
	defer a.buffers.put(buf)
	*buf = appendListing(*buf, page.Records, meta)
	w.send(r, http.StatusOK, contentJSON, *buf)
	return nil
}

// maxBufferedPage is the maximum size of a page that is buffered in memory. A page of 100 records is rarely larger than
// 64 KiB, but a record can have megabytes.
const maxBufferedPage = 256 << 10

// streamListing sends a page that is too large to buffer. Its records are memory-mapped and sent from there. It runs in
// the lane of exports, because it takes as long.
func (a *API) streamListing(w *response, r *http.Request, records [][]byte, m query.Meta) error {
	if err := w.ticket.Enter(r.Context(), admission.Export); err != nil {
		return err
	}
	end := appendMeta(nil, m)
	body := a.newStream(w, r, func(h http.Header, compressed bool) {
		h.Set("Content-Type", contentJSON)
		if !compressed {
			size := len(listingStart) + len(records) - 1 + len(end)
			for _, rec := range records {
				size += len(rec)
			}
			h.Set("Content-Length", strconv.Itoa(size))
		}
	})
	return body.send(r, func(out io.Writer) error {
		_, err := out.Write([]byte(listingStart))
		for i, rec := range records {
			if i > 0 && err == nil {
				_, err = out.Write([]byte{','})
			}
			// In pieces, because an encoder may buffer its input until it has compressed all of it.
			for piece := range slices.Chunk(rec, streamChunk) {
				if err == nil {
					_, err = out.Write(piece)
				}
			}
		}
		if err == nil {
			_, err = out.Write(end)
		}
		return err
	})
}

// openListing opens the dataset of the path, authorizes the client and parses the raw query, in this order. The caller
// must release the snapshot.
func (a *API) openListing(w *response, r *http.Request, raw string) (library.View, *query.Request, error) {
	snap, err := a.openDataset(w, r)
	if err != nil {
		return snap, nil, err
	}
	if h := w.Header(); h["Vary"] == nil {
		h.Set("Vary", varyAccept)
	}
	req, err := query.ParseOrdered(raw, snap.Fields, snap.Order)
	if err != nil {
		snap.Release()
	}
	return snap, req, err
}

// openDataset opens the dataset of the path and authorizes the client. The caller must release the snapshot.
func (a *API) openDataset(w *response, r *http.Request) (library.View, error) {
	snap, err := a.acquire(r)
	if err != nil {
		return snap, err
	}
	if err := a.authorizeRead(w, r, snap.Dataset); err != nil {
		snap.Release()
		return snap, err
	}
	w.setCaching(r, snap.Access)
	return snap, nil
}

// authorizeRead checks that the client may read the records of a dataset.
func (a *API) authorizeRead(w *response, r *http.Request, d herb.Dataset) error {
	if d.Access != herb.AccessKey {
		return nil
	}
	vary := varyKey
	if w.route.page {
		vary = varyCookie
	}
	w.Header().Set("Vary", vary)
	_, err := a.authorize(w, r, a.keyOf(w, r), needsKey(d.Ref), d.ReadScopes()...)
	return err
}

func needsKey(ref herb.Ref) string {
	return "dataset " + ref.String() + " needs a key; send it as X-API-Key: <key>, " +
		"as Authorization: Bearer <key>, or as the parameter api_key"
}

// acquire opens the dataset of the path.
func (a *API) acquire(r *http.Request) (library.View, error) {
	ref := herb.Ref{Namespace: herb.Clip(r.PathValue("namespace"), maxShown), Name: herb.Clip(r.PathValue("dataset"), maxShown)}
	snap, err := a.opts.Library.Acquire(r.Context(), ref)
	if err == nil {
		snap.Source = a.opts.Admission.Limit(snap.Dataset, snap.Source)
	}
	return snap, err
}

// listingStart is the start of the body of a listing.
const listingStart = `{"data":[`

// appendListing appends the body of a listing. Records are copied unchanged.
func appendListing(b []byte, records [][]byte, m query.Meta) []byte {
	b = append(b, listingStart...)
	for i, rec := range records {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, rec...)
	}
	return appendMeta(b, m)
}

// appendMeta appends the part of a listing that follows the records.
func appendMeta(b []byte, m query.Meta) []byte {
	b = append(b, `],"meta":{"total":`...)
	b = strconv.AppendInt(b, int64(m.Total), 10)
	b = append(b, `,"page":`...)
	b = strconv.AppendInt(b, int64(m.Page), 10)
	b = append(b, `,"per_page":`...)
	b = strconv.AppendInt(b, int64(m.PerPage), 10)
	b = append(b, `,"total_pages":`...)
	b = strconv.AppendInt(b, int64(m.TotalPages), 10)
	b = append(b, `,"has_next":`...)
	b = strconv.AppendBool(b, m.HasNext)
	b = append(b, `,"has_prev":`...)
	b = strconv.AppendBool(b, m.HasPrev)
	return append(b, "}}"...)
}

// setLinks sets the Link header.
func (a *API) setLinks(w *response, u *url.URL, m query.Meta) error {
	first, err := query.WithPage(u.RawQuery, 1)
	if err != nil {
		return err
	}
	target := a.base + u.EscapedPath() + "?" + strings.TrimSuffix(first, "1") // the page is the last parameter
	b := make([]byte, 0, 4*(len(target)+32))
	add := func(rel string, page int) {
		if len(b) > 0 {
			b = append(b, ", "...)
		}
		b = append(append(b, '<'), target...)
		b = strconv.AppendInt(b, int64(page), 10)
		b = append(append(append(b, `>; rel="`...), rel...), '"')
	}
	add("first", 1)
	if m.HasPrev {
		add("prev", min(m.Page-1, m.TotalPages))
	}
	if m.HasNext {
		add("next", m.Page+1)
	}
	add("last", max(m.TotalPages, 1))
	w.Header().Set("Link", string(b))
	return nil
}
