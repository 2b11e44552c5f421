package blobs

import (
	"context"
	"errors"
	"io"
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
