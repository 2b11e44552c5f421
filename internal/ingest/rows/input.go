package rows

import (
	"context"
	"fmt"
	"io"
)

// Input is a file that is read at random. It remembers why reading failed, so that errors of the disk are not reported as
// damage of the file.
type Input struct {
	Budget *Budget // of the table that is read
	src    io.ReaderAt
	size   int64
	failed error
}

// OpenInput opens a file for random access.
func OpenInput(f File, b *Budget) (*Input, error) {
	src, size, err := f.Random()
	return &Input{Budget: b, src: src, size: size}, err
}

// Size returns the number of bytes.
func (in *Input) Size() int64 { return in.size }

// ReadAt implements io.ReaderAt. A damaged file may refer to any offset.
func (in *Input) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, io.ErrUnexpectedEOF
	}
	n, err := in.src.ReadAt(p, off)
	if err != nil && err != io.EOF {
		in.failed = err
	}
	return n, err
}

// Locate adds a place in the file to an error. Errors of the disk and of the context are not the fault of the file and
// returned as they are.
func (in *Input) Locate(err error, where string, args ...any) error {
	if ended := context.Cause(in.Budget.ctx); ended != nil {
		return ended
	}
	if in.failed != nil {
		return in.failed
	}
	return Damaged(err, fmt.Sprintf(where, args...))
}
