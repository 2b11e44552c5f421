package blobs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

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
			BeforeWrite:    validated,
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

// validated has Azure compare each part with its checksum, as the clients of the other stores do by themselves.
func validated(as func(any) bool) error {
	var o *azblob.UploadStreamOptions
	if as(&o) {
		o.TransactionalValidation = azure.TransferValidationTypeComputeCRC64()
	}
	return nil
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
	f        io.Reader
	done     int64
	size     int64
	progress func(done, total int64)
	err      error
}

// Read implements io.Reader.
func (s *source) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	if s.done == s.size {
		return 0, io.EOF
	}
	n, err := s.f.Read(p[:min(int64(len(p)), copySize, s.size-s.done)])
	s.done += int64(n)
	switch {
	case err == io.EOF && s.done < s.size:
		s.err = fmt.Errorf("a file of %d bytes ends after %d", s.size, s.done)
	case err != nil && err != io.EOF:
		s.err = err
	}
	if s.err != nil {
		s.cancel(s.err) // some writers take any end for the end of the file
		return n, s.err
	}
	if n > 0 && s.progress != nil {
		s.progress(s.done, s.size)
	}
	return n, nil
}
