package xlsx

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"

	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
)

// Limits of a tag. The decoder holds all attributes of a tag, which begin with an equals sign, and all namespaces that are
// in effect.
const (
	maxAttributes = 1_000
	maxEquals     = 1 << 18
	maxName       = 32 // bytes; elements with longer names are none of ours
)

// part is a part of a workbook that is read as XML.
type part struct {
	book    *book
	name    string // in the zip file
	file    io.ReadCloser
	decoder *xml.Decoder
	pending int    // bytes that were read for the current token
	equals  int    // equals signs among them
	root    string // namespace of the root element

	// The current token, valid until the next one.
	path  []byte // of its element, such as /worksheet/sheetData/row, followed by /text() or /end() unless it is a start tag
	open  int    // bytes of the path of the innermost open element
	attrs []xml.Attr
	text  []byte

	err error // why there is no next token; io.EOF after the last one
}

// open opens a part; it returns nil if it is missing. limit is its maximum size. The zip file declares the size, which is
// charged when the part is first opened, and reading more than that fails.
func (k *book) open(name string, limit int64) (*part, error) {
	f := k.parts[partKey(name)]
	if f == nil {
		return nil, nil
	}
	size := int64(min(f.UncompressedSize64, math.MaxInt64/2))
	switch {
	case f.Flags&1 != 0:
		return nil, herb.Invalidf("the workbook is protected by a password; save it without one")
	case size > limit:
		return nil, herb.Invalidf("the part %s of the workbook has %d bytes; at most %d are possible; save the data as CSV", rows.Clip(name), size, limit)
	}
	if !k.charged[f] {
		k.charged[f] = true
		if err := k.in.Budget.Unpack(size); err != nil {
			return nil, err
		}
	}
	x := &part{book: k, name: name}
	var err error
	if x.file, err = f.Open(); err != nil {
		return nil, x.locate(err)
	}
	in := transform.NewReader(x, unicode.BOMOverride(transform.Nop)) // UTF-16 has a byte order mark
	x.decoder = xml.NewDecoder(bufio.NewReaderSize(in, 64<<10))
	x.decoder.CharsetReader = func(label string, in io.Reader) (io.Reader, error) {
		if strings.EqualFold(label, "utf-16") {
			return in, nil // already decoded
		}
		enc, err := htmlindex.Get(label)
		if err != nil {
			return nil, err
		}
		return enc.NewDecoder().Reader(in), nil
	}
	return x, nil
}

// Read implements io.Reader for the decoder.
func (x *part) Read(p []byte) (int, error) {
	n, err := x.file.Read(p)
	x.pending += n
	x.equals += bytes.Count(p[:n], []byte("="))
	switch limit := 4 * x.book.in.Budget.MaxRecord(); {
	case x.pending > limit:
		return 0, herb.Invalidf("a value or tag has more than %d bytes", limit)
	case x.equals > maxEquals:
		return 0, herb.Invalidf("a value or tag has more than %d equals signs", maxEquals)
	}
	return n, err
}

// next reads the next token, unless there is an error. The end of the part is one if elements are open.
//
// Parts have extensions whose elements have the local names of the standard ones (x15:workbookPr), so only elements in the
// namespace of the root element have a name in the path.
func (x *part) next() bool {
	for x.err == nil {
		x.pending, x.equals, x.path = 0, 0, x.path[:x.open]
		token, err := x.decoder.Token()
		switch t := token.(type) {
		case xml.StartElement:
			if x.open == 0 {
				x.root = t.Name.Space
			}
			x.attrs, x.path = t.Attr, append(x.path, '/')
			if t.Name.Space == x.root && len(t.Name.Local) <= maxName {
				x.path = append(x.path, t.Name.Local...)
			}
			x.open = len(x.path)
			if len(t.Attr) > maxAttributes {
				err = herb.Invalidf("a tag has more than %d attributes", maxAttributes)
			}
			err = cmp.Or(err, x.book.in.Budget.Element(), x.book.in.Budget.Depth(bytes.Count(x.path, []byte("/"))))
		case xml.EndElement:
			x.path = append(x.path, "/end()"...)
			x.open = bytes.LastIndexByte(x.path[:x.open], '/')
		case xml.CharData:
			x.text, x.path = t, append(x.path, "/text()"...)
		case xml.Directive:
			err = errors.New("document types are not supported")
		case xml.Comment, xml.ProcInst:
			continue
		}
		if err == nil {
			return true
		}
		if x.err = err; err != io.EOF {
			x.err = x.locate(err)
		}
	}
	return false
}

// attr returns an attribute of the element, empty if it is missing. It has no namespace or that of relationships, which
// begins differently in the two editions of the standard.
func (x *part) attr(name string) string {
	for i := range x.attrs {
		if a := &x.attrs[i]; a.Name.Local == name && (a.Name.Space == "" || strings.HasSuffix(a.Name.Space, "/relationships")) {
			return a.Value
		}
	}
	return ""
}

// locate adds the part to an error.
func (x *part) locate(err error) error {
	return x.book.in.Locate(err, "the part %s of the workbook", rows.Clip(x.name))
}

// visit reads a part and calls f for every token, unless a part could not be read before. A missing part has no tokens.
func (k *book) visit(name string, limit int64, f func(x *part)) {
	if k.err != nil {
		return
	}
	x, err := k.open(name, limit)
	if x == nil || err != nil {
		k.err = err
		return
	}
	for x.next() {
		f(x)
	}
	if k.err = x.file.Close(); x.err != io.EOF {
		k.err = x.err
	}
}
