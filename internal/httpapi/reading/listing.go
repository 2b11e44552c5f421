package reading

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"herbarium/internal/fetch"
	"herbarium/internal/httpapi/gate"
	"herbarium/internal/httpapi/operations"
	"herbarium/internal/httpapi/response"

	"golang.org/x/sync/semaphore"

	"herbarium/internal/changes"
	"herbarium/internal/herb"
	"herbarium/internal/httpapi/openapi"
	"herbarium/internal/query"
	"herbarium/internal/versions"
)

// Handlers handles requests for records, descriptions and documents. It is safe for concurrent
// use.
type Handlers struct {
	opts            Options
	gate            *gate.Gate
	openAPIDocument atomic.Pointer[cachedDocument]
	typedDocument   atomic.Pointer[cachedDocument] // with query.ParamTyped
	generating      *semaphore.Weighted            // held by the request that generates it
}

// Options configures Handlers.
type Options struct {
	Gate      *gate.Gate
	Library   gate.Library
	Base      string // path of the public URL, without a trailing slash
	PublicURL string // see Site
	Origin    func(*http.Request) string
	// nil: changes between versions are not served
	Changes      *changes.Comparisons
	History      func(context.Context, herb.Ref) ([]versions.Version, error) // the kept versions, newest first
	Fetches      Fetches                                                     // nil: nothing is fetched
	SearchBudget time.Duration
	Features     openapi.Features
}

// Fetches knows the states of datasets that are fetched.
type Fetches interface {
	States(ctx context.Context, ref herb.Ref) (map[herb.Ref]fetch.State, error)
}

func New(opts Options) *Handlers {
	return &Handlers{opts: opts, gate: opts.Gate, generating: semaphore.NewWeighted(1)}
}

// List sends a page of records, or an export of all records if Accept requests one.
func (h *Handlers) List(w *response.Writer, r *http.Request, view gate.DatasetView) error {
	if format, ok := response.WantsExport(r.Header["Accept"]); ok {
		return h.Export(w, r, view, format)
	}
	w.SetVary(response.VaryAccept)
	req, err := view.Query.Listing(view.Fields, view.Order)
	if err != nil || isCurrent(w, r, view, req) {
		return err
	}
	found, err := operations.List(r.Context(), &view.View, req)
	if err != nil {
		return err
	}
	defer found.Release()
	meta := req.Meta(found.Total)
	meta.Words = found.Words
	if found.Total == 0 {
		meta.Suggestions, err = h.suggest(w, r, view, req)
		if err != nil {
			return err
		}
	}
	w.Set("X-Total-Count", strconv.Itoa(found.Total))
	h.setLinks(w, r, meta)
	body, err := newListing(found.Records, req.NewSelector(found.Types), meta)
	if err != nil {
		return err
	}
	if req.Matches {
		matches := w.NewBuffer(r.Context())
		defer matches.Free()
		err = writeMatches(matches, found.Matches(r.Context(), &view.View))
		if err != nil {
			return err
		}
		body.addMatches(matches.Bytes())
	}
	return h.sendRecords(w, r, body.size, body.write)
}

// sendRecords sends a body of records of a size that write produces: from a buffer, or directly if
// it is too large to buffer.
func (h *Handlers) sendRecords(w *response.Writer, r *http.Request, size int, write func(io.Writer) error) error {
	if size > maxBufferedPage {
		return h.streamRecords(w, r, size, write)
	}
	buf := w.NewBuffer(r.Context())
	defer buf.Free()
	if err := buf.Grow(size); err != nil {
		return err
	}
	if err := write(buf); err != nil {
		return err
	}
	w.Send(r, http.StatusOK, response.ContentJSON, buf.Bytes())
	return nil
}

// listing is the body of a listing. Texts are copied unchanged.
type listing struct {
	records  [][]byte
	selector *query.Selector
	end      []byte // follows the records
	matches  []byte // the last member of the metadata; may be empty
	size     int
}

// The start and the end of the body of a listing.
const (
	listingStart = `{"data":[`
	listingEnd   = "}}"
)

func newListing(records [][]byte, selector *query.Selector, m query.Meta) (listing, error) {
	end := append(appendPagination(append(make([]byte, 0, 128), `],"meta":{`...), m), listingEnd...)
	size := len(listingStart) + max(len(records)-1, 0) + len(end)
	for _, rec := range records {
		n, err := selector.Size(rec)
		if err != nil {
			return listing{}, err
		}
		size += n
	}
	return listing{records: records, selector: selector, end: end, size: size}, nil
}

// addMatches adds a member of the metadata.
func (l *listing) addMatches(member []byte) {
	l.end = l.end[:len(l.end)-len(listingEnd)]
	l.matches = member
	l.size += len(member)
}

// appendPagination appends the members of pagination metadata.
func appendPagination(b []byte, m query.Meta) []byte {
	b = fmt.Appendf(b, `"total":%d,"page":%d,"per_page":%d,"total_pages":%d,"has_next":%t,"has_prev":%t`,
		m.Total, m.Page, m.PerPage, m.TotalPages, m.HasNext, m.HasPrev)
	if m.Resolved != nil {
		resolved, _ := json.Marshal(m.Resolved) // strings
		b = append(append(b, `,"resolved":`...), resolved...)
	}
	if m.Words != nil {
		words, _ := json.Marshal(m.Words) // strings
		b = append(append(b, `,"words":`...), words...)
	}
	if m.Suggestions != nil {
		b = appendSuggestions(append(b, `,"suggestions":`...), m.Suggestions)
	}
	return b
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
	if err == nil && len(l.matches) > 0 {
		_, err = out.Write(l.matches)
		if err == nil {
			_, err = io.WriteString(out, listingEnd)
		}
	}
	return err
}

// maxBufferedPage is the maximum size of a page that is buffered in memory. A page of 100 records
// is rarely larger than 64 KiB, but a record can have megabytes.
const maxBufferedPage = 256 << 10

// streamRecords sends a body that is too large to buffer, directly from the memory map of the
// segment, in the lane of exports, because sending it can take as long as one.
func (h *Handlers) streamRecords(w *response.Writer, r *http.Request, size int, write func(io.Writer) error) error {
	if err := w.AdmitLargePage(r); err != nil {
		return err
	}
	body := response.NewStream(w, r)
	w.Set("Content-Type", response.ContentJSON)
	if body.Coding == response.Identity {
		w.Set("Content-Length", strconv.Itoa(size))
	}
	return body.Send(r, func(out io.Writer) error {
		// each write to the stream costs a slot; large values are not copied
		chunks := bufio.NewWriterSize(out, response.StreamChunk)
		if err := write(chunks); err != nil {
			return err
		}
		return chunks.Flush()
	})
}

// setLinks sets the Link header to the first, previous, next and last page of a listing. The links
// do not contain the key, because they may be logged, shared and cached.
func (h *Handlers) setLinks(w *response.Writer, r *http.Request, m query.Meta) {
	others := w.QueryString(r).Encode(query.ParamPage, query.ParamAPIKey)
	if others != "" {
		others += "&"
	}
	target := h.opts.Base + w.Path + "?" + others + query.ParamPage + "=" // the number of the page follows
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
	w.Set("Link", b.String())
}
