package blobs

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"regexp"
	"strings"

	"herbarium/internal/herb"
)

// Ping finds out whether the store answers and has the bucket or folder.
func (b *Bucket) Ping(ctx context.Context) error {
	const what = "list what is in"
	if b.folder != "" {
		// Gocloud passes over what it cannot read, the folder itself included.
		d, err := os.Open(b.folder)
		if errors.Is(err, fs.ErrNotExist) {
			return herb.Errorf(herb.CodeUnavailable, "the folder of the object store %s does not exist any more", b.name)
		}
		if err == nil {
			_, err = d.ReadDir(1)
			err = errors.Join(ignore(err, io.EOF), d.Close())
		}
		if err != nil {
			return b.failed(ctx, err, what)
		}
		return nil
	}
	there, err := b.bucket.IsAccessible(ctx)
	if err != nil {
		return b.failed(ctx, err, what)
	}
	if !there {
		return herb.Errorf(herb.CodeUnavailable, "the bucket of the object store %s does not exist; create it", b.name)
	}
	return nil
}

// Delete removes what is stored under a name. It is no error if there is nothing.
func (b *Bucket) Delete(ctx context.Context, name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	err := b.bucket.Delete(ctx, name)
	if err != nil && missing(err) {
		return b.Ping(ctx) // it may be the bucket that is missing
	}
	if err != nil {
		return b.failed(ctx, err, "delete "+name+" in")
	}
	return nil
}

// List returns all that is stored, in the order of names. It ends with the first error.
func (b *Bucket) List(ctx context.Context) iter.Seq2[herb.Blob, error] {
	return func(yield func(herb.Blob, error) bool) {
		if b.folder != "" {
			if err := b.Ping(ctx); err != nil {
				yield(herb.Blob{}, err)
				return
			}
		}
		for it := b.bucket.List(nil); ; {
			o, err := it.Next(ctx)
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				if missing(err) {
					err = errors.Join(b.Ping(ctx), ctx.Err())
				} else {
					err = b.failed(ctx, err, "list what is in")
				}
				yield(herb.Blob{}, err)
				return
			}
			if o.IsDir || strings.HasSuffix(o.Key, "/") || b.folder != "" && unfinished.MatchString(o.Key) {
				continue
			}
			if !yield(herb.Blob{Name: o.Key, Size: o.Size, Modified: o.ModTime}, nil) {
				return
			}
		}
	}
}

// unfinished matches the names of files in a folder that are still being written.
var unfinished = regexp.MustCompile(`\.[0-9a-f]+\.tmp$`)

// checkName refuses names that not every store can hold, or that would not be listed.
func checkName(name string) error {
	if !fs.ValidPath(name) || name == "." || strings.HasSuffix(name, ".tmp") || strings.HasSuffix(name, ".attrs") {
		return herb.Invalidf("an object cannot be named %q; write a path like a/b.segment that does not end in .tmp or .attrs", name)
	}
	return nil
}

// ignore returns err unless it is one that is expected.
func ignore(err, expected error) error {
	if errors.Is(err, expected) {
		return nil
	}
	return err
}
