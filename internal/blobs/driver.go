package blobs

import (
	"context"
	"io"
	"time"

	"herbarium/internal/herb"
)

// driver is the access to one kind of store. Names are valid paths without the prefix of the address. Errors are those of
// the client library; Bucket maps them to herb codes.
type driver interface {
	// ping reports whether the bucket or folder exists and can be listed.
	ping(ctx context.Context) error
	// put stores src under name, completely or not at all.
	put(ctx context.Context, name string, src *source) error
	// open returns an object from an offset to its end, and the properties of the whole object.
	open(ctx context.Context, name string, offset int64) (io.ReadCloser, properties, error)
	// size returns the size of an object.
	size(ctx context.Context, name string) (int64, error)
	// remove deletes an object; whether a missing one is an error depends on the store.
	remove(ctx context.Context, name string) error
	// list calls yield for each object in the order of names until it returns false.
	list(ctx context.Context, yield func(herb.Blob) bool) error
	// abort removes unfinished uploads that were started before a time.
	abort(ctx context.Context, before time.Time) error
	close()
}

// properties identify the content of an object. They change when it is replaced.
type properties struct {
	size     int64
	modified time.Time
	etag     string // empty for a file
}

func (p properties) equal(q properties) bool {
	return p.size == q.size && p.modified.Equal(q.modified) && p.etag == q.etag
}
