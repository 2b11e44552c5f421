package httpapi

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/query"
)

// list answers with a page of records, or with all of them to a client that asks for a file.
func (a *API) list(w *response, r *http.Request) error {
	if format, ok := wantsExport(r.Header["Accept"]); ok {
		return a.export(w, r, format)
	}
	buf := a.buffers.get()
	defer a.buffers.put(buf)
	done, err := a.prepareListing(w, r, buf)
	if done || err != nil {
		return err
	}
	w.send(r, http.StatusOK, contentJSON, *buf)
	return nil
}

// prepareListing finds the page and writes the answer into buf. done means that 304 was the whole answer.
func (a *API) prepareListing(w *response, r *http.Request, buf *[]byte) (done bool, err error) {
	snap, req, err := a.question(w, r)
	if err != nil {
		return false, err
	}
	defer snap.Release()
	if w.notModified(r, a.entityTag(snap.Version, req.String())) {
		return true, nil
	}
	page, err := snap.List(r.Context(), req)
	if err != nil {
		return false, err
	}
	meta := req.Meta(page.Total)
	*buf = appendListing(*buf, page.Records, meta)
	return false, a.setLinks(w, r.URL, meta)
}

// question judges a request for records in the order dataset, key, query. The caller releases the snapshot.
func (a *API) question(w *response, r *http.Request) (library.Snapshot, *query.Request, error) {
	snap, err := a.acquire(w, r)
	if err != nil {
		return library.Snapshot{}, nil, err
	}
	req, err := a.judge(w, r, snap)
	if err != nil {
		snap.Release()
		return library.Snapshot{}, nil, err
	}
	return snap, req, nil
}

func (a *API) judge(w *response, r *http.Request, snap library.Snapshot) (*query.Request, error) {
	w.headers.set("Vary", varyAccept)
	if err := a.admit(w, r, snap); err != nil {
		return nil, err
	}
	req, err := query.ParseOrdered(r.URL.RawQuery, snap.Fields, snap.Order)
	if err != nil {
		return nil, err
	}
	w.setCaching(r, snap.Access)
	return req, nil
}

// admit sees that whoever asks may see the records.
func (a *API) admit(w *response, r *http.Request, snap library.Snapshot) error {
	if snap.Access != herb.AccessKey {
		return nil
	}
	w.headers.set("Vary", varyKey)
	if w.route.page {
		w.headers.set("Vary", varyCookie)
	}
	_, err := a.authorise(w, r, a.keyOf(w, r), needsKey(snap.Ref), snap.ReadScopes()...)
	return err
}

func needsKey(ref herb.Ref) string {
	return "dataset " + ref.String() + " needs a key; send it as X-API-Key: <key>, " +
		"as Authorization: Bearer <key>, or as the parameter api_key"
}

// acquire finds the dataset that a path names.
func (a *API) acquire(w *response, r *http.Request) (library.Snapshot, error) {
	ref := w.ref
	if ref == (herb.Ref{}) {
		ref = herb.Ref{Namespace: r.PathValue("namespace"), Name: r.PathValue("dataset")}
	}
	ref.Namespace, ref.Name = clip(ref.Namespace), clip(ref.Name)
	return a.opts.Library.Acquire(r.Context(), ref)
}

// appendListing appends the body of a listing. Records are copied as they are.
func appendListing(b []byte, records [][]byte, m query.Meta) []byte {
	b = append(b, `{"data":[`...)
	for i, rec := range records {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, rec...)
	}
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
	base := strings.TrimSuffix(first, "1") // the page comes last
	buf := a.buffers.get()
	defer a.buffers.put(buf)
	b := *buf
	add := func(rel string, page int) {
		if len(b) > 0 {
			b = append(b, ", "...)
		}
		b = append(b, '<')
		b = append(b, a.base...)
		b = append(b, u.EscapedPath()...)
		b = append(b, '?')
		b = append(b, base...)
		b = strconv.AppendInt(b, int64(page), 10)
		b = append(b, `>; rel="`...)
		b = append(b, rel...)
		b = append(b, '"')
	}
	add("first", 1)
	if m.HasPrev {
		add("prev", min(m.Page-1, m.TotalPages))
	}
	if m.HasNext {
		add("next", m.Page+1)
	}
	add("last", max(m.TotalPages, 1))
	w.headers.set("Link", string(b))
	*buf = b
	return nil
}
