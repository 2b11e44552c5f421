package xlsx

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
)

// scanner reads XML token by token. It supports what workbooks need, several times faster than encoding/xml: no document
// types, no entities but those of XML itself, and the names of a start and its end are not compared, only counted. Its
// fields are valid until the next token.
type scanner struct {
	src   io.Reader
	buf   []byte
	pos   int // of the unread bytes in buf
	limit int // bytes of a token
	done  bool

	kind    tokenKind
	name    []byte // local name of an element; nil if it is not in the namespace of the root element
	attrs   []byte // as written
	text    []byte
	isEmpty bool // the element is an empty-element tag, so its end follows
	depth   int  // of open elements
	names   namespaces
}

type tokenKind int

const (
	tokenStart tokenKind = iota
	tokenEnd
	tokenText
)

// errXML is the cause of all syntax errors.
var errXML = errors.New("XML syntax error")

func xmlError(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errXML, fmt.Sprintf(format, args...))
}

// newScanner detects the encoding by the first bytes.
func newScanner(src io.Reader, limit int) (*scanner, error) {
	x := &scanner{src: src, buf: make([]byte, 0, 64<<10), limit: limit}
	for len(x.buf) < 200 && x.fill() == nil {
	}
	var enc encoding.Encoding
	switch head := x.buf; {
	case bytes.HasPrefix(head, []byte("\xEF\xBB\xBF")):
		x.pos = 3
	case bytes.HasPrefix(head, []byte("\xFF\xFE")), bytes.HasPrefix(head, []byte("\xFE\xFF")):
		enc = unicode.UTF16(unicode.BigEndian, unicode.UseBOM)
	case bytes.HasPrefix(head, []byte("<?xml")):
		declaration, _, _ := bytes.Cut(head, []byte("?>"))
		label := attribute(declaration[len("<?xml"):], "encoding")
		if label == nil || bytes.EqualFold(label, []byte("utf-8")) {
			break
		}
		var err error
		if enc, err = htmlindex.Get(string(label)); err != nil {
			return nil, xmlError("unknown encoding %q", rows.Clip(string(label)))
		}
	}
	if enc != nil {
		rest := io.MultiReader(bytes.NewReader(bytes.Clone(x.buf)), src)
		x.src, x.buf, x.done = enc.NewDecoder().Reader(rest), x.buf[:0], false
	}
	return x, nil
}

// fill reads more bytes. The error is io.EOF at the end.
func (x *scanner) fill() error {
	if x.done {
		return io.EOF
	}
	if x.pos > 0 {
		n := copy(x.buf, x.buf[x.pos:])
		x.buf, x.pos = x.buf[:n], 0
	}
	if len(x.buf) == cap(x.buf) {
		if len(x.buf) >= x.limit {
			return herb.Invalidf("a value or tag has more than %d bytes", x.limit)
		}
		grown := make([]byte, len(x.buf), min(2*cap(x.buf), max(x.limit, cap(x.buf)+1)))
		copy(grown, x.buf)
		x.buf = grown
	}
	for range 100 {
		n, err := x.src.Read(x.buf[len(x.buf):cap(x.buf)])
		x.buf = x.buf[:len(x.buf)+n]
		if err == io.EOF {
			x.done = true
		} else if err != nil {
			return err
		}
		if n > 0 {
			return nil
		}
		if x.done {
			return io.EOF
		}
	}
	return io.ErrNoProgress
}

// need reads more bytes and fails with io.ErrUnexpectedEOF at the end.
func (x *scanner) need() error {
	if err := x.fill(); err != io.EOF {
		return err
	}
	return io.ErrUnexpectedEOF
}

// find returns the offset of the first occurrence of what in the unread bytes, from an offset on.
func (x *scanner) find(what string, from int) (int, error) {
	for {
		unread := x.buf[x.pos:]
		if i := bytes.Index(unread[min(from, len(unread)):], []byte(what)); i >= 0 {
			return from + i, nil
		}
		from = max(from, len(unread)-len(what)+1)
		if err := x.need(); err != nil {
			return 0, err
		}
	}
}

// next reads a token. The error is io.EOF after the last element.
func (x *scanner) next() error {
	if x.isEmpty {
		x.isEmpty = false
		x.kind = tokenEnd
		x.depth--
		x.names.leave(x.depth)
		return nil
	}
	for {
		if x.pos == len(x.buf) {
			if err := x.fill(); err == io.EOF && x.depth > 0 {
				return io.ErrUnexpectedEOF
			} else if err != nil {
				return err
			}
		}
		if x.buf[x.pos] != '<' {
			return x.characters()
		}
		for len(x.buf)-x.pos < len("<![CDATA[") && x.fill() == nil {
		}
		var err error
		switch rest := x.buf[x.pos:]; {
		case bytes.HasPrefix(rest, []byte("<!--")):
			err = x.skip("-->", 4)
		case bytes.HasPrefix(rest, []byte("<?")):
			err = x.skip("?>", 2)
		case bytes.HasPrefix(rest, []byte("<![CDATA[")):
			end, err := x.find("]]>", 9)
			if err != nil {
				return err
			}
			x.kind, x.text = tokenText, normalizeLineEnds(x.buf[x.pos+9:x.pos+end])
			x.pos += end + 3
			return x.checkText()
		case bytes.HasPrefix(rest, []byte("<!")):
			return xmlError("document types are not supported")
		default:
			return x.tag()
		}
		if err != nil {
			return err
		}
	}
}

