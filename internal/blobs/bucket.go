package blobs

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"strings"
	"time"

	"herbarium/internal/herb"
)

// Ping reports whether the store answers and has the bucket or folder.
func (b *Bucket) Ping(ctx context.Context) error {
	err := b.driver.ping(ctx)
	if err != nil && isMissing(err) {
		return herb.Errorf(herb.CodeUnavailable, "the bucket or folder of the object store %s does not exist; create it", b.name)
	}
	return b.unavailable(ctx, err, "list")
}

// orMissing maps an error like unavailable. What is missing may be an object, which is no error, or the bucket.
func (b *Bucket) orMissing(ctx context.Context, err error, operation string) error {
	if err != nil && isMissing(err) {
		return errors.Join(b.Ping(ctx), ctx.Err())
	}
	return b.unavailable(ctx, err, operation)
}

// Delete removes an object. A missing object is not an error.
func (b *Bucket) Delete(ctx context.Context, name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	return b.orMissing(ctx, b.driver.remove(ctx, name), "delete "+name+" in")
}

// List returns all objects in the order of names. It ends with the first error.
func (b *Bucket) List(ctx context.Context) iter.Seq2[herb.Blob, error] {
	return func(yield func(herb.Blob, error) bool) {
		err := b.driver.list(ctx, func(o herb.Blob) bool { return yield(o, nil) })
		if err := b.orMissing(ctx, err, "list"); err != nil {
			yield(herb.Blob{}, err)
		}
	}
}

// Abort removes the remains of uploads that were started longer ago than a duration and never completed: multipart uploads
// on S3, temporary files in a folder. The duration must be longer than any Put takes.
func (b *Bucket) Abort(ctx context.Context, olderThan time.Duration) error {
	return b.orMissing(ctx, b.driver.abort(ctx, time.Now().Add(-olderThan)), "remove unfinished uploads in")
}

// checkName rejects names that not every store can hold, or that List would skip.
func checkName(name string) error {
	if !fs.ValidPath(name) || name == "." || strings.HasSuffix(name, ".tmp") || strings.HasSuffix(name, ".attrs") {
		return herb.Invalidf("invalid object name %q; write a path such as a/b.segment that does not end in .tmp or .attrs", name)
	}
	return nil
}
