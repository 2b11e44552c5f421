package upload

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"os"
	"path"
	"strings"
	"unicode"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/library"
)

// File is a received file. It has no name on the disk, so that a server that dies leaves nothing
// behind.
type File struct {
	Name   string // as the sender called it; may be empty
	Size   int64
	SHA256 string // hexadecimal
	Merged bool   // it was made from records, so that its columns are the fields
	file   *os.File

	// open returns the content of a file that is stored elsewhere, until it is copied here.
	open func(context.Context) (io.ReadCloser, error)
}

// Stored returns a file that is stored elsewhere. Its content is copied to this machine when it is
// read.
func Stored(name string, size int64, sha256 string, open func(context.Context) (io.ReadCloser, error)) *File {
	return &File{Name: name, Size: size, SHA256: sha256, open: open}
}

// fetch copies the content of a file that is stored elsewhere to the disk. It is checked with the
// hash of the file.
func (s *Service) fetch(ctx context.Context, f *File) error {
	if f.open == nil || f.file != nil {
		return nil
	}
	r, err := f.open(ctx)
	if err != nil {
		return err
	}
	received, err := s.Receive(ctx, r, f.Name, f.Size)
	if err = errors.Join(err, r.Close()); err != nil {
		return errors.Join(err, received.Close())
	}
	if received.SHA256 != f.SHA256 {
		return errors.Join(herb.Errorf(herb.CodeUnavailable, "the stored file is damaged; send it again"), received.Close())
	}
	f.file = received.file
	return nil
}

// Content returns the bytes of the file.
func (f *File) Content() *io.SectionReader { return io.NewSectionReader(f.file, 0, f.Size) }

// kept returns the file as the library keeps it with a version.
func (f *File) kept() *library.KeptSource {
	return &library.KeptSource{Content: f.Content(), Name: f.Name, SHA256: f.SHA256, Merged: f.Merged}
}

// Close removes the file. It may be called more than once.
func (f *File) Close() error {
	if f == nil || f.file == nil {
		return nil
	}
	file := f.file
	f.file = nil
	return file.Close()
}

const (
	// spareSpace is the disk space that uploads leave to the database and to other publishes.
	spareSpace = 64 << 20
	// checkEvery is how many bytes of a file are received between two checks of the disk space. All
	// files of the lane of uploads together receive less than spareSpace in between.
	checkEvery = 2 << 20
	copyBytes  = 256 << 10
	maxName    = 255
)

// Receive writes a body to the disk and hashes it on the way. size is its size, or -1 if it is not
// known. The error has herb.CodeTooLarge or herb.CodeNoSpace if it does not fit; an error of the
// body is returned unchanged.
func (s *Service) Receive(ctx context.Context, body io.Reader, name string, size int64) (_ *File, err error) {
	if size > s.opts.MaxSize {
		return nil, s.tooLarge()
	}
	if err := s.checkSpace(max(size, 0)); err != nil {
		return nil, err
	}
	f := &File{Name: cleanName(name)}
	if f.file, err = rows.TempFile(s.opts.Dir); err != nil {
		return nil, NoSpace(err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	sum, buf := sha256.New(), make([]byte, copyBytes)
	for unchecked := int64(0); ; {
		n, failed := fill(body, buf)
		if err := s.write(f, sum, buf[:n]); err != nil {
			return nil, err
		}
		if unchecked += int64(n); unchecked >= checkEvery {
			unchecked = 0
			if err := s.checkSpace(0); err != nil {
				return nil, err
			}
		}
		switch {
		case failed == io.EOF:
			f.SHA256 = hex.EncodeToString(sum.Sum(nil))
			return f, nil
		case failed != nil:
			return nil, failed
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		}
	}
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

func (s *Service) write(f *File, sum hash.Hash, p []byte) error {
	if f.Size += int64(len(p)); f.Size > s.opts.MaxSize {
		return s.tooLarge()
	}
	sum.Write(p)
	_, err := f.file.Write(p)
	return NoSpace(err)
}

func (s *Service) tooLarge() error {
	return herb.Errorf(herb.CodeTooLarge, "the file is larger than %d bytes, the limit of this server (max_upload); "+
		"compress it with gzip or zstd, or publish it with the command on the server", s.opts.MaxSize)
}

// MaxSize returns the limit of the size of a file.
func (s *Service) MaxSize() int64 { return s.opts.MaxSize }

// checkSpace fails with herb.CodeNoSpace if size bytes leave less than spareSpace. Files that are
// being received count with what is on the disk, not with the sizes that their clients announced:
// a client that announces much and sends little would keep others from publishing.
func (s *Service) checkSpace(size int64) error {
	free, _, ok := s.opts.Free(s.opts.Dir)
	if !ok {
		return nil
	}
	if uint64(size+spareSpace) > free {
		return herb.Errorf(herb.CodeNoSpace, "not enough disk space on the server for this file; nothing has changed; ask its operator to make room")
	}
	return nil
}

// NoSpace gives an error of a full disk herb.CodeNoSpace.
func NoSpace(err error) error {
	if isFull(err) {
		return herb.Wrap(herb.CodeNoSpace, err, "not enough disk space on the server for this file; nothing has changed; ask its operator to make room")
	}
	return err
}

// cleanName returns the last part of a file name of any system, without characters that would
// garble messages.
func cleanName(name string) string {
	name = path.Base("/" + strings.ReplaceAll(name, `\`, "/"))
	name = strings.Map(func(c rune) rune {
		if unicode.IsControl(c) || c == unicode.ReplacementChar {
			return -1
		}
		return c
	}, name)
	if name = strings.Trim(name, "/ "); len(name) > maxName {
		name = name[len(name)-maxName:] // keeps the extension
	}
	return strings.ToValidUTF8(name, "")
}
