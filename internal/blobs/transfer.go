package blobs

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"herbarium/internal/herb"
)

// localError is a failure of this machine, not of the store.
type localError struct{ error }

// Get copies an object to a writer, completely, or returns an error: herb.CodeNotFound if there is no such object,
// herb.CodeUnavailable if the store fails. After a broken connection it resumes where the previous one ended.
func (b *Bucket) Get(ctx context.Context, name string, to io.Writer) error {
	if err := checkName(name); err != nil {
		return err
	}
	err := b.driver.get(ctx, name, &target{ctx: ctx, w: to})
	if err != nil && isMissing(err) {
		if err := b.Ping(ctx); err != nil {
			return err // the bucket is missing
		}
		return herb.Errorf(herb.CodeNotFound, "no object %s in the object store %s", name, b.name)
	}
	return b.mapError(ctx, err, "read "+name+" in")
}

// target is the writer of a Get.
type target struct {
	ctx  context.Context
	w    io.Writer
	done int64
}

// Write implements io.Writer.
func (t *target) Write(p []byte) (int, error) {
	if err := t.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := t.w.Write(p)
	t.done += int64(n)
	if err != nil {
		return n, localError{err}
	}
	return n, nil
}

// Put stores a local file under a name, completely or not at all, and replaces an object of that name. When it returns nil
// the store has acknowledged the whole file; a folder has it on disk. progress is called with the number of bytes read from
// the file and its size; nil disables it.
//
// A Put that is canceled while the store completes it may still have taken effect.
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
	if progress == nil {
		progress = func(int64, int64) {}
	}
	src := &source{ctx: ctx, f: f, size: info.Size(), progress: progress}
	return b.mapError(ctx, b.driver.put(ctx, name, src, src.size), "write "+name+" to")
}

// source is the file of a Put. It is an error if the file is truncated during the upload.
type source struct {
	ctx      context.Context
	f        *os.File
	size     int64
	progress func(done, total int64)

	mu   sync.Mutex
	done int64 // parts may be read again
}

// ReadAt implements io.ReaderAt.
func (s *source) ReadAt(p []byte, offset int64) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := s.f.ReadAt(p, offset)
	end := offset + int64(n)
	if err == io.EOF && end < s.size {
		err = fmt.Errorf("file truncated while reading: %d of %d bytes", end, s.size)
	}
	if err != nil && err != io.EOF {
		return n, localError{err}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if end > s.done {
		s.done = end
		s.progress(end, s.size)
	}
	return n, err
}

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
		return herb.Errorf(herb.CodeUnavailable, "the object store %s returned other content than was written", b.name)
	}
	return b.Ping(ctx)
}
