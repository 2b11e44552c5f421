package rows

import (
	"archive/zip"
	"io"
	"math"

	"herbarium/internal/herb"
)

// maxDirectory is the number of bytes of the list of entries of a zip archive, which is held in memory.
const maxDirectory = 32 << 20

// OpenZip opens a zip archive.
func OpenZip(src io.ReaderAt, size int64) (*zip.Reader, error) {
	limited := &limitedReaderAt{src, maxDirectory}
	archive, err := zip.NewReader(limited, size)
	if limited.left < 0 {
		err = herb.Invalidf("the list of entries has more than %d bytes; write an archive with fewer entries", maxDirectory)
	}
	limited.left = math.MaxInt64 // entries have limits of their own
	return archive, err
}

// limitedReaderAt reads a limited number of bytes.
type limitedReaderAt struct {
	io.ReaderAt
	left int64
}

func (l *limitedReaderAt) ReadAt(p []byte, off int64) (int, error) {
	if l.left -= int64(len(p)); l.left < 0 {
		return 0, io.ErrUnexpectedEOF
	}
	return l.ReaderAt.ReadAt(p, off)
}
