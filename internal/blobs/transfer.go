package blobs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"herbarium/internal/herb"
)

const (
	// maxAttempts is how many connections in a row a Get opens that deliver no byte.
	maxAttempts = 5
	// firstBackoff is the wait before the second attempt; it doubles with each attempt.
	firstBackoff = 100 * time.Millisecond

	copySize = 256 << 10
)

// Get copies an object to a writer, completely, or returns an error: herb.CodeNotFound if there is no such object,
// herb.CodeUnavailable if the store fails. After a broken connection it resumes where the previous one ended.
func (b *Bucket) Get(ctx context.Context, name string, to io.Writer) error {
	if err := checkName(name); err != nil {
		return err
	}
	d := &download{bucket: b, name: name, to: to, buf: make([]byte, copySize)}
	for attempt, backoff := 1, firstBackoff; ; attempt, backoff = attempt+1, backoff*2 {
		before := d.done
		err := d.run(ctx)
		if err == nil {
			return nil
		}
		if permanent, ok := errors.AsType[permanent](err); ok {
			return permanent.err
		}
		if isMissing(err) {
			if err := b.Ping(ctx); err != nil {
				return err // the bucket is missing
			}
			return herb.Errorf(herb.CodeNotFound, "no object %s in the object store %s", name, b.name)
		}
		_, stall := errors.AsType[stalled](err)
		_, refused := refusal(err)
		if d.done > before {
			attempt, backoff = 0, firstBackoff
		} else if stall || refused || attempt == maxAttempts || !d.started {
			// The S3 client has repeated the first request several times already.
			return b.unavailable(ctx, err, "read "+name+" in")
		}
		select {
		case <-ctx.Done():
			return b.unavailable(ctx, err, "read "+name+" in")
		case <-time.After(backoff):
		}
	}
}

// permanent is an error that another attempt would not fix.
type permanent struct{ err error }

func (p permanent) Error() string { return p.err.Error() }

// download is the state of a Get.
type download struct {
	bucket  *Bucket
	name    string
	to      io.Writer
	buf     []byte
	done    int64
	started bool
	object  properties // the object must stay the same across connections
}

// run copies from the current offset to the end of the object or until an error.
func (d *download) run(ctx context.Context) (err error) {
	r, object, err := d.bucket.driver.open(ctx, d.name, d.done)
	if err != nil {
		return err
	}
	defer func() {
		if closed := r.Close(); err == nil && closed != nil {
			err = closed
		}
	}()
	if !d.started {
		d.started, d.object = true, object
	}
	if !object.equal(d.object) {
		return permanent{herb.Errorf(herb.CodeUnavailable, "object %s in the object store %s was replaced while it was read; try again",
			d.name, d.bucket.name)}
	}
	for {
		n, err := r.Read(d.buf)
		if int64(n) > object.size-d.done {
			return permanent{d.wrongSize(errors.New("received more"))}
		}
		if n > 0 {
			if _, err := d.to.Write(d.buf[:n]); err != nil {
				return permanent{err}
			}
			d.done += int64(n)
		}
		switch {
		case err == nil:
		case err == io.EOF && d.done == object.size:
			return nil
		case err == io.EOF:
			return io.ErrUnexpectedEOF
		case d.done == object.size && ctx.Err() == nil:
			return permanent{d.wrongSize(err)} // the store announced this size and does not end there
		default:
			return err
		}
	}
}

func (d *download) wrongSize(err error) error {
	return herb.Wrap(herb.CodeUnavailable, err, "object %s in the object store %s does not have the announced size of %d bytes",
		d.name, d.bucket.name, d.object.size)
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
