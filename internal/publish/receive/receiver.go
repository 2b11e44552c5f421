// Package receive receives files: it writes them to the disk of the server, within limits of size
// and space, and hashes them on the way.
package receive

import (
	"cmp"
	"context"
	"errors"
	"io"

	"herbarium/internal/filesystem"
	"herbarium/internal/herb"
)

// DefaultMaxSize is the default limit of the size of a file.
const DefaultMaxSize = 2 << 30

// Options configures a Receiver. Dir is required.
type Options struct {
	Dir     string // folder of received files, which have no names
	MaxSize int64  // bytes of a file; 0 means DefaultMaxSize
	// Free returns the free disk space of a folder; nil means filesystem.DiskSpace.
	Free func(dir string) (free, total uint64, ok bool)
}

// Receiver receives files. It is safe for concurrent use.
type Receiver struct{ opts Options }

// New returns a receiver.
func New(opts Options) *Receiver {
	opts.MaxSize = cmp.Or(opts.MaxSize, DefaultMaxSize)
	if opts.Free == nil {
		opts.Free = filesystem.DiskSpace
	}
	return &Receiver{opts}
}

// MaxSize returns the limit of the size of a file.
func (r *Receiver) MaxSize() int64 { return r.opts.MaxSize }

const (
	// spareSpace is the disk space that uploads leave to the database and to other publishes.
	spareSpace = 64 << 20
	// checkEvery is how many bytes of a file are received between two checks of the disk space. All
	// files of the lane Publish together receive less than spareSpace in between.
	checkEvery = 1 << 20
	copyBytes  = 256 << 10
)

// Receive writes a body to the disk and hashes it on the way. size is its size, or -1 if it is not
// known. The error has herb.CodeTooLarge or herb.CodeNoSpace if it does not fit; an error of the
// body is returned unchanged.
func (r *Receiver) Receive(ctx context.Context, body io.Reader, name string, size int64) (_ *File, err error) {
	if size > r.opts.MaxSize {
		return nil, r.tooLarge()
	}
	if err := r.checkSpace(max(size, 0)); err != nil {
		return nil, err
	}
	w, err := r.Create(name)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.Close())
		}
	}()
	buf := make([]byte, copyBytes)
	for unchecked := int64(0); ; {
		n, failed := fill(body, buf)
		if w.size+int64(n) > r.opts.MaxSize {
			return nil, r.tooLarge()
		}
		if _, err := w.Write(buf[:n]); err != nil {
			return nil, err
		}
		unchecked += int64(n)
		if unchecked >= checkEvery {
			unchecked = 0
			if err := r.checkSpace(0); err != nil {
				return nil, err
			}
		}
		switch {
		case failed == io.EOF:
			return w.File()
		case failed != nil:
			return nil, failed
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		}
	}
}

// Fetch copies the content of a file that is stored elsewhere to the disk. It is checked with the
// hash of the file.
func (r *Receiver) Fetch(ctx context.Context, f *File) error {
	if f.open == nil || f.file != nil {
		return nil
	}
	content, err := f.open(ctx)
	if err != nil {
		return err
	}
	received, err := r.Receive(ctx, content, f.Name, f.Size)
	err = errors.Join(err, content.Close())
	if err != nil {
		return errors.Join(err, received.Close())
	}
	if received.SHA256 != f.SHA256 {
		return errors.Join(herb.Errorf(herb.CodeUnavailable, "the stored file is damaged; send it again"),
			received.Close())
	}
	f.file = received.file
	return nil
}

// fill reads until a buffer is full. Unlike io.ReadFull, it returns the error of the body: one that
// ends early is not complete.
func fill(body io.Reader, buf []byte) (n int, err error) {
	for n < len(buf) && err == nil {
		var read int
		read, err = body.Read(buf[n:])
		n += read
	}
	return n, err
}

func (r *Receiver) tooLarge() error {
	return herb.Errorf(herb.CodeTooLarge, "the file is larger than %s, the limit of this server (max_upload); "+
		"compress it with gzip or zstd, or publish it with the command on the server", herb.FormatBytes(r.opts.MaxSize))
}

// checkSpace fails with herb.CodeNoSpace if size bytes leave less than spareSpace. Files that are
// being received count with what is on the disk, not with the sizes that their clients announced:
// a client that announces much and sends little would keep others from publishing.
func (r *Receiver) checkSpace(size int64) error {
	free, _, ok := r.opts.Free(r.opts.Dir)
	if !ok {
		return nil
	}
	if uint64(size+spareSpace) > free {
		return herb.Errorf(herb.CodeNoSpace, noSpace)
	}
	return nil
}

const noSpace = "not enough disk space on the server for this file; nothing has changed; ask its operator to make room"

// NoSpace gives an error of a full disk herb.CodeNoSpace.
func NoSpace(err error) error {
	if filesystem.IsFull(err) {
		return herb.Wrap(herb.CodeNoSpace, err, noSpace)
	}
	return err
}
