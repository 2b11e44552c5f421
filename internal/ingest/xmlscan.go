package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"

	"herbarium/internal/herb"
)

// xmlScanner reads XML token by token. It does what the parts of a workbook need, several times faster than encoding/xml:
// there are no document types and no entities but those of XML itself, and the names of a start and its end are not
// compared, only counted. What it returns is valid until the next token.
type xmlScanner struct {
	src   io.Reader
	buf   []byte
	pos   int // of what was not yet read in buf
	limit int // bytes that a token may have
	done  bool

	kind  xmlKind
	name  []byte // local name of an element; nil if it is not in the namespace of the root element
	attrs []byte // as they are written
	text  []byte
	alone bool // the element has no content, so its end follows
	depth int  // of elements that are open
	names xmlNames
}

type xmlKind int

const (
	xmlStart xmlKind = iota
	xmlEnd
	xmlText
)

// errXML is what all errors of syntax have in common.
var errXML = errors.New("XML syntax error")

func xmlError(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errXML, fmt.Sprintf(format, args...))
}

// newXMLScanner finds out the encoding of the text. The first bytes tell.
func newXMLScanner(src io.Reader, limit int) (*xmlScanner, error) {
	x := &xmlScanner{src: src, buf: make([]byte, 0, 64<<10), limit: limit}
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
			return nil, xmlError("the encoding %q is not known", clip(string(label)))
		}
	}
	if enc != nil {
		rest := io.MultiReader(bytes.NewReader(bytes.Clone(x.buf)), src)
		x.src, x.buf, x.done = enc.NewDecoder().Reader(rest), x.buf[:0], false
	}
	return x, nil
}

