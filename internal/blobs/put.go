package blobs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"herbarium/internal/herb"
)

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
	src := &source{ctx: ctx, f: f, size: info.Size(), progress: progress}
	err = b.driver.put(ctx, name, src)
	if src.err != nil {
		return src.err
	}
	if err != nil {
		return b.unavailable(ctx, err, "write "+name+" to")
	}
	stored, err := b.driver.size(ctx, name)
	if err != nil {
		return b.unavailable(ctx, err, "verify "+name+" in")
	}
	if stored != src.size {
		return errors.Join(
			herb.Errorf(herb.CodeUnavailable, "the object store %s has stored %d of %d bytes of %s", b.name, stored, src.size, name),
			b.Delete(ctx, name))
	}
	return nil
}

// source reads the file of a Put. A file that becomes shorter meanwhile is an error.
type source struct {
	ctx      context.Context
	f        *os.File
	size     int64
	done     int64
	progress func(done, total int64)
	err      error // the first failure to read
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
		s.err = fmt.Errorf("file truncated while reading: %d of %d bytes", s.done, s.size)
	case err != nil && err != io.EOF:
		s.err = err
	}
	if s.err != nil {
		return n, s.err
	}
	if n > 0 && s.progress != nil {
		s.progress(s.done, s.size)
	}
	return n, nil
}
