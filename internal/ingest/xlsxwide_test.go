package ingest

import (
	"archive/zip"
	"bytes"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
)

// tableOf returns the names of the fields of a source, then its records.
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
	const note = `sheet "One": values right of the header, the first in C2; columns without a name are named by their position, such as column_3`
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
			Source{Dialect: rows.Options{HeaderRows: []int{2}}}, [][]string{{"a", "b"}, {"1", ""}}, nil,
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

// book returns a handwritten workbook: the content of its first sheet, and parts that replace or extend the usual ones.
func book(t testing.TB, sheet string, parts map[string]string) []byte {
	t.Helper()
	all := map[string]string{
		"_rels/.rels":     `<Relationships><Relationship Id="rId1" Type="http://x/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
		"xl/workbook.xml": `<workbook xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="One" sheetId="1" r:id="rId1"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels": `<Relationships><Relationship Id="rId1" Type="http://x/worksheet" Target="worksheets/sheet1.xml"/>` +
			`<Relationship Id="rId2" Type="http://x/worksheet" Target="/xl/worksheets/sheet2.xml"/>` +
			`<Relationship Id="rId3" Type="http://x/worksheet" Target="worksheets/sheet3.xml"/>` +
			`<Relationship Id="rId4" Type="http://x/chartsheet" Target="chartsheets/sheet1.xml"/>` +
			`<Relationship Id="rId8" Type="http://x/sharedStrings" Target="sharedStrings.xml"/>` +
			`<Relationship Id="rId9" Type="http://x/styles" Target="styles.xml"/></Relationships>`,
		"xl/worksheets/sheet1.xml": `<?xml version="1.0" encoding="UTF-8"?><worksheet><sheetData>` + sheet + `</sheetData></worksheet>`,
	}
	maps.Copy(all, parts)
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		p, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(p, all[name]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

const header = `<row r="1"><c r="A1" t="inlineStr"><is><t>a</t></is></c><c r="B1" t="inlineStr"><is><t>b</t></is></c></row>`
