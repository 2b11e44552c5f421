package blobs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"herbarium/internal/herb"
)

const (
	// maxTries is how often in a row a Get begins without receiving anything.
	maxTries = 5
	// firstPause is how long it waits before the first of them; each next pause is twice as long.
	firstPause = 100 * time.Millisecond

	copySize = 256 << 10
)

// Get writes what is stored under a name to a writer: all of it, or the result is an error. herb.CodeNotFound means that
// there is nothing, herb.CodeUnavailable that the store does not answer. A connection that breaks is replaced by another,
// which goes on where it was.
func (b *Bucket) Get(ctx context.Context, name string, to io.Writer) error {
	if err := checkName(name); err != nil {
		return err
	}
	what := "read " + name + " in"
	d := &download{bucket: b, name: name, to: to, buf: make([]byte, copySize), size: -1}
	for tries, pause := 1, firstPause; ; tries, pause = tries+1, pause*2 {
		before := d.done
		err := d.run(ctx)
		if err == nil {
			return nil
		}
		if refused, ok := errors.AsType[final](err); ok {
			return refused.err
		}
		if missing(err) {
			if err := b.Ping(ctx); err != nil {
				return err // it is the bucket that is missing
			}
			return herb.Errorf(herb.CodeNotFound, "there is no %s in the object store %s", name, b.name)
		}
		_, silent := errors.AsType[stalled](err)
		_, refused := refusal(err)
		if d.done > before {
			tries, pause = 0, firstPause
		} else if silent || refused || tries == maxTries || d.size < 0 {
			// The clients of the stores have tried several times already to get an answer.
			return b.failed(ctx, err, what)
		}
		select {
		case <-ctx.Done():
			return b.failed(ctx, err, what)
		case <-time.After(pause):
		}
	}
}

// final is an error that another try would not mend.
type final struct{ err error }

func (f final) Error() string { return f.err.Error() }

// download is a Get under way.
type download struct {
	bucket   *Bucket
	name     string
	to       io.Writer
	buf      []byte
	done     int64
	size     int64     // -1: not known yet
	modified time.Time // the object must stay the same from one connection to the next
}

// run reads from where the download is to its end, or until something is wrong.
func (d *download) run(ctx context.Context) (err error) {
	r, err := d.bucket.bucket.NewRangeReader(ctx, d.name, d.done, -1, nil)
	if err != nil {
		return err
	}
	defer func() {
		if closed := r.Close(); err == nil && closed != nil {
			err = closed
		}
	}()
	if d.size < 0 {
		d.size, d.modified = r.Size(), r.ModTime()
	}
	if r.Size() != d.size || !r.ModTime().Equal(d.modified) {
		return final{herb.Errorf(herb.CodeUnavailable, "%s in the object store %s was replaced while it was read; try again",
			d.name, d.bucket.name)}
	}
	for {
		n, err := r.Read(d.buf)
		if int64(n) > d.size-d.done {
			return final{d.bucket.wrong(d.name, d.size, errors.New("there are more"))}
		}
		if n > 0 {
			if _, err := d.to.Write(d.buf[:n]); err != nil {
				return final{err}
			}
			d.done += int64(n)
		}
		switch {
		case err == nil:
		case err == io.EOF && d.done == d.size:
			return nil
		case err == io.EOF:
			return io.ErrUnexpectedEOF
		case d.done == d.size && ctx.Err() == nil:
			return final{d.bucket.wrong(d.name, d.size, err)} // all bytes are there, and they are not right
		case missing(err):
			// Google's client goes on by itself where a connection broke, and asks for what it has begun with. That may have
			// been replaced; another try tells.
			return fmt.Errorf("%w: %v", io.ErrUnexpectedEOF, err)
		default:
			return err
		}
	}
}

func (b *Bucket) wrong(name string, size int64, err error) error {
	return herb.Wrap(herb.CodeUnavailable, err, "what the object store %s sends for %s is not the %d bytes that were announced",
		b.name, name, size)
}
