package xlsx

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding/unicode"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/rowstest"
)

// TestReader_Encodings reads sheets in other encodings than UTF-8.
func TestReader_Encodings(t *testing.T) {
	t.Parallel()
	document := func(encoding, text string) string {
		return `<?xml version="1.0" encoding="` + encoding + `"?><worksheet><sheetData><row><c t="inlineStr"><is><t>` +
			text + `</t></is></c></row></sheetData></worksheet>`
	}
	wide, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String(document("UTF-16", "Grün 😀"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, sheet, want string }{
		{"UTF-16", wide, "Grün 😀"},
		{"byte order mark", "\xEF\xBB\xBF" + document("utf-8", "Grün 😀"), "Grün 😀"},
		{"Latin 1", document("ISO-8859-1", "Gr\xFCn"), "Grün"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, _, err := readFile(makeBook(t, "", map[string]string{"xl/worksheets/sheet1.xml": c.sheet}),
				rows.Options{})
			if diff := cmp.Diff([][]string{{c.want}}, got); diff != "" || err != nil {
				t.Errorf("error %v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// TestReader_HostileXML reads sheets that would take much memory or time.
func TestReader_HostileXML(t *testing.T) {
	const size = 8 << 20
	var namespaces, attributes strings.Builder
	for i := range 2 * maxAttributes {
		fmt.Fprintf(&namespaces, ` xmlns:n%d="x"`, i)
	}
	for range 1 << 20 {
		attributes.WriteString(` a=""`)
	}
	const start = "<worksheet><sheetData>"
	for _, c := range []struct{ name, sheet, want string }{
		{"many namespaces", "<worksheet" + namespaces.String() + "/>", "more than 1000 attributes"},
		{"many attributes", start + "<row" + attributes.String() + "/>", "more than 262144 equals signs"},
		{"a comment without end", start + "<!--" + strings.Repeat("x", 40<<20), "longer than 32 MiB"},
		{"deep", start + strings.Repeat("<a>", 1<<20), "more than 100 levels"},
		{"a document type", `<!DOCTYPE a [<!ENTITY b 'c'>]>` + start + header + "</sheetData></worksheet>",
			"document types"},
		{"an unknown encoding", `<?xml version="1.0" encoding="klingon"?><worksheet/>`, "klingon"},
		{"invalid UTF-8", start + "<row><c t=\"str\"><v>\xFF</v></c></row></sheetData></worksheet>", "UTF-8"},
		{"a long attribute", start + `<row a="` + strings.Repeat(">", size) + `"/>` + header +
			"</sheetData></worksheet>", ""},
	} {
		b := makeBook(t, "", map[string]string{"xl/worksheets/sheet1.xml": c.sheet})
		var err error
		used := rowstest.Allocated(func() { _, _, err = readFile(b, rows.Options{}) })
		if c.want == "" && err != nil || c.want != "" &&
			(herb.CodeOf(err) != herb.CodeInvalid || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: got error %v, want one with %q", c.name, err, c.want)
		}
		if used > 300<<20 { // the race detector doubles it
			t.Errorf("%s: a workbook of %d bytes allocates %d", c.name, len(b), used)
		}
	}
}
