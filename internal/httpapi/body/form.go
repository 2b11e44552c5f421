package body

import (
	"errors"
	"io"
	"mime/multipart"

	"herbarium/internal/httpapi/response"

	"herbarium/internal/herb"
)

func ReadPart(part *multipart.Part, limit int64) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(part, limit+1))
	if err == nil && int64(len(content)) > limit {
		err = herb.Errorf(herb.CodeTooLarge, "the part %q is larger than %d bytes", response.Shown(part.FormName()), limit)
	}
	return content, err
}

// FirstByteReader is a reader that can be asked whether it is empty.
type FirstByteReader struct {
	R     io.Reader
	first []byte // read by isEmpty and not returned yet
	err   error
}

// IsEmpty reports whether there is nothing to read. An error counts as content, which Read returns.
func (f *FirstByteReader) IsEmpty() bool {
	var b [1]byte
	n, err := io.ReadFull(f.R, b[:])
	f.first, f.err = b[:n], err
	return errors.Is(err, io.EOF)
}

// Read implements io.Reader.
func (f *FirstByteReader) Read(p []byte) (int, error) {
	if len(f.first) > 0 {
		n := copy(p, f.first)
		f.first = f.first[n:]
		return n, nil
	}
	if f.err != nil {
		return 0, f.err
	}
	return f.R.Read(p)
}
