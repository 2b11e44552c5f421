package httpapi

import (
	"crypto/sha256"
	"hash"
	"net/http"
	"strconv"
	"time"

	"herbarium/internal/export"
	"herbarium/internal/query"
)

// Fields behind the body of an export, by which a client can tell whether it has all of it. The first two are those of
// RFC 9530 and its companion: hashes of what was sent, and of what that is once it is decompressed.
const (
	trailerDigest   = "Content-Digest"
	trailerOriginal = "Unencoded-Digest"
	trailerRows     = "X-Content-Rows"
	exportTrailers  = trailerDigest + ", " + trailerOriginal + ", " + trailerRows
)

// export answers with the whole result of a query. What fails before the first byte is an error like any other; what
// fails later cuts the connection, so that no part can be taken for the whole.
func (a *API) export(w *response, r *http.Request, format export.Format) error {
	snap, req, err := a.resolveRequest(w, r)
	if err != nil {
		return err
	}
	defer snap.Release()
	if err := query.RefusePages(r.URL.RawQuery); err != nil {
		return err
	}
	if w.notModified(r, a.entityTag(snap.Version, format.MediaType(), req.String())) {
		return nil
	}
	stream, err := snap.Stream(r.Context(), req)
	if err != nil {
		return err
	}
	b := &exportBody{
		w: w, control: http.NewResponseController(w.ResponseWriter), stall: a.opts.Stall,
		coding: chooseCoding(r.Header["Accept-Encoding"]), trailers: r.ProtoAtLeast(1, 1),
		header: func(h http.Header) {
			h.Set("Content-Type", format.ContentType())
			h.Set("Content-Disposition", `attachment; filename="`+format.FileName(snap.Ref)+`"`)
			h.Set("X-Total-Count", strconv.Itoa(stream.Total))
		},
	}
	if r.Method == http.MethodHead {
		b.start()
		return nil
	}
	out, err := a.compressor.stream(b.coding, b)
	if err != nil {
		return err
	}
	sum, err := export.Write(out, format, snap.Fields, stream)
	if err == nil {
		err = out.Close()
	}
	if err != nil {
		w.gone = b.failed || r.Context().Err() != nil
		return err
	}
	b.finish(sum)
	return nil
}

// exportBody is the body of an export. The answer begins with its first byte. A client may take as long as it likes for
// all of it, but not for any piece.
type exportBody struct {
	w        *response
	control  *http.ResponseController
	stall    time.Duration
	coding   coding
	header   func(http.Header)
	trailers bool
	sent     hash.Hash // of what was sent, where that is not what was exported
	started  bool
	failed   bool // the client does not take any more
}

// Write sends a piece.
func (b *exportBody) Write(p []byte) (int, error) {
	b.start()
	b.extend()
	if b.sent != nil {
		b.sent.Write(p)
	}
	n, err := b.w.Write(p)
	b.failed = b.failed || err != nil
	return n, err
}

// start sends the headers, once.
func (b *exportBody) start() {
	if b.started {
		return
	}
	b.started = true
	h := b.w.Header()
	b.header(h)
	b.w.varyByEncoding()
	if b.coding != identity {
		h.Set("Content-Encoding", b.coding.header())
		b.sent = sha256.New()
	}
	if b.trailers {
		h.Set("Trailer", exportTrailers)
	}
	b.w.WriteHeader(http.StatusOK)
}

// extend gives the client time for the next piece. Where writing has no deadline there is none to extend.
func (b *exportBody) extend() { _ = b.control.SetWriteDeadline(time.Now().Add(b.stall)) }

// finish sends the trailer.
func (b *exportBody) finish(sum export.Summary) {
	b.start()
	b.extend()
	if !b.trailers {
		return
	}
	sent := sum.Digest
	if b.sent != nil {
		sent = export.Digest(b.sent)
	}
	h := b.w.Header()
	h.Set(trailerDigest, sent)
	h.Set(trailerOriginal, sum.Digest)
	h.Set(trailerRows, strconv.Itoa(sum.Rows))
}
