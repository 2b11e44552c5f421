package blobs

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"strings"

	"herbarium/internal/herb"
)

// Probe writes, reads, lists and deletes a small object of its own.
func (b *Bucket) Probe(ctx context.Context) (err error) {
	name := "probe-" + strings.ToLower(rand.Text())
	content := []byte("written by herbarium doctor; it can be deleted\n")
	put := b.driver.put(ctx, name, bytes.NewReader(content), int64(len(content)))
	if err := b.mapError(ctx, put, "write to"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Delete(context.WithoutCancel(ctx), name)) }()
	var got bytes.Buffer
	if err := b.Get(ctx, name, &got); err != nil {
		return err
	}
	if !bytes.Equal(got.Bytes(), content) {
		return herb.Errorf(herb.CodeUnavailable, "the object store %s returned another content than was written", b.name)
	}
	return b.Ping(ctx)
}
