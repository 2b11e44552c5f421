package ingest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
)

// tableOf returns what a source lists: the names of the fields, then the records.
func tableOf(t *testing.T, src Source) ([][]string, *herb.Report) {
	t.Helper()
	table, err := Inspect(t.Context(), src, Options{})
	if err != nil {
		t.Fatal(err)
	}
	d := table.Dataset()
	rows := [][]string{nil}
	for _, f := range d.Fields {
		rows[0] = append(rows[0], f.Name)
	}
	for r, err := range table.Records(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, r)
	}
	return rows, d.Report
}

func writeBook(t *testing.T, name, sheet string, parts map[string]string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, book(t, sheet, parts), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestXLSX_RightOfHeader keeps the cells of rows that are wider than the header.
func TestXLSX_RightOfHeader(t *testing.T) {
	t.Parallel()
	const note = `sheet "One": there are values right of the header, the first in C2; columns without a name are called by their position, such as column_3`
	missing := func(name string, values ...string) FieldSetting { return FieldSetting{Name: name, Missing: values} }
	for _, c := range []struct {
		name, sheet string
		src         Source
		want        [][]string
		notes       []string
	}{
		{
			"the first record is wider", header + `<row r="2"><c><v>1</v></c><c><v>2</v></c><c><v>3</v></c></row><row r="3"><c><v>4</v></c></row>`,
			Source{}, [][]string{{"a", "b", "column_3"}, {"1", "2", "3"}, {"4", "", ""}}, []string{note},
		}, {
			"the last record is wider", header + `<row r="3"><c><v>4</v></c></row><row r="2"><c r="E2"><v>5</v></c></row>`,
			Source{}, [][]string{{"a", "b", "column_3", "column_4", "column_5"}, {"4", "", "", "", ""}, {"", "", "", "", "5"}},
			[]string{strings.ReplaceAll(note, "C2", "E2")},
		}, {
			"the name is taken", strings.ReplaceAll(header, "<t>b<", "<t>column_3<") + `<row r="2"><c r="C2"><v>3</v></c></row>`,
			Source{}, [][]string{{"a", "column_3", "column_3_2"}, {"", "", "3"}}, []string{note},
		}, {
			"a title above the header is no record", `<row r="1"><c r="D1"><v>2024</v></c></row>` + strings.ReplaceAll(header, `1"`, `2"`) +
				`<row r="3"><c><v>1</v></c></row>`,
			Source{Dialect: Dialect{HeaderRows: []int{2}}}, [][]string{{"a", "b"}, {"1", ""}}, nil,
		}, {
			"a schema that lists it", header + `<row r="2"><c><v>1</v></c></row><row r="2"><c r="C2"><v>3</v></c></row>`,
			Source{Fields: []FieldSetting{{Name: "a"}, {Name: "x", From: "column_3"}}},
			[][]string{{"a", "x"}, {"1", ""}, {"", "3"}}, []string{note},
		}, {
			"missing values of its own", header + `<row r="2"><c><v>1</v></c></row><row r="2"><c><v>3</v></c><c r="C2"><v>3</v></c></row>`,
			Source{Fields: []FieldSetting{{Name: "a"}, missing("column_3", "3")}},
			[][]string{{"a", "column_3"}, {"1", ""}, {"3", ""}}, []string{note},
		}, {
			"rows by its value", header + `<row r="2"><c><v>1</v></c></row><row r="2"><c><v>2</v></c><c r="C2"><v>3</v></c></row>`,
			Source{Include: []Include{{Column: "column_3", Values: []string{"3"}}}},
			[][]string{{"a", "b", "column_3"}, {"2", "", "3"}}, []string{note},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.src.Path = writeBook(t, "x.xlsx", c.sheet, nil)
			got, report := tableOf(t, c.src)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.notes, report.Notes); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
		})
	}
}

// TestXLSX_PartsOfDifferentWidth reads two workbooks as one table.
func TestXLSX_PartsOfDifferentWidth(t *testing.T) {
	t.Parallel()
	narrow := writeBook(t, "n.xlsx", header+`<row r="2"><c><v>1</v></c></row>`, nil)
	wide := writeBook(t, "w.xlsx", header+`<row r="2"><c><v>2</v></c></row><row r="3"><c r="C3"><v>3</v></c></row>`, nil)
	want := [][]string{{"a", "b", "column_3"}}
	first, others := []string{"1", "", ""}, [][]string{{"2", "", ""}, {"", "", "3"}}
	got, _ := tableOf(t, Source{Path: narrow, Parts: []string{wide}})
	if diff := cmp.Diff(append(append(want, first), others...), got); diff != "" {
		t.Errorf("the wide one last (-want +got):\n%s", diff)
	}
	got, _ = tableOf(t, Source{Path: wide, Parts: []string{narrow}})
	if diff := cmp.Diff(append(append(want, others...), first), got); diff != "" {
		t.Errorf("the wide one first (-want +got):\n%s", diff)
	}
}

