package ingest

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"herbarium/internal/herb"
)

// The limits of compressed files. What is decompressed goes through memory in small pieces, so these protect time and
// disk: a file of some kilobytes must not keep a machine busy for hours.
const (
	// MaxRatio is how many times the size of a compressed file its content may have, once it is over MaxRatioFrom bytes.
	MaxRatio     = 1000
	MaxRatioFrom = 1 << 30
	// maxZstdWindow is how far back zstd data may refer: what must be kept of the content in memory.
	maxZstdWindow = 64 << 20
)

// compression is how a file is packed, by its first bytes. It is empty for a file that is not.
func compression(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte("\x1F\x8B")):
		return "gzip"
	case bytes.HasPrefix(head, []byte("\x28\xB5\x2F\xFD")):
		return "zstd"
	case len(head) >= 4 && head[0]&0xF0 == 0x50 && bytes.Equal(head[1:4], []byte("\x2A\x4D\x18")):
		return "zstd" // something to be skipped goes first, as parallel compressors write it
	}
	return ""
}

// unpacked reads the content of a compressed file.
type unpacked struct {
	kind   string
	src    io.Reader
	packed *counter
	read   int64
	close  func()
}

// counter counts what is read of a compressed file, and keeps apart what is wrong with the file from what is wrong with
// the data in it.
type counter struct {
	r   io.Reader
	n   int64
	err error
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	if err != io.EOF {
		c.err = err
	}
	return n, err
}

// unpack returns the content of a file and whether it was compressed. The content must be closed.
func unpack(file *bufio.Reader) (content *bufio.Reader, kind string, closer io.Closer, err error) {
	head, err := file.Peek(4)
	if err != nil && err != io.EOF {
		return nil, "", nil, err
	}
	u := &unpacked{kind: compression(head), packed: &counter{r: file}, close: func() {}}
	switch u.kind {
	case "":
		return file, "", u, nil
	case "gzip":
		r, err := gzip.NewReader(bufio.NewReader(u.packed))
		if err != nil {
			return nil, "", nil, u.failure(err)
		}
		u.src = r
	case "zstd":
		r, err := zstd.NewReader(u.packed, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(maxZstdWindow))
		if err != nil {
			return nil, "", nil, u.failure(err)
		}
		u.src, u.close = r, r.Close
	}
	content = bufio.NewReaderSize(u, windowBytes)
	if head, err = content.Peek(4); err != nil && err != io.EOF {
		u.close()
		return nil, "", nil, err
	}
	if again := compression(head); again != "" {
		u.close()
		return nil, "", nil, herb.Invalidf("the file is compressed twice, with %s inside %s; unpack it once", again, u.kind)
	}
	return content, u.kind, u, nil
}

// Read implements io.Reader.
func (u *unpacked) Read(p []byte) (int, error) {
	n, err := u.src.Read(p)
	u.read += int64(n)
	if u.read > MaxRatioFrom && u.read/MaxRatio > u.packed.n {
		return 0, herb.Invalidf("the %s data unpacks to more than %d times its size; that is refused beyond %d bytes", u.kind, MaxRatio,
			MaxRatioFrom)
	}
	if err != nil && err != io.EOF {
		err = u.failure(err)
	}
	return n, err
}

// failure says what is wrong with compressed data.
func (u *unpacked) failure(err error) error {
	switch {
	case u.packed.err != nil:
		return u.packed.err
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return herb.Invalidf("the %s data ends too early, after %d bytes and %d of its content; the file is cut off", u.kind,
			u.packed.n, u.read)
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return herb.Invalidf("the zstd data needs a window of more than %d bytes; compress it again without --long and --ultra",
			maxZstdWindow)
	}
	return herb.Invalidf("the %s data is damaged somewhere before byte %d (%s); compress it again", u.kind, u.packed.n, err)
}

// Close gives back what decompressing holds.
func (u *unpacked) Close() error {
	u.close()
	return nil
}

// unpackedName returns the name that a file has without the extension of its compression.
func unpackedName(path string) string {
	switch ext := filepath.Ext(path); strings.ToLower(ext) {
	case ".gz", ".gzip", ".zst", ".zstd":
		return strings.TrimSuffix(path, ext)
	}
	return path
}
