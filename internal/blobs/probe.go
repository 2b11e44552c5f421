package blobs

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"strings"

	"github.com/minio/minio-go/v7"

	"herbarium/internal/herb"
)

// Probe writes, reads, lists and deletes a small object of its own. conditional reports whether the store rejects a
// conditional write (If-None-Match: *) to an existing object; Herbarium does not depend on it.
func (b *Bucket) Probe(ctx context.Context) (conditional bool, err error) {
	name := "probe-" + strings.ToLower(rand.Text())
	content := []byte("written by herbarium doctor; it can be deleted\n")
	put := b.driver.put(ctx, name, bytes.NewReader(content), int64(len(content)))
	if err := b.mapError(ctx, put, "write to"); err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, b.Delete(context.WithoutCancel(ctx), name)) }()
	var got bytes.Buffer
	if err := b.Get(ctx, name, &got); err != nil {
		return false, err
	}
	if !bytes.Equal(got.Bytes(), content) {
		return false, herb.Errorf(herb.CodeUnavailable, "the object store %s returned another content than was written", b.name)
	}
	if err := b.Ping(ctx); err != nil {
		return false, err
	}
	if s, ok := b.driver.(*s3Store); ok {
		conditional, err = s.rejectsOverwrite(ctx, name, content)
		return conditional, b.mapError(ctx, err, "write to")
	}
	return true, nil
}

// rejectsOverwrite reports whether the store rejects a conditional write to an existing object.
func (s *s3Store) rejectsOverwrite(ctx context.Context, name string, content []byte) (bool, error) {
	opts := minio.PutObjectOptions{ServerSideEncryption: s.encryption, SendContentMd5: true, DisableContentSha256: true}
	opts.SetMatchETagExcept("*")
	_, err := s.client.Client.PutObject(ctx, s.bucket, s.prefix+name, bytes.NewReader(content), int64(len(content)), opts)
	switch e, _ := errors.AsType[minio.ErrorResponse](err); e.StatusCode {
	case http.StatusPreconditionFailed:
		return true, nil
	case http.StatusNotImplemented, http.StatusBadRequest:
		return false, nil
	}
	return false, err
}
