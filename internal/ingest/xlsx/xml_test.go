package xlsx

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding/unicode"

	"herbarium/internal/herb"
)

// scanXML renders what the scanner reads: starts with their attributes a and b, ends, and text, where neighbouring texts
// are one.
func scanXML(r io.Reader, limit int) (out []string, err error) {
	x, err := newScanner(r, limit)
	if err != nil {
		return nil, err
	}
	text := ""
	for {
		err := x.next()
		if err != nil {
			return out, err
		}
		if x.kind == tokenText {
			text += string(x.text)
			continue
		}
		if text != "" {
			out, text = append(out, text), ""
		}
		if x.kind == tokenStart {
			out = append(out, fmt.Sprintf("<%s %s %s>", x.name, x.attr("a"), x.attr("b")))
		} else {
			out = append(out, fmt.Sprintf("</%s>", x.name))
		}
	}
}

// decodeXML renders the same by encoding/xml.
func decodeXML(s string) (out []string, err error) {
	d := xml.NewDecoder(strings.NewReader(s))
	text, depth, root := "", 0, ""
	local := func(n xml.Name) string {
		if n.Space != root {
			return ""
		}
		return n.Local
	}
	for {
		t, err := d.Token()
		if err != nil {
			if err == io.EOF && depth > 0 {
				err = io.ErrUnexpectedEOF
			}
			return out, err
		}
		if c, ok := t.(xml.CharData); ok {
			text += string(c)
			continue
		}
		tag := ""
		switch e := t.(type) {
		case xml.StartElement:
			if depth++; depth == 1 {
				root = e.Name.Space
			}
			attr := func(name string) string {
				for _, a := range e.Attr {
					if a.Name.Local == name && a.Name.Space == "" {
						return a.Value
					}
				}
				return ""
			}
			tag = fmt.Sprintf("<%s %s %s>", local(e.Name), attr("a"), attr("b"))
		case xml.EndElement:
			if depth--; depth < 0 {
				return out, errXML
			}
			tag = fmt.Sprintf("</%s>", local(e.Name))
		default:
			continue
		}
		if text != "" {
			out, text = append(out, text), ""
		}
		out = append(out, tag)
	}
}

// xmlTexts are documents that encoding/xml reads the same way.
var xmlTexts = []string{
	`<a/>`, `<a></a>`, `<a b="1"/>`, `<x:a y:a='2' xmlns:b="no" b = "3" ><b>t</b></x:a >`, `<?xml version="1.0" encoding="utf-8"?><a>ä😀</a>`,
	"<a>\r\nx\ry\n\r\r\n</a>", "<a>&lt;&gt;&amp;&apos;&quot;&#65;&#x42;&#10;&#xD;</a>", `<a><![CDATA[<b>&amp;]]]]><![CDATA[>]]></a>`,
	`<a><!-- <b> - no --></a>`, `<a a="&lt;x&gt;" b='">'>x<b a=">"/>y</a>`, "<a\n\ta=\"1\"\n/>", ` <a/> `, `<a><b><c/></b><b/></a><?end?>`,
	`<a xmlns="n" xmlns:o="o"><b/><o:b a="1" o:a="2" o:b="3"/><b xmlns="o"><a/><n:a xmlns:n="n"/></b><c/><n:a xmlns:n="&#110;"/></a>`,
	`<p:a xmlns:p="n"><b/><p:b xmlns:p="m"><p:c/><q:c xmlns:q="n"/></p:b><p:b/></p:a>`, `<a xmlns=""><b xmlns="n"/><:b/></a>`,
	`<a`, `<a>`, `<a>x`, `<a b="`, `<a>&`, `<a>&x;</a>`, `<a><!-- `, `<a><![CDATA[x`, `</a>`, `<>`, `<a>&#0;</a>`, "<a>\xFF</a>",
}

// TestScanner compares with encoding/xml, byte by byte and in one piece.
func TestScanner(t *testing.T) {
	t.Parallel()
	for _, s := range xmlTexts {
		want, wantErr := decodeXML(s)
		for name, r := range map[string]io.Reader{"whole": strings.NewReader(s), "in bytes": iotest.OneByteReader(strings.NewReader(s))} {
			got, err := scanXML(r, 1<<20)
			if (err == io.EOF) != (wantErr == io.EOF) {
				t.Errorf("%q %s: got error %v, want %v", s, name, err, wantErr)
			} else if diff := cmp.Diff(want, got); diff != "" && err == io.EOF {
				t.Errorf("%q %s (-want +got):\n%s", s, name, diff)
			}
		}
	}
}

func TestScanner_Encodings(t *testing.T) {
	t.Parallel()
	const s = `<?xml version="1.0" encoding="UTF-16"?><a>Grün 😀</a>`
	wide, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String(s)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"<a  >", "Grün 😀", "</a>"}
	for name, s := range map[string]string{"UTF-16": wide, "mark": "\xEF\xBB\xBF<a>Grün 😀</a>"} {
		if got, err := scanXML(strings.NewReader(s), 1<<20); err != io.EOF || !cmp.Equal(want, got) {
			t.Errorf("%s: got %q, error %v", name, got, err)
		}
	}
	latin := "<?xml version='1.0' encoding='ISO-8859-1'?><a>Gr\xFCn</a>"
	if got, err := scanXML(strings.NewReader(latin), 1<<20); err != io.EOF || !cmp.Equal([]string{"<a  >", "Grün", "</a>"}, got) {
		t.Errorf("Latin 1: got %q, error %v", got, err)
	}
	for _, s := range []string{"<?xml encoding='klingon'?><a/>", "<!DOCTYPE a [<!ENTITY b 'c'>]><a/>"} {
		if _, err := scanXML(strings.NewReader(s), 1<<20); !errors.Is(err, errXML) {
			t.Errorf("%s: got error %v", s, err)
		}
	}
	if _, err := scanXML(strings.NewReader("<a>"+strings.Repeat("x", 200_000)), 100_000); herb.CodeOf(err) != herb.CodeInvalid {
		t.Errorf("a text without end: got error %v", err)
	}
}

// FuzzScanner compares with encoding/xml. Documents that encoding/xml rejects may be accepted: it checks names and
// characters that no cell depends on.
func FuzzScanner(f *testing.F) {
	for _, s := range xmlTexts {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := scanXML(strings.NewReader(s), 1<<20)
		want, wantErr := decodeXML(s)
		if wantErr != io.EOF || err != nil && strings.Contains(err.Error(), "document type") || strings.Contains(s, "encoding") || strings.HasPrefix(s, "\uFEFF") {
			return
		}
		if diff := cmp.Diff(want, got); err != io.EOF || diff != "" {
			t.Errorf("error %v (-want +got):\n%s", err, diff)
		}
	})
}
