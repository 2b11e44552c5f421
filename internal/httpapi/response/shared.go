package response

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"sync"

	"github.com/klauspost/compress/gzip"

	"herbarium/internal/query"
)

// sharedCacheSize is the maximum size of all shared documents, compressed. A description of a
// dataset has about 150 bytes, an address in a sitemap about 10.
const sharedCacheSize = 16 << 20

// sharedDocuments caches documents about all datasets, compressed. One request at a time makes a
// document.
type sharedDocuments struct {
	bodies *bodyCache

	mu     sync.Mutex
	making map[string]chan struct{} // by entity tag; closed when the request has ended
}

func newSharedDocuments() *sharedDocuments {
	c := newBodyCache(sharedCacheSize)
	c.entryLimit = sharedCacheSize / 2
	return &sharedDocuments{bodies: c, making: map[string]chan struct{}{}}
}

// begin returns a cached document. If there is none, it returns what the request must wait for
// because another request makes the document, or nil: the request makes it and must call end.
func (s *sharedDocuments) begin(key bodyKey) (body []byte, wait <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if body := s.bodies.get(key); body != nil {
		return body, nil
	}
	if other, ok := s.making[key.tag]; ok {
		return nil, other
	}
	s.making[key.tag] = make(chan struct{})
	return nil, nil
}

func (s *sharedDocuments) end(key bodyKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.making[key.tag])
	delete(s.making, key.tag)
}

// SharedDocument returns the document with an entity tag, compressed with gzip. It is made once,
// however many requests ask for it meanwhile: a request that waits for another one holds no slot. A
// document with the same tag never differs.
func (w *Writer) SharedDocument(ctx context.Context, tag string, create func() ([]byte, error)) ([]byte, error) {
	shared, key := w.shared.shared, bodyKey{tag, codingGzip}
	for {
		body, wait := shared.begin(key)
		switch {
		case body != nil:
			return body, nil
		case wait == nil:
			defer shared.end(key)
			return w.createShared(ctx, key, create)
		}
		err := query.Wait(ctx, -1, wait)
		if err != nil {
			return nil, err
		}
	}
}

func (w *Writer) createShared(ctx context.Context, key bodyKey, create func() ([]byte, error)) ([]byte, error) {
	body, err := create()
	if err != nil {
		return nil, err
	}
	release, err := w.Reserve(ctx, int(key.coding.encoderSize()))
	if err != nil {
		return nil, err
	}
	defer release()
	buf := w.NewBuffer(ctx)
	defer buf.Free()
	out, finish := w.shared.compressor.stream(key.coding, buf)
	_, err = out.Write(body)
	err = errors.Join(err, finish())
	if err != nil {
		return nil, err
	}
	w.shared.shared.bodies.add(key, buf.Bytes())
	return slices.Clone(buf.Bytes()), nil
}

// AcceptsGzip reports whether the client of a request accepts bodies that are compressed with gzip.
func AcceptsGzip(r *http.Request) bool {
	accepts := false
	for name, weight := range weightedItems(r.Header["Accept-Encoding"]) {
		switch name {
		case "gzip", "x-gzip":
			return weight > 0
		case "*":
			accepts = weight > 0
		}
	}
	return accepts
}

// Decompress writes a document that SharedDocument returned.
func Decompress(to io.Writer, document []byte) error {
	decoder, err := gzip.NewReader(bytes.NewReader(document))
	if err != nil {
		return err
	}
	_, err = io.Copy(to, decoder)
	return err
}
