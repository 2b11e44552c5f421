package body

import (
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"

	"herbarium/internal/httpapi/response"

	"herbarium/internal/herb"
)

// FormBoundary returns the boundary of the parts of a multipart/form-data body; isForm is false if
// the body is something else.
func FormBoundary(h http.Header) (boundary string, isForm bool) {
	media, params, _ := mime.ParseMediaType(h.Get("Content-Type"))
	return params["boundary"], media == "multipart/form-data"
}

// ReadForm calls receive for each part of a multipart/form-data body, which must read the part
// before it returns. advice tells the sender of a malformed form what to do. What follows the last
// part is not read.
func (u *Reader) ReadForm(boundary, advice string, receive func(*multipart.Part) error) error {
	form := multipart.NewReader(u, boundary)
	for {
		part, err := form.NextPart()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return herb.Wrap(herb.CodeInvalid, err, "malformed multipart/form-data; %s", advice)
		}
		if err := receive(part); err != nil {
			return err
		}
	}
}

// ReadPart returns the content of a part. It fails if that is larger than limit bytes.
func ReadPart(part *multipart.Part, limit int64) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(part, limit+1))
	if err == nil && int64(len(content)) > limit {
		err = herb.Errorf(herb.CodeTooLarge, "the part %q is larger than %s", response.Shown(part.FormName()),
			herb.FormatBytes(limit))
	}
	return content, err
}

// firstByteReader is a reader that can be asked whether it is empty.
type firstByteReader struct {
	r     io.Reader
	first []byte // read by isEmpty and not returned yet
	err   error
}

// isEmpty reports whether there is nothing to read. An error counts as content, which Read returns.
func (f *firstByteReader) isEmpty() bool {
	var b [1]byte
	n, err := io.ReadFull(f.r, b[:])
	f.first, f.err = b[:n], err
	return errors.Is(err, io.EOF)
}

// Read implements io.Reader.
func (f *firstByteReader) Read(p []byte) (int, error) {
	if len(f.first) > 0 {
		n := copy(p, f.first)
		f.first = f.first[n:]
		return n, nil
	}
	if f.err != nil {
		return 0, f.err
	}
	return f.r.Read(p)
}
