package store

import (
	"io"

	"github.com/klauspost/compress/zstd"
)

// maxSourceWindow limits the memory for reading a source. The writer uses less.
const maxSourceWindow = 64 << 20

// NewSourceWriter returns a writer that compresses the source of a version as it is kept. Close
// completes it.
func NewSourceWriter(w io.Writer) (io.WriteCloser, error) {
	return zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
}

// NewSourceReader returns a reader of the original bytes of a kept source. Close frees its memory;
// it does not close r.
func NewSourceReader(r io.Reader) (io.ReadCloser, error) {
	d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxSourceWindow))
	if err != nil {
		return nil, err
	}
	return d.IOReadCloser(), nil
}
