package blobs

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/minio/minio-go/v7"
)

const (
	// partSize is how much of a file one request transfers, and parallelParts how many requests run at once. Together they
	// bound the memory of a Put.
	partSize      = 8 << 20
	parallelParts = 3
	// maxParts is less than the number of parts that stores accept (10,000).
	maxParts = 9000
)

// put implements driver. Files of more than one part are stored with a multipart upload, which the client aborts if it fails.
func (s *s3Store) put(ctx context.Context, name string, src io.ReaderAt, size int64) error {
	// The client repeats requests and sends files of any size to Google in constant memory only if it can seek.
	body := io.NewSectionReader(src, 0, size)
	_, err := s.client.Client.PutObject(ctx, s.bucket, s.prefix+name, body, size, minio.PutObjectOptions{
		ServerSideEncryption: s.encryption,
		// Every S3 server verifies MD5, unlike the CRC headers of newer clients and signatures of single chunks.
		SendContentMd5:        true,
		DisableContentSha256:  true,
		PartSize:              max(partSize, uint64(size)/maxParts+1),
		NumThreads:            parallelParts,
		ConcurrentStreamParts: true,
	})
	return err
}

// abort implements driver.
func (s *s3Store) abort(ctx context.Context, before time.Time) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the listing
	for u := range s.client.ListIncompleteUploads(ctx, s.bucket, s.prefix, true) {
		if u.Err != nil {
			return u.Err
		}
		if u.Initiated.After(before) {
			continue
		}
		err := s.client.AbortMultipartUpload(ctx, s.bucket, u.Key, u.UploadID)
		if e, ok := errors.AsType[minio.ErrorResponse](err); ok && e.Code == minio.NoSuchUpload {
			continue // it has ended meanwhile, or another node has aborted it
		}
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}
