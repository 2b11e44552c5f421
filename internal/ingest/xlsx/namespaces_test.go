package xlsx

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/ingest/rows"
)

// TestReader_Namespaces reads workbooks with elements of other namespaces that have the names of
// the standard ones.
func TestReader_Namespaces(t *testing.T) {
	t.Parallel()
	const main = `xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"`
	const relations = `xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"`
	const foreign = `http://schemas.microsoft.com/office/spreadsheetml/2010/11/main`
	styles := `<styleSheet ` + main +
		`><numFmts><numFmt numFmtId="165" formatCode="yyyy-mm-dd"/></numFmts><dxfs><dxf>` +
		`<numFmt numFmtId="165" formatCode="0.00"/></dxf></dxfs><cellXfs xmlns:y="y"><y:xf numFmtId="0"/><xf numFmtId="165"/></cellXfs></styleSheet>`
	sheets := `<sheets><sheet name="One" xmlns:z="z" z:id="rId2" r:id="rId1"/></sheets>`
	sheet := header + `<row r="2"><c r="A2" s="0"><v>43889</v></c><c r="B2"><v>7</v></c></row>`
	want := [][]string{{"a", "b"}, {"2024-02-29", "7"}}
	for _, c := range []struct{ name, book, sheet string }{
		{"no extension", `<workbookPr date1904="1"/>` + sheets, sheet},
		{"x15 behind it", `<workbookPr date1904="1"/>` + sheets + `<extLst><ext xmlns:x15="` + foreign +
			`"><x15:workbookPr chartTrackingRefBase="1"/></ext></extLst>`, sheet},
		{"x14 beside it", `<workbookPr date1904="1"/><x14:workbookPr xmlns:x14="` + foreign + `" date1904="0"/>` +
			sheets, sheet},
		{"default namespace of another", `<workbookPr date1904="1"/>` + sheets + `<workbookPr xmlns="` + foreign +
			`" date1904="0"/>`, sheet},
		{"its own elsewhere", `<workbookPr date1904="1"/>` + sheets +
			`<extLst><ext><workbookPr date1904="0"/></ext></extLst>`, sheet},
		{"before it", `<x15:workbookPr xmlns:x15="` + foreign + `" date1904="0"/><workbookPr date1904="1"/>` +
			sheets, sheet},
		{"cells and rows of another", `<workbookPr date1904="1"/>` + sheets, header +
			`<row r="2" xmlns:y="y" y:r="9"><c r="A2" y:t="s" s="0"><y:v>1</y:v><v>43889</v><extLst><y:c/></extLst></c><y:c r="A2"><v>1</v></y:c><c r="B2"><v>7</v></c><y:row/></row>` +
			`<y:row xmlns:y="y"><c r="A3"><v>9</v></c></y:row>`},
		{"an anchor of a control", `<workbookPr date1904="1"/>` + sheets,
			sheet + `</sheetData><controls><control><anchor><from><row><c><v>9</v></c></row></from></anchor></control></controls><sheetData>`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, _, err := readFile(makeBook(t, "", map[string]string{
				"xl/workbook.xml": `<workbook ` + main + ` ` + relations + `>` + c.book + `</workbook>`,
				"xl/styles.xml":   styles,
				"xl/worksheets/sheet1.xml": `<worksheet ` + main + `><sheetData>` + c.sheet +
					`</sheetData></worksheet>`,
			}), rows.Options{})
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("error %v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// TestReader_CellKinds reads cells that writers put together in unusual ways.
func TestReader_CellKinds(t *testing.T) {
	t.Parallel()
	got, _, err := readFile(makeBook(t, header+`<row><c t="inlineStr"><v>x</v></c><c><is><t>y</t></is></c></row>`+
		`<row><c t="inlineStr"><v>1.0</v><is><t>1.</t></is></c><c t="inlineStr"><f>A1</f><is><t>z</t></is></c></row>`,
		nil), rows.Options{})
	if diff := cmp.Diff([][]string{{"a", "b"}, {"x", "y"}, {"1.", "z"}}, got); diff != "" || err != nil {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
	_, _, err = readFile(makeBook(t, header+`<row r="2"><c r="AB2"><v>1</v></c><c r="AB2"><v>2</v></c></row>`, nil),
		rows.Options{})
	if err == nil || !strings.Contains(err.Error(), `sheet "One", row 2: the cell AB2 occurs twice`) {
		t.Errorf("a cell that occurs twice: %v", err)
	}
}