// TestXLSX_Namespaces reads workbooks with elements of other namespaces that have the names of the standard ones.
func TestXLSX_Namespaces(t *testing.T) {
	t.Parallel()
	const main = `xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"`
	const relations = `xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"`
	const foreign = `http://schemas.microsoft.com/office/spreadsheetml/2010/11/main`
	styles := `<styleSheet ` + main + `><numFmts><numFmt numFmtId="165" formatCode="yyyy-mm-dd"/></numFmts><dxfs><dxf>` +
		`<numFmt numFmtId="165" formatCode="0.00"/></dxf></dxfs><cellXfs xmlns:y="y"><y:xf numFmtId="0"/><xf numFmtId="165"/></cellXfs></styleSheet>`
	sheets := `<sheets><sheet name="One" xmlns:z="z" z:id="rId2" r:id="rId1"/></sheets>`
	sheet := header + `<row r="2"><c r="A2" s="0"><v>43889</v></c><c r="B2"><v>7</v></c></row>`
	want := [][]string{{"a", "b"}, {"2024-02-29", "7"}}
	for _, c := range []struct{ name, book, sheet string }{
		{"no extension", `<workbookPr date1904="1"/>` + sheets, sheet},
		{"x15 behind it", `<workbookPr date1904="1"/>` + sheets + `<extLst><ext xmlns:x15="` + foreign + `"><x15:workbookPr chartTrackingRefBase="1"/></ext></extLst>`, sheet},
		{"x14 beside it", `<workbookPr date1904="1"/><x14:workbookPr xmlns:x14="` + foreign + `" date1904="0"/>` + sheets, sheet},
		{"default namespace of another", `<workbookPr date1904="1"/>` + sheets + `<workbookPr xmlns="` + foreign + `" date1904="0"/>`, sheet},
		{"its own elsewhere", `<workbookPr date1904="1"/>` + sheets + `<extLst><ext><workbookPr date1904="0"/></ext></extLst>`, sheet},
		{"before it", `<x15:workbookPr xmlns:x15="` + foreign + `" date1904="0"/><workbookPr date1904="1"/>` + sheets, sheet},
		{"cells and rows of another", `<workbookPr date1904="1"/>` + sheets, header +
			`<row r="2" xmlns:y="y" y:r="9"><c r="A2" y:t="s" s="0"><y:v>1</y:v><v>43889</v><extLst><y:c/></extLst></c><y:c r="A2"><v>1</v></y:c><c r="B2"><v>7</v></c><y:row/></row>` +
			`<y:row xmlns:y="y"><c r="A3"><v>9</v></c></y:row>`},
		{"an anchor of a control", `<workbookPr date1904="1"/>` + sheets,
			sheet + `</sheetData><controls><control><anchor><from><row><c><v>9</v></c></row></from></anchor></control></controls><sheetData>`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, _, err := readXLSX(book(t, "", map[string]string{
				"xl/workbook.xml":          `<workbook ` + main + ` ` + relations + `>` + c.book + `</workbook>`,
				"xl/styles.xml":            styles,
				"xl/worksheets/sheet1.xml": `<worksheet ` + main + `><sheetData>` + c.sheet + `</sheetData></worksheet>`,
			}), oldDialect{})
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("error %v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// TestXLSX_CellKinds reads cells that writers put together in unusual ways.
func TestXLSX_CellKinds(t *testing.T) {
	t.Parallel()
	got, _, err := readXLSX(book(t, header+`<row><c t="inlineStr"><v>x</v></c><c><is><t>y</t></is></c></row>`, nil), oldDialect{})
	if diff := cmp.Diff([][]string{{"a", "b"}, {"x", "y"}}, got); diff != "" || err != nil {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
	_, _, err = readXLSX(book(t, header+`<row r="2"><c r="AB2"><v>1</v></c><c r="AB2"><v>2</v></c></row>`, nil), oldDialect{})
	if err == nil || !strings.Contains(err.Error(), `sheet "One", row 2: the cell AB2 occurs twice`) {
		t.Errorf("a cell that occurs twice: %v", err)
	}
}