// skip moves to the end of a comment or instruction.
func (x *scanner) skip(end string, from int) error {
	i, err := x.find(end, from)
	x.pos += i + len(end)
	return err
}

// characters reads text up to the next tag.
func (x *scanner) characters() error {
	end, err := x.find("<", 0)
	if err == io.ErrUnexpectedEOF && x.depth == 0 {
		end, err = len(x.buf)-x.pos, nil
	}
	if err != nil {
		return err
	}
	x.kind, x.text = tokenText, x.buf[x.pos:x.pos+end]
	x.pos += end
	if x.text, err = unescapeEntities(normalizeLineEnds(x.text)); err != nil {
		return err
	}
	return x.checkText()
}

func (x *scanner) checkText() error {
	if !utf8.Valid(x.text) {
		return xmlError("text is not valid UTF-8")
	}
	return nil
}

// tagEnd returns the offset of the > that ends a tag. One in quotes does not.
func (x *scanner) tagEnd() (int, error) {
	quote := byte(0)
	for i := 1; ; i++ {
		for x.pos+i >= len(x.buf) {
			if err := x.need(); err != nil {
				return 0, err
			}
		}
		switch c := x.buf[x.pos+i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '>':
			return i, nil
		case c == '"' || c == '\'':
			quote = c
		}
	}
}

// tag reads the start or the end of an element.
func (x *scanner) tag() error {
	end, err := x.tagEnd()
	if err != nil {
		return err
	}
	inner := x.buf[x.pos+1 : x.pos+end]
	x.pos += end + 1
	if len(inner) > 0 && inner[0] == '/' {
		x.kind, x.name, x.attrs = tokenEnd, x.names.local(bytes.TrimRight(inner[1:], " \t\r\n"), 0), nil
		if x.depth--; x.depth < 0 {
			return xmlError("end tag %q without a start tag", rows.Clip(string(inner)))
		}
		x.names.leave(x.depth)
		return nil
	}
	if x.isEmpty = bytes.HasSuffix(inner, []byte("/")); x.isEmpty {
		inner = inner[:len(inner)-1]
	}
	n := 0
	for n < len(inner) && !isSpace(inner[n]) {
		n++
	}
	name := inner[:n]
	x.attrs = inner[n:]
	if _, local := splitName(name); len(local) == 0 || bytes.ContainsAny(name, `<&"'=`) {
		return xmlError("invalid element name %q", rows.Clip(string(name)))
	}
	x.depth++
	if err := x.names.declare(x.attrs, x.depth); err != nil {
		return err
	}
	x.kind, x.name = tokenStart, x.names.local(name, x.depth)
	return nil
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// normalizeLineEnds replaces every line end by a line feed.
func normalizeLineEnds(b []byte) []byte {
	if bytes.IndexByte(b, '\r') < 0 {
		return b
	}
	return bytes.ReplaceAll(bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
}

// unescapeEntities replaces entities, in place.
func unescapeEntities(b []byte) ([]byte, error) {
	at := bytes.IndexByte(b, '&')
	if at < 0 {
		return b, nil
	}
	out := b[:at]
	for i := at; i < len(b); {
		if b[i] != '&' {
			out = append(out, b[i])
			i++
			continue
		}
		end := bytes.IndexByte(b[i:min(len(b), i+12)], ';')
		if end < 0 {
			return nil, xmlError("an & does not begin an entity")
		}
		r, ok := entity(string(b[i+1 : i+end]))
		if !ok {
			return nil, xmlError("unknown entity %s", b[i:i+end+1])
		}
		out = utf8.AppendRune(out, r)
		i += end + 1
	}
	return out, nil
}

// entity returns the character of an entity such as lt, #10 or #xA.
func entity(name string) (rune, bool) {
	if i := slices.Index([]string{"lt", "gt", "amp", "apos", "quot"}, name); i >= 0 {
		return rune("<>&'\""[i]), true
	}
	if len(name) < 2 || name[0] != '#' {
		return 0, false
	}
	digits, base := name[1:], 10
	if digits[0] == 'x' {
		digits, base = digits[1:], 16
	}
	n, err := strconv.ParseUint(digits, base, 32)
	return rune(n), err == nil && n > 0 && n <= utf8.MaxRune && utf8.ValidRune(rune(n))
}
