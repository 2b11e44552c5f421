package xlsx

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"errors"
	"io"
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
)

// part is a part of a workbook that is read as XML. Its fields describe the current token and are valid until the next one.
type part struct {
	book    *book
	path    string // in the zip file
	file    io.ReadCloser
	decoder *xml.Decoder
	left    int64  // bytes that the part may still have
	pending int    // bytes that were read for the current token
	equals  int    // equals signs among them
	root    string // namespace of the root element

	kind  tokenKind
	name  string // local name of an element; empty if it is not in the namespace of the root element
	attrs []xml.Attr
	text  []byte
	depth int // of open elements
}

type tokenKind int

const (
	tokenStart tokenKind = iota
	tokenEnd
	tokenText
)

// open opens a part; it returns nil if it is missing. limit is its maximum size.
func (k *book) open(name string, limit int64) (*part, error) {
	f := k.parts[partKey(name)]
	if f == nil {
		return nil, nil
	}
	switch size, packed := f.UncompressedSize64, max(f.CompressedSize64, 1); {
	case f.Flags&1 != 0:
		return nil, herb.Invalidf("the workbook is protected by a password; save it without one")
	case size > uint64(limit):
		return nil, herb.Invalidf("the part %s of the workbook has %d bytes; at most %d are possible; save the data as CSV", rows.Clip(name), size, limit)
	case size > suspectPart && size/packed > suspectRatio:
		return nil, herb.Invalidf("the part %s of the workbook expands %d-fold to %d bytes, as a zip bomb does; save the data as CSV",
			rows.Clip(name), size/packed, size)
	}
	x := &part{book: k, path: name, left: limit}
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
	x.left -= int64(n)
	x.pending += n
	x.equals += bytes.Count(p[:n], []byte("="))
	switch limit := 4 * x.book.budget.MaxRecord(); {
	case x.left < 0:
		return 0, herb.Invalidf("it is larger than declared, as a zip bomb is; save the data as CSV")
	case x.pending > limit:
		return 0, herb.Invalidf("a value or tag has more than %d bytes", limit)
	case x.equals > maxEquals:
		return 0, herb.Invalidf("a value or tag has more than %d equals signs", maxEquals)
	}
	return n, err
}

// next reads the next token. The error is io.EOF at the end of the part, which must be complete.
func (x *part) next() error {
	for {
		x.pending, x.equals = 0, 0
		token, err := x.decoder.Token()
		if err == io.EOF {
			return io.EOF
		}
		if err == nil {
			err = x.book.budget.Step()
		}
		if err != nil {
			return x.locate(err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			if x.depth++; x.depth == 1 {
				x.root = t.Name.Space
			}
			x.kind, x.attrs = tokenStart, t.Attr
			x.setName(t.Name)
			if len(t.Attr) > maxAttributes {
				return x.locate(herb.Invalidf("a tag has more than %d attributes", maxAttributes))
			}
			if err := x.book.budget.Depth(x.depth); err != nil {
				return x.locate(err)
			}
			return nil
		case xml.EndElement:
			x.depth--
			x.kind, x.attrs = tokenEnd, nil
			x.setName(t.Name)
			return nil
		case xml.CharData:
			x.kind, x.text = tokenText, t
			return nil
		case xml.Directive:
			return x.locate(errors.New("document types are not supported"))
		}
	}
}

// setName sets the name of the current element. Parts of a workbook have extensions whose elements have the local names of
// the standard ones (x15:workbookPr), so an element counts only in the namespace of the root element.
func (x *part) setName(name xml.Name) {
	if x.name = name.Local; name.Space != x.root {
		x.name = ""
	}
}

// locate adds the part to an error.
func (x *part) locate(err error) error {
	return x.book.in.Locate(err, "the part %s of the workbook", rows.Clip(x.path))
}

// attr returns an attribute of the element without a namespace, empty if it is missing.
func (x *part) attr(name string) string {
	for i := range x.attrs {
		if a := &x.attrs[i]; a.Name.Local == name && a.Name.Space == "" {
			return a.Value
		}
	}
	return ""
}

// visit reads a part and calls f at the start of every element. section is the name of the element at depth 2 that contains
// it. A missing part has no elements.
func (k *book) visit(name string, limit int64, f func(x *part, section string) error) error {
	x, err := k.open(name, limit)
	if x == nil || err != nil {
		return err
	}
	defer x.Close()
	section := ""
	for {
		if err := x.next(); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if x.kind != tokenStart {
			continue
		}
		if x.depth == 2 {
			section = x.name
		}
		if err := f(x, section); err != nil {
			return err
		}
	}
}

// Close implements io.Closer.
func (x *part) Close() error { return x.file.Close() }
