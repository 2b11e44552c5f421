package blobs

import (
	"context"
	"crypto/md5"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"

	"cloud.google.com/go/storage"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	azure "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"gocloud.dev/blob"

	"herbarium/internal/herb"
)

const (
	// partSize is how much of a file is sent in one request, and parts how many of these are under way. Both together bound
	// the memory of a Put.
	partSize = 8 << 20
	parts    = 3
	// maxParts is less than the number of parts that each of the stores takes.
	maxParts = 9000

	contentType = "application/octet-stream"

	folderMode = 0o700
	fileMode   = 0o600
)

// Put stores a local file under a name, whole or not at all, in place of what was there before. When it returns nil the
// store has acknowledged all of it, and a folder has it on disk. progress is told how many bytes were taken from the file
// and how many there are; nil means nobody.
//
// A Put that is cancelled while the store finishes it may have happened nevertheless.
func (b *Bucket) Put(ctx context.Context, name, path string, progress func(done, total int64)) (err error) {
	if err := checkName(name); err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	within, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	src := &source{ctx: within, cancel: cancel, f: f, size: info.Size(), progress: progress}
	if b.folder != "" {
		err = b.putFile(within, name, src)
	} else {
		err = b.bucket.Upload(within, name, src, &blob.WriterOptions{
			BufferSize:     partSizeOf(src.size),
			MaxConcurrency: parts,
			ContentType:    contentType,
			BeforeWrite:    src.prepare,
		})
	}
	if src.err != nil {
		return src.err
	}
	if err != nil {
		return b.failed(ctx, err, "store "+name+" in")
	}
	return b.confirm(ctx, name, src.size)
}

// confirm compares what is stored with what should be.
func (b *Bucket) confirm(ctx context.Context, name string, size int64) error {
	stored, err := b.bucket.Attributes(ctx, name)
	if err != nil {
		return b.failed(ctx, err, "confirm "+name+" in")
	}
	if stored.Size != size {
		return errors.Join(
			herb.Errorf(herb.CodeUnavailable, "the object store %s has kept %d bytes of %s in place of %d", b.name, stored.Size,
				name, size),
			b.Delete(ctx, name))
	}
	return nil
}

// partSizeOf returns how large the parts of a file must be so that there are not too many.
func partSizeOf(size int64) int {
	const unit = 1 << 20
	least := (size + maxParts - 1) / maxParts
	return int(max(partSize, (least+unit-1)/unit*unit))
}

// prepare has the clients of Azure and Google do what the others do by themselves.
func (s *source) prepare(as func(any) bool) error {
	var toAzure *azblob.UploadStreamOptions
	if as(&toAzure) {
		// Each part has a checksum, which the store compares. A file in a single request has none of these, but Azure then
		// compares the one of the whole.
		toAzure.TransactionalValidation = azure.TransferValidationTypeComputeCRC64()
		if s.size < toAzure.BlockSize {
			sum := md5.New()
			if _, err := io.Copy(sum, io.NewSectionReader(s.f, 0, s.size)); err != nil {
				return err
			}
			toAzure.HTTPHeaders.BlobContentMD5 = sum.Sum(nil)
		}
	}
	var toGoogle **storage.ObjectHandle
	if as(&toGoogle) {
		// It would not try again, for it cannot know that any two uploads of a name are of the same file.
		*toGoogle = (*toGoogle).Retryer(storage.WithPolicy(storage.RetryAlways), storage.WithErrorFunc(s.again))
	}
	return nil
}

// again reports whether Google's client is to send once more what could not be sent. For itself it would never give up.
func (s *source) again(err error) bool {
	if !storage.ShouldRetry(err) {
		return false
	}
	if done := s.done.Load(); done > s.triedAt {
		s.triedAt, s.tries = done, 0
	}
	s.tries++
	return s.tries < maxAttempts
}

// putFile writes a file in a folder. Gocloud gives it its name once it is complete, but does not wait for the disk.
func (b *Bucket) putFile(ctx context.Context, name string, src *source) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var f *os.File
	w, err := b.bucket.NewWriter(ctx, name, &blob.WriterOptions{
		ContentType: contentType,
		BeforeWrite: func(as func(any) bool) error {
			if !as(&f) {
				return errors.New("gocloud has no file")
			}
			return f.Chmod(fileMode)
		},
	})
	if err != nil {
		return err
	}
	if _, err = io.Copy(w, src); err == nil {
		err = f.Sync()
	}
	if err != nil {
		cancel() // or it would get its name
	}
	if err := errors.Join(err, w.Close()); err != nil {
		return err
	}
	for folder := filepath.Dir(filepath.Join(b.folder, filepath.FromSlash(name))); ; folder = filepath.Dir(folder) {
		if err := syncFolder(folder); err != nil {
			return err
		}
		if folder == b.folder {
			return nil
		}
	}
}

// syncFolder has the names in a folder written to disk.
func syncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// source is the file of a Put. It is as long as it was at first, or it is an error.
type source struct {
	ctx      context.Context
	cancel   context.CancelCauseFunc
	f        *os.File
	size     int64
	done     atomic.Int64
	progress func(done, total int64)
	err      error

	tries   int   // of Google's client to send a part
	triedAt int64 // what was done then
}

// Read implements io.Reader.
func (s *source) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	done := s.done.Load()
	if done == s.size {
		return 0, io.EOF
	}
	n, err := s.f.Read(p[:min(int64(len(p)), copySize, s.size-done)])
	done = s.done.Add(int64(n))
	switch {
	case err == io.EOF && done < s.size:
		s.err = fmt.Errorf("a file of %d bytes ends after %d", s.size, done)
	case err != nil && err != io.EOF:
		s.err = err
	}
	if s.err != nil {
		s.cancel(s.err) // some writers take any end for the end of the file
		return n, s.err
	}
	if n > 0 && s.progress != nil {
		s.progress(done, s.size)
	}
	return n, nil
}
