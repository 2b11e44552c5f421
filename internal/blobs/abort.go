package blobs

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
)

// Abort removes what a Put that was killed has left behind, if it was begun longer ago than a duration: incomplete
// multipart uploads of S3, unfinished files in a folder. Google and Azure forget it by themselves after a week. The
// duration must be longer than any Put takes.
func (b *Bucket) Abort(ctx context.Context, olderThan time.Duration) error {
	before := time.Now().Add(-olderThan)
	switch {
	case b.folder != "":
		return b.abortFiles(ctx, before)
	case b.s3 != nil:
		return b.abortUploads(ctx, before)
	}
	return nil
}

func (b *Bucket) abortUploads(ctx context.Context, before time.Time) error {
	const what = "abort uploads to"
	pages := s3.NewListMultipartUploadsPaginator(b.s3, &s3.ListMultipartUploadsInput{Bucket: &b.s3Bucket, Prefix: &b.prefix})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return b.failed(ctx, err, what)
		}
		for _, upload := range page.Uploads {
			if upload.Initiated == nil || upload.Initiated.After(before) {
				continue
			}
			_, err := b.s3.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{
				Bucket: &b.s3Bucket, Key: upload.Key, UploadId: upload.UploadId,
			})
			if e, ok := errors.AsType[smithy.APIError](err); ok && e.ErrorCode() == "NoSuchUpload" {
				continue // it has ended in the meantime, or another node was faster
			}
			if err != nil {
				return b.failed(ctx, err, what)
			}
		}
	}
	return nil
}

func (b *Bucket) abortFiles(ctx context.Context, before time.Time) error {
	err := filepath.WalkDir(b.folder, func(path string, d fs.DirEntry, err error) error {
		if err = errors.Join(err, ctx.Err()); err != nil || d.IsDir() || !unfinished.MatchString(path) {
			return ignore(err, fs.ErrNotExist)
		}
		info, err := d.Info()
		if err == nil && info.ModTime().Before(before) {
			err = os.Remove(path)
		}
		return ignore(err, fs.ErrNotExist)
	})
	if err != nil {
		return b.failed(ctx, err, "remove unfinished files in")
	}
	return b.Ping(ctx)
}
