package receive

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"os"
	"path"
	"strings"
	"unicode"

	"herbarium/internal/filesystem"
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

// Stored returns a file that is stored elsewhere. Receiver.Fetch copies its content to the disk.
func Stored(name string, size int64, sha256 string, open func(context.Context) (io.ReadCloser, error)) *File {
	return &File{Name: name, Size: size, SHA256: sha256, open: open}
}

// Content returns the bytes of the file.
func (f *File) Content() *io.SectionReader { return io.NewSectionReader(f.file, 0, f.Size) }

// Close removes the file. It may be called more than once.
func (f *File) Close() error {
	if f == nil || f.file == nil {
		return nil
	}
	file := f.file
	f.file = nil
	return file.Close()
}

// Writer writes a file to the disk and hashes it on the way.
type Writer struct {
	name string
	file *os.File
	out  *bufio.Writer
	sum  hash.Hash
	size int64
}

// Create returns the writer of a file. The caller calls its method File or Close.
func (r *Receiver) Create(name string) (*Writer, error) {
	file, err := filesystem.TempFile(r.opts.Dir)
	if err != nil {
		return nil, NoSpace(err)
	}
	return &Writer{name: cleanName(name), file: file, out: bufio.NewWriterSize(file, copyBytes), sum: sha256.New()}, nil
}

// Write implements io.Writer. The error has herb.CodeNoSpace if the disk is full.
func (w *Writer) Write(p []byte) (int, error) {
	w.sum.Write(p)
	n, err := w.out.Write(p)
	w.size += int64(n)
	return n, NoSpace(err)
}

// File returns the written file, which replaces the writer. After an error, the caller closes the
// writer.
func (w *Writer) File() (*File, error) {
	if err := w.out.Flush(); err != nil {
		return nil, NoSpace(err)
	}
	return &File{Name: w.name, Size: w.size, SHA256: hex.EncodeToString(w.sum.Sum(nil)), file: w.file}, nil
}

// Close removes what was written.
func (w *Writer) Close() error { return w.file.Close() }

const maxName = 255

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
	name = strings.Trim(name, "/ ")
	if len(name) > maxName {
		name = name[len(name)-maxName:] // keeps the extension
	}
	return strings.ToValidUTF8(name, "")
}