// fill reads more. The error is io.EOF where there is nothing more.
func (x *xmlScanner) fill() error {
	if x.done {
		return io.EOF
	}
	if x.pos > 0 {
		n := copy(x.buf, x.buf[x.pos:])
		x.buf, x.pos = x.buf[:n], 0
	}
	if len(x.buf) == cap(x.buf) {
		if len(x.buf) >= x.limit {
			return herb.Invalidf("there is a row or a text of more than %d bytes, which is the most that one may have", x.limit)
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

// find returns where what occurs first in the unread bytes, from a place on. At the end of the text the error says that
// it is cut off.
func (x *xmlScanner) find(what string, from int) (int, error) {
	for {
		unread := x.buf[x.pos:]
		if i := bytes.Index(unread[min(from, len(unread)):], []byte(what)); i >= 0 {
			return from + i, nil
		}
		from = max(from, len(unread)-len(what)+1)
		if err := x.fill(); err == io.EOF {
			return 0, io.ErrUnexpectedEOF
		} else if err != nil {
			return 0, err
		}
	}
}

// next reads a token. The error is io.EOF behind the last element.
func (x *xmlScanner) next() error {
	if x.alone {
		x.alone = false
		x.kind = xmlEnd
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
		rest := x.buf[x.pos:]
		switch {
		case bytes.HasPrefix(rest, []byte("<!--")):
			if err := x.pass("-->", 4); err != nil {
				return err
			}
		case bytes.HasPrefix(rest, []byte("<?")):
			if err := x.pass("?>", 2); err != nil {
				return err
			}
		case bytes.HasPrefix(rest, []byte("<![CDATA[")):
			end, err := x.find("]]>", 9)
			if err != nil {
				return err
			}
			x.kind, x.text = xmlText, lineEnds(x.buf[x.pos+9:x.pos+end])
			x.pos += end + 3
			return x.validText()
		case bytes.HasPrefix(rest, []byte("<!")):
			return xmlError("there is a document type")
		default:
			return x.tag()
		}
	}
}

// pass passes over what ends with something.
func (x *xmlScanner) pass(end string, from int) error {
	i, err := x.find(end, from)
	x.pos += i + len(end)
	return err
}

// characters reads text up to the next tag.
func (x *xmlScanner) characters() error {
	end, err := x.find("<", 0)
	if err == io.ErrUnexpectedEOF && x.depth == 0 {
		end, err = len(x.buf)-x.pos, nil
	}
	if err != nil {
		return err
	}
	x.kind, x.text = xmlText, x.buf[x.pos:x.pos+end]
	x.pos += end
	if x.text, err = undoEntities(lineEnds(x.text)); err != nil {
		return err
	}
	return x.validText()
}

func (x *xmlScanner) validText() error {
	if !utf8.Valid(x.text) {
		return xmlError("there is text that is not valid UTF-8")
	}
	return nil
}

// tag reads the start or the end of an element.
func (x *xmlScanner) tag() error {
	end, err := x.find(">", 1)
	if err != nil {
		return err
	}
	for !closed(x.buf[x.pos : x.pos+end]) {
		if end, err = x.find(">", end+1); err != nil { // that one stood in quotes
			return err
		}
	}
	inner := x.buf[x.pos+1 : x.pos+end]
	x.pos += end + 1
	if len(inner) > 0 && inner[0] == '/' {
		x.kind, x.name, x.attrs = xmlEnd, x.names.local(bytes.TrimRight(inner[1:], " \t\r\n"), 0), nil
		if x.depth--; x.depth < 0 {
			return xmlError("there is an end %q without a start", clip(string(inner)))
		}
		x.names.leave(x.depth)
		return nil
	}
	if x.alone = bytes.HasSuffix(inner, []byte("/")); x.alone {
		inner = inner[:len(inner)-1]
	}
	n := 0
	for n < len(inner) && !isXMLSpace(inner[n]) {
		n++
	}
	name := inner[:n]
	x.attrs = inner[n:]
	if _, local := splitName(name); len(local) == 0 || bytes.ContainsAny(name, `<&"'=`) {
		return xmlError("%q is no name of an element", clip(string(name)))
	}
	x.depth++
	x.names.declare(x.attrs, x.depth)
	x.kind, x.name = xmlStart, x.names.local(name, x.depth)
	return nil
}

// closed reports whether all quotes of a tag are closed.
func closed(tag []byte) bool {
	for i := 0; i < len(tag); i++ {
		if tag[i] != '"' && tag[i] != '\'' {
			continue
		}
		end := bytes.IndexByte(tag[i+1:], tag[i])
		if end < 0 {
			return false
		}
		i += end + 1
	}
	return true
}

func isXMLSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// skipSpaces returns b without blanks at its beginning.
func skipSpaces(b []byte) []byte {
	for len(b) > 0 && isXMLSpace(b[0]) {
		b = b[1:]
	}
	return b
}

// lineEnds writes every line end as a line feed, as XML asks for, in place.
func lineEnds(b []byte) []byte {
	if bytes.IndexByte(b, '\r') < 0 {
		return b
	}
	out, before := b[:0], byte(0)
	for _, c := range b {
		switch {
		case c == '\r':
			out = append(out, '\n')
		case c == '\n' && before == '\r':
		default:
			out = append(out, c)
		}
		before = c
	}
	return out
}

// undoEntities undoes entities in place.
func undoEntities(b []byte) ([]byte, error) {
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
			return nil, xmlError("there is an & that begins no entity")
		}
		switch name := string(b[i+1 : i+end]); name {
		case "lt":
			out = append(out, '<')
		case "gt":
			out = append(out, '>')
		case "amp":
			out = append(out, '&')
		case "apos":
			out = append(out, '\'')
		case "quot":
			out = append(out, '"')
		default:
			r, ok := numbered(name)
			if !ok {
				return nil, xmlError("there is no entity &%s;", clip(name))
			}
			out = utf8.AppendRune(out, r)
		}
		i += end + 1
	}
	return out, nil
}

// numbered reads an entity such as #10 or #xA.
func numbered(name string) (rune, bool) {
	if len(name) < 2 || name[0] != '#' {
		return 0, false
	}
	digits, base := name[1:], 10
	if digits[0] == 'x' {
		digits, base = digits[1:], 16
	}
	n, err := strconv.ParseUint(digits, base, 32)
	return rune(n), err == nil && n > 0 && utf8.ValidRune(rune(n)) && n <= utf8.MaxRune
}
