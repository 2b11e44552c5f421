package xlsx

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"herbarium/internal/ingest/rows"
)

func TestBlankFilter(t *testing.T) {
	t.Parallel()
	data := func(s string) string {
		return `<worksheet><cols><c r="A1"/></cols><sheetData>` + s + `</sheetData><x/></worksheet>`
	}
	value := `<c r="D2" s="1"><v>1</v></c>`
	for _, c := range []struct{ name, in, want string }{
		{"cells at the end of a row", `<row r="2">` + value + `<c r="E2" s="3"/><c r="F2"/></row>`,
			`<row r="2">` + value + `</row>`},
		{"cells before one", `<row r="2"><c r="A2"/><c r="B2" s="3"/>` + value + `</row>`,
			`<row r="2"><c r="B2" s="3"/>` + value + `</row>`},
		{"cells before one without a number", `<row r="2"><c r="A2"/><c r="B2"/><c><v>1</v></c></row>`,
			`<row r="2"><c r="B2"/><c><v>1</v></c></row>`},
		{"cells with an end tag", `<row r="2"><c r="A2" s="1"></c><c r="B2"></c>` + value + `</row>`,
			`<row r="2"><c r="B2"></c>` + value + `</row>`},
		{"a cell with an empty text", `<row r="2"><c r="A2" t="inlineStr"><is><t/></is></c></row>`,
			`<row r="2"><c r="A2" t="inlineStr"><is><t/></is></c></row>`},
		{"rows above one", `<row r="1" ht="15"/><row r="2">` + value + `</row>`, `<row r="2">` + value + `</row>`},
		{"rows above one without a number", `<row r="7"/><row r="8"/><row>` + value + `</row>`, `<row r="8"/><row>` +
			value + `</row>`},
		{"rows with blank cells", "<row r=\"1\"> <c r=\"A1\"/>\n</row><row r=\"2\"><c r=\"A2\"/></row>",
			`<row r="2"></row>`},
		{"rows and cells without numbers", `<row/><row><c/></row>`, `<row/><row><c/></row>`},
		{"a sign in an attribute", `<row r="1" x="a>b"/><row r="2" x='/>'>` + value + `</row>`, `<row r="2" x='/>'>` +
			value + `</row>`},
		{"a comment", `<row r="1"/><!-- <row r="2"/> --><row r="3"/><row r="4"/>`,
			`<row r="1"/><!-- <row r="2"/> --><row r="3"/><row r="4"/>`},
		{"a long tag", `<row r="1"/><row r="2" x="` + strings.Repeat("x", maxTag) + `"/><row r="3"/>`,
			`<row r="1"/><row r="2" x="` + strings.Repeat("x", maxTag) + `"/><row r="3"/>`},
		{"cut off", `<row r="1"/><row r="2"><c r="A`, ``},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			in, want := data(c.in), data(c.want)
			if c.name == "cut off" {
				in = strings.TrimSuffix(in, data("")[strings.Index(data(""), "</sheetData>"):])
				want = strings.TrimSuffix(want, data("")[strings.Index(data(""), "</sheetData>"):]) +
					`<row r="2"><c r="A`
			}
			for how, wrap := range map[string]func(io.Reader) io.Reader{
				"at once": func(r io.Reader) io.Reader { return r }, "byte by byte": iotest.OneByteReader} {
				got, err := io.ReadAll(&blankFilter{in: wrap(strings.NewReader(in))})
				if string(got) != want || err != nil {
					t.Errorf("%s: error %v, got  %.300s\nwant %.300s", how, err, got, want)
				}
			}
		})
	}
}

// TestReader_blankRows reads a workbook that is formatted far below its records: blank rows and
// cells do not count.
func TestReader_blankRows(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(sheetXML([]string{"id", "n"}, []string{"a", "=1"}, []string{"b", "=2"}))
	for i := 4; i < 300_000; i++ {
		fmt.Fprintf(&b, `<row r="%d" spans="1:2" ht="15" x="y"><c r="A%d" s="1"/><c r="B%d" s="1"/></row>`, i, i, i)
	}
	got, _, err := readFile(makeBook(t, b.String(), nil), rows.Options{})
	if err != nil || len(got) != 3 {
		t.Errorf("got %d rows and error %v", len(got), err)
	}
}
