package response

import (
	"net/http"

	"herbarium/internal/etag"
	"herbarium/internal/herb"
)

// SendDescription sends JSON with an entity tag of its content. size is an estimate of it in bytes:
// the encoder holds all of it before it is written to a buffer. Nothing is described if there is no
// room for that.
func (w *Writer) SendDescription(r *http.Request, size int, access herb.Access, describe func() any) error {
	release, err := w.Reserve(r.Context(), size)
	if err != nil {
		return err
	}
	defer release()
	body, err := w.encodeReserved(r.Context(), describe(), release)
	defer body.Free()
	if err != nil {
		return err
	}
	w.SendDocument(r, access, NewDocument(ContentJSON, body.Bytes()))
	return nil
}

// Document is a body with an entity tag that determines it.
type Document struct {
	contentType string
	body        []byte
	tag         string
}

func NewDocument(contentType string, body []byte) Document {
	return Document{contentType: contentType, body: body, tag: etag.OfContent(representation, body)}
}

// SendDocument sends a document, or 304.
func (w *Writer) SendDocument(r *http.Request, access herb.Access, d Document) {
	w.SetCaching(r, access)
	w.Immutable = true
	if !w.NotModified(r, d.tag) {
		w.Send(r, http.StatusOK, d.contentType, d.body)
	}
}

// SetCaching sets Cache-Control: caches must revalidate. Responses to URLs that contain a key are
// not stored.
func (w *Writer) SetCaching(r *http.Request, access herb.Access) {
	switch _, keyed := w.QueryString(r).Key(); {
	case keyed:
		w.Set("Cache-Control", "private, no-store")
		w.Set("Referrer-Policy", "no-referrer")
	case access.NeedsKey(), w.Private:
		w.Set("Cache-Control", PrivateCaching)
	default:
		w.Set("Cache-Control", "public, no-cache")
	}
}

const PrivateCaching = "private, no-cache"
