package xlsx

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/rowstest"
)

// sheetXML renders rows from their first line on. Values that begin with = are numbers, with @
// dates, with ! booleans; an empty row is a blank line.
func sheetXML(lines ...[]string) string {
	var b strings.Builder
	for i, line := range lines {
		fmt.Fprintf(&b, `<row r="%d">`, i+1)
		for c, v := range line {
			name := cellName(c, i+1)
			switch {
			case v == "":
			case v[0] == '=':
				fmt.Fprintf(&b, `<c r="%s"><v>%s</v></c>`, name, v[1:])
			case v[0] == '@':
				fmt.Fprintf(&b, `<c r="%s" s="1"><v>%s</v></c>`, name, v[1:])
			case v[0] == '!':
				fmt.Fprintf(&b, `<c r="%s" t="b"><v>%s</v></c>`, name, v[1:])
			default:
				fmt.Fprintf(&b, `<c r="%s" t="inlineStr"><is><t>%s</t></is></c>`, name, v)
			}
		}
		b.WriteString("</row>")
	}
	return b.String()
}

// dateStyles makes 1 a date, 2 a timestamp, 3 a code of five digits and 4 a time of day.
var dateStyles = map[string]string{
	"xl/styles.xml": `<styleSheet><numFmts><numFmt numFmtId="165" formatCode="00000"/></numFmts>` +
		`<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="22"/><xf numFmtId="165"/><xf numFmtId="20"/><xf numFmtId="46"/></cellXfs></styleSheet>`}

func TestDetectHeader(t *testing.T) {
	t.Parallel()
	s := func(cells ...string) []string { return cells }
	for _, c := range []struct {
		name    string
		lines   [][]string
		options rows.Options
		header  string
		records int
		skipped []string // mentioned in the note
	}{
		{"first row", [][]string{s("id", "name"), s("=1", "rose"), s("=2", "elm")}, rows.Options{}, "id,name", 2, nil},
		{"a title", [][]string{s("Prices 2024"), s(""), s("id", "name", "price"), s("=1", "rose", "=2"),
			s("=2", "elm", "=3")}, rows.Options{}, "id,name,price", 2, []string{"Prices 2024"}},
		{"two titles without a gap", [][]string{s("Prices"), s("Source: garden"), s("id", "name", "price"),
			s("=1", "rose", "=2"), s("=2", "elm", "=3")}, rows.Options{}, "id,name,price", 2,
			[]string{"1 (above the table: Prices)", "2 (above the table: Source: garden)"}},
		{"a date and a number above", [][]string{s("Report", "@45000"), s("id", "name", "price", "size"),
			s("=1", "rose", "=2", "=5"), s("=2", "elm", "=3", "=6")}, rows.Options{}, "id,name,price,size", 2,
			[]string{"Report | 2023-03-15"}},
		{"years as names", [][]string{s("Population"), s("country", "=2019", "=2020"), s("A", "=5", "=6"),
			s("B", "=7", "=8")}, rows.Options{}, "country,2019,2020", 2, []string{"Population"}},
		{"dates as names", [][]string{s("Deaths"), s("Land", "Day"), s("", "@45000", "@45001", "@45002", "@45003"),
			s("A", "=5", "=6", "=7", "=5"), s("B", "=7", "=8", "=9", "=5")}, rows.Options{},
			"Land,Day 2023-03-15,2023-03-16,2023-03-17,2023-03-18", 2,
			[]string{"Deaths", "rows 2 and 3 name the columns together"}},
		{"weeks as names", [][]string{s("Deaths"), s("Week", "=1", "=2", "=3", "=4", "=5"),
			s("ended", "@45000", "@45007", "@45014", "@45021", "@45028"), s("A", "=5", "=6", "=7", "=5", "=6")},
			rows.Options{},
			"Week,1,2,3,4,5", 2, []string{"Deaths"}},
		{"falling dates", [][]string{s("Visits"), s("A", "@45002", "@45001", "@45000"),
			s("B", "@45012", "@45011", "@45010")}, rows.Options{}, ",,,", 3, []string{"no header"}},
		{"numbers that do not follow each other", [][]string{s("Scores"), s("A", "=1", "=2", "=3", "=4", "=6"),
			s("B", "=1", "=2", "=3", "=4", "=7")}, rows.Options{}, ",,,,,", 3, []string{"no header"}},
		{"a record of few numbers", [][]string{s("Scores"), s("A", "=1", "=2", "=3"), s("B", "=4", "=5", "=6")},
			rows.Options{}, ",,,", 3, []string{"no header"}},
		{"more names below names", [][]string{s("some notes"), s("or", "", "merging", "cells"),
			s("name", "job", "age", "born"), s("Ann", "cook", "=5", "@45000"), s("Bob", "poet", "=6", "@45001"),
			s("Cid", "", "=7")}, rows.Options{},
			"name,job,age,born", 3, []string{"some notes", "or | merging | cells"}},
		{"a record of texts below names", [][]string{s("name", "age", "size"), s("Ann", "old", "tall"),
			s("Bob", "=6", "=7"), s("Cid", "=7", "=8")}, rows.Options{}, "name,age,size", 3, nil},
		{"all text below a title", [][]string{s("Plants"), s("name", "color", "origin"), s("rose", "red", "Asia"),
			s("elm", "green", "Europe")}, rows.Options{}, "name,color,origin", 2, []string{"Plants"}},
		{"a short header is not clear", [][]string{s("name"), s("rose", "red"), s("elm", "green")}, rows.Options{}, ",",
			3, []string{"no row clearly names the columns"}},
		{"a short header above numbers", [][]string{s("name"), s("rose", "=1"), s("elm", "=2")}, rows.Options{}, ",", 3,
			[]string{"no header"}},
		{"equal names below a title", [][]string{s("Prices"), s("id", "n", "n"), s("=1", "=2", "=3"),
			s("=2", "=4", "=5")}, rows.Options{}, "id,n,n", 2, []string{"Prices"}},
		{"equal years below a title",
			[][]string{s("Projection"), s(""), s("Sex", "=2002", "=2003", "", "Sex", "=2002", "=2003"),
				s("m", "=5", "=6", "", "m", "=7", "=8"), s("f", "=5", "=6", "", "f", "=7", "=8")}, rows.Options{},
			"Sex,2002,2003,,Sex,2002,2003", 2, []string{"Projection"}},
		{"equal years below equal years", [][]string{s("Founded"), s("A", "=1990", "A", "=1990"),
			s("B", "=1991", "B", "=1992"), s("C", "=1992", "C", "=1993")}, rows.Options{}, ",,,", 4,
			[]string{"no header"}},
		{"blanks beside titles", [][]string{s("Crime", " ", " "), s("in 2016", " "), s("Area", "Year", "Count"),
			s("A", "=2015", "=5"), s("B", "=2016", "=6")}, rows.Options{}, "Area,Year,Count", 2,
			[]string{"1 (above the table: Crime), 2 (above the table: in 2016)"}},
		{"names of two columns of five", [][]string{s("id", "name"), s("=1", "rose", "a", "b", "c"),
			s("=2", "elm", "d", "e", "f")}, rows.Options{}, "id,name,,,", 2, []string{"little distinguishes"}},
		{"blanks around names", [][]string{s("id ", " name"), s("=1", "rose"), s("=2", "elm")}, rows.Options{},
			"id,name", 2, nil},
		{"one column", [][]string{s("name"), s("rose"), s("elm")}, rows.Options{}, "name", 2,
			[]string{"little distinguishes"}},
		{"numbers alone", [][]string{s("=5", "=2"), s("=3", "=4")}, rows.Options{}, ",", 2,
			[]string{"no header: row 1 has values, not names"}},
		{"one column of numbers", [][]string{s("=1.5"), s("=2.5"), s("=3")}, rows.Options{}, "", 3,
			[]string{"no header: row 1 has values, not names"}},
		{"dates and numbers", [][]string{s("@45000", "=2"), s("@45001", "=4")}, rows.Options{}, ",", 2,
			[]string{"no header: row 1 has values, not names"}},
		{"years alone", [][]string{s("=2019", "=2020"), s("=3", "=4")}, rows.Options{}, "2019,2020", 1, nil},
		{"numbers beside row labels", [][]string{s("", "=0", "=1"), s("=0", "=3", "=4"), s("=1", "=5", "=6")},
			rows.Options{}, ",0,1", 2, nil},
		{"numbers, header present", [][]string{s("=1", "=2"), s("=3", "=4")}, rows.Options{Header: rows.HeaderPresent},
			"1,2", 1, nil},
		{"header present", [][]string{s("Prices"), s("id", "name", "price"), s("=1", "rose", "=2")},
			rows.Options{Header: rows.HeaderPresent}, "Prices,,", 2, nil},
		{"no header", [][]string{s("id", "name"), s("=1", "rose")}, rows.Options{Header: rows.HeaderNone}, ",", 2, nil},
		{"no header, names given", [][]string{s("=1", "rose")},
			rows.Options{Header: rows.HeaderNone, Names: s("id", "name")}, "id,name", 1, nil},
		{"skip", [][]string{s("id", "name"), s("a", "b"), s("=1", "rose")}, rows.Options{Skip: 1}, "a,b", 1, nil},
		{"header row", [][]string{s("x", "y"), s("id", "name"), s("=1", "rose")}, rows.Options{HeaderRows: []int{2}},
			"id,name", 1, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, notes, err := readFile(makeBook(t, sheetXML(c.lines...), dateStyles), c.options)
			if err != nil {
				t.Fatal(err)
			}
			if h := strings.Join(got[0], ","); h != c.header || len(got)-1 != c.records {
				t.Errorf("got header %q and %d records, want %q and %d", h, len(got)-1, c.header, c.records)
			}
			note := strings.Join(notes, "\n")
			for _, want := range c.skipped {
				if !strings.Contains(note, want) {
					t.Errorf("no note about %q: %q", want, note)
				}
			}
			if c.skipped == nil && strings.Contains(note, "header: ") {
				t.Errorf("unexpected note %q", note)
			}
		})
	}
}

// TestReader_Layout reads sheets with typical layouts, and again with the detected options.
func TestReader_Layout(t *testing.T) {
	t.Parallel()
	s := func(cells ...string) []string { return cells }
	for _, c := range []struct {
		name   string
		lines  [][]string
		merges []string
		want   string // the header and the records
		note   string // empty: none
	}{
		{"merged groups", [][]string{s("id", "Size", "", "Price"), s("", "w", "h", "net"), s("a", "=1", "=2", "=3"),
			s("b", "=4", "=5", "=6")}, s("A1:A2", "B1:C1"),
			"id,Size w,Size h,Price net a,1,2,3 b,4,5,6", "rows 1 and 2 name the columns together; set header=2"},
		{"merged groups below titles", [][]string{s("Prices"), s("of 2024"), s("", "Size", ""), s("id", "w", "h"),
			s("a", "=1", "=2"), s("b", "=4", "=5")}, s("A1:C1", "B3:C3"),
			"id,Size w,Size h a,1,2 b,4,5",
			"left out: 2 rows: 1 (above the table: Prices), 2 (above the table: of 2024)"},
		{"a narrow row of groups", [][]string{s("T"), s("id", "n", "Limit", "", "", ""), s("", "", "a", "b", "c", "d"),
			s("x", "=1", "=2", "=3", "=4", "=5"), s("y", "=1", "=2", "=3", "=4", "=5")}, s("A2:A3", "B2:B3", "C2:F2"),
			"id,n,Limit a,Limit b,Limit c,Limit d x,1,2,3,4,5 y,1,2,3,4,5", "rows 2 and 3 name the columns together"},
		{"groups without merged cells",
			[][]string{s("", "Boys", "", "Girls", ""), s("id", "=2019", "=2020", "=2019", "=2020"),
				s("a", "=1", "=2", "=3", "=4")}, nil,
			"id,Boys 2019,Boys 2020,Girls 2019,Girls 2020 a,1,2,3,4", "rows 1 and 2 name the columns together"},
		{"groups of groups", [][]string{s("Report"), s("id", "Body", "", "", "Price", ""),
			s("", "Size", "", "Mass", "net", "gross"), s("", "w", "h"), s("a", "=1", "=2", "=3", "=4", "=5"),
			s("b", "=1", "=2", "=3", "=4", "=5")},
			s("A1:F1", "A2:A4", "B2:D2", "E2:F2", "B3:C3", "D3:D4", "E3:E4", "F3:F4"),
			"id,Body Size w,Body Size h,Body Mass,Price net,Price gross a,1,2,3,4,5 b,1,2,3,4,5",
			"rows 2, 3 and 4 name the columns together; set header=4"},
		{"groups repeated", [][]string{s("id", "Size", ""), s("", "w", "h"), s("a", "=1", "=2"), s("id", "Size"),
			s("", "w", "h"), s("b", "=4", "=5")}, s("A1:A2", "B1:C1"),
			"id,Size w,Size h a,1,2 b,4,5",
			"left out: 2 rows: 4 (repeats the header: id | Size), 5 (repeats the header: w | h)"},
		{"a merged title beside the first column", [][]string{s("", "Pupils"), s("", "Boys", "", "Girls", ""),
			s("id", "=2019", "=2020", "=2019", "=2020"), s("a", "=1", "=2", "=3", "=4")}, s("B1:E1", "B2:C2", "D2:E2"),
			"id,Boys 2019,Boys 2020,Girls 2019,Girls 2020 a,1,2,3,4", "rows 2 and 3 name the columns together"},
		{"a merged title", [][]string{s("Prices"), s("id", "w", "h"), s("a", "=1", "=2"), s("b", "=4", "=5")},
			s("A1:C1"), "id,w,h a,1,2 b,4,5", "header: row 2 names the columns"},
		{"merged titles above two columns of text", [][]string{s("Plants"), s("of the garden"), s("name", "color"),
			s("rose", "red"), s("elm", "green")}, s("A1:B1", "A2:B2"), "name,color rose,red elm,green",
			"1 (above the table: Plants), 2 (above the table: of the garden)"},
		{"merged groups beside columns without a name", [][]string{s("Week", "", "Deaths"), s("", "", "men", "women"),
			s("=1", "@45000", "=2", "=3"), s("=2", "@45007", "=4", "=5")}, s("A1:B2", "C1:D1"),
			"Week,,Deaths men,Deaths women 1,45000,2,3 2,45007,4,5", "rows 1 and 2 name the columns together"},
		{"units", [][]string{s("id", "mass"), s("", "kg"), s("a", "=1"), s("b", "=2")}, nil, "id,mass kg a,1 b,2",
			"header: rows 1 and 2 name the columns together; set header=2 if only the last one does"},
		{"footnotes", [][]string{s("", "n"), s("=2001", "=1"), s("=2002", "=2"), s(""), s("provisional"),
			s("Source: x")}, nil, ",n 2001,1 2002,2",
			"left out: 2 rows: 5 (footnote: provisional), 6 (footnote: Source: x); set header=none to keep all, or " +
				"header=1 to keep those below it"},
		{"repeated header below a title", [][]string{s("T"), s("id", "n"), s("a", "=1"), s("id", "n"), s("b", "=2")},
			nil, "id,n a,1 b,2", "4 (repeats the header: id | n)"},
		{"a plain table", [][]string{s("id", "n"), s("a", "=1"), s("b", "=2"), s("c", "")}, nil, "id,n a,1 b,2 c", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			merges := ""
			for _, m := range c.merges {
				merges += `<mergeCell ref="` + m + `"/>`
			}
			book := makeBook(t, "", map[string]string{"xl/worksheets/sheet1.xml": `<worksheet><sheetData>` +
				sheetXML(c.lines...) + `</sheetData><mergeCells>` + merges + `</mergeCells></worksheet>`})
			r, err := openFile(book, rows.Options{})
			for err == nil {
				_, err = r.Next()
			}
			if err != io.EOF {
				t.Fatal(err)
			}
			for _, o := range []rows.Options{{}, r.Options()} {
				got, notes, err := readFile(book, o)
				var lines []string
				for _, line := range got {
					lines = append(lines, strings.Join(line, ","))
				}
				if all := strings.Join(lines, " "); all != c.want || err != nil {
					t.Errorf("with %+v: got %q, error %v; want %q", o, all, err, c.want)
				}
				if note := strings.Join(notes, "\n"); o.Table == "" &&
					((note == "") != (c.note == "") || !strings.Contains(note, c.note)) {
					t.Errorf("got note %q, want %q", note, c.note)
				}
			}
		})
	}
}

func TestReader_RightOfHeader(t *testing.T) {
	t.Parallel()
	got, notes, err := readFile(
		makeBook(t, sheetXML([]string{"a", "b"}, []string{"=4"}, []string{"", "", "", "", "=5"}), nil), rows.Options{})
	if diff := cmp.Diff([][]string{{"a", "b", "", "", ""}, {"4"}, {"", "", "", "", "5"}}, got); diff != "" ||
		err != nil {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
	if len(notes) != 1 || !strings.Contains(notes[0], "E3") {
		t.Errorf("got notes %q", notes)
	}
}

func TestReader_DeclaredTypes(t *testing.T) {
	t.Parallel()
	row := func(cells string) string { return "<row>" + cells + "</row>" }
	text := `<c t="inlineStr"><is><t>1</t></is></c>`
	for _, c := range []struct {
		name, first, second string
		want                herb.Type
	}{
		{"numbers", `<c><v>1</v></c>`, `<c><v>2.5E3</v></c>`, herb.TypeNumber},
		{"numbers and a missing one", `<c><v>1</v></c>`, `<c t="e"><v>#N/A</v></c>`, herb.TypeNumber},
		{"numbers and an empty cell", `<c><v>1</v></c>`, `<c/><c><v>1</v></c>`, herb.TypeNumber},
		{"a number and an error", `<c><v>1</v></c>`, `<c t="e"><v>#DIV/0!</v></c>`, herb.TypeNumber},
		{"a number and text", `<c><v>1</v></c>`, text, ""},
		{"text", text, text, ""},
		{"dates", `<c s="1"><v>45351</v></c>`, `<c s="1"><v>45352</v></c>`, herb.TypeDate},
		{"timestamps", `<c s="2"><v>45351</v></c>`, `<c s="2"><v>45352.5</v></c>`, "datetime"},
		{"a date and a timestamp", `<c s="1"><v>45351</v></c>`, `<c s="2"><v>45352</v></c>`, ""},
		{"a date that did not exist", `<c s="1"><v>60</v></c>`, `<c s="1"><v>61</v></c>`, ""},
		{"times of day", `<c s="4"><v>0.5</v></c>`, `<c s="4"><v>0.25</v></c>`, herb.TypeTime},
		{"hours in brackets", `<c s="5"><v>0.5</v></c>`, `<c s="5"><v>1.25</v></c>`, herb.TypeDuration},
		{"times of day and hours in brackets", `<c s="4"><v>0.5</v></c>`, `<c s="5"><v>1.25</v></c>`,
			herb.TypeDuration},
		{"a time of day and text", `<c s="4"><v>0.5</v></c>`, text, ""},
		{"codes", `<c s="3"><v>94110</v></c>`, `<c s="3"><v>42</v></c>`, herb.TypeText},
		{"booleans", `<c t="b"><v>1</v></c>`, `<c t="b"><v>0</v></c>`, "boolean"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := makeBook(t, sheetXML([]string{"a", "b"})+row(c.first)+row(c.second), dateStyles)
			got, err := rowstest.Read(t.Context(), Format(), rowstest.File(b), rows.Options{}, rows.Limits{})
			if err != nil || got.Columns[0].Type != c.want {
				t.Errorf("got %v, error %v, want %q", got.Columns, err, c.want)
			}
		})
	}
}

// bookOf returns a workbook of sheets, each from its own part.
func bookOf(t testing.TB, sheets ...string) []byte {
	t.Helper()
	parts := map[string]string{}
	var list, relations strings.Builder
	for i, content := range sheets {
		fmt.Fprintf(&list, `<sheet name="Sheet %d" r:id="r%d"/>`, i+1, i+1)
		fmt.Fprintf(&relations, `<Relationship Id="r%d" Type="http://x/worksheet" Target="s%d.xml"/>`, i+1, i+1)
		parts[fmt.Sprintf("xl/s%d.xml", i+1)] = "<worksheet><sheetData>" + content + "</sheetData></worksheet>"
	}
	parts["xl/workbook.xml"] = `<workbook xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets>` + list.String() + `</sheets></workbook>`
	parts["xl/_rels/workbook.xml.rels"] = `<Relationships>` + relations.String() + `</Relationships>`
	return makeBook(t, "", parts)
}

func tablesOf(b []byte) ([]rows.Table, error) {
	ctx := context.Background()
	return Format().Tables(ctx, rowstest.File(b), rows.Options{}, rows.NewBudget(ctx, int64(len(b)), rows.Limits{}))
}

func TestTables(t *testing.T) {
	t.Parallel()
	table := sheetXML([]string{"id", "name"}, []string{"=1", "rose"})
	for _, c := range []struct {
		name   string
		sheets []string
		want   []string
	}{
		{"a note, tables and an empty sheet", []string{sheetXML([]string{"Notes"}, []string{"Read this first."}), table,
			"", table}, []string{"Sheet 2", "Sheet 4"}},
		{"one column of numbers",
			[]string{table, sheetXML([]string{"n"}, []string{"=1"}, []string{"=2"}, []string{"=3"})},
			[]string{"Sheet 1", "Sheet 2"}},
		{"nothing but text in one column", []string{"", sheetXML([]string{"name"}, []string{"rose"})},
			[]string{"Sheet 2"}},
		{"a header alone", []string{sheetXML([]string{"id", "name"})}, []string{"Sheet 1"}},
		{"nothing", []string{"", ""}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := tablesOf(bookOf(t, c.sheets...))
			if diff := cmp.Diff(c.want, rows.Published(got)); diff != "" || err != nil {
				t.Errorf("error %v (-want +got):\n%s", err, diff)
			}
		})
	}
	got, notes, err := readFile(bookOf(t, sheetXML([]string{"Read this first."}), table, table), rows.Options{})
	if err != nil || got[0][0] != "id" || len(notes) != 1 ||
		!strings.Contains(notes[0], `"Sheet 1" (not a table), "Sheet 3"`) {
		t.Errorf("got %v, notes %q, error %v", got, notes, err)
	}
}

// TestTables_Many reads a workbook with very many sheets and relations, which share a part.
func TestTables_Many(t *testing.T) {
	t.Parallel()
	const count = 20_000
	var list, relations strings.Builder
	for i := range count {
		fmt.Fprintf(&list, `<sheet name="%d" r:id="r%d"/>`, i, i)
		fmt.Fprintf(&relations, `<Relationship Id="r%d" Type="http://x/worksheet" Target="worksheets/sheet1.xml"/>`, i)
	}
	b := makeBook(t, sheetXML([]string{"id", "name"}, []string{"=1", "rose"}), map[string]string{
		"xl/workbook.xml":            `<workbook xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets>` + list.String() + `</sheets></workbook>`,
		"xl/_rels/workbook.xml.rels": `<Relationships>` + relations.String() + `</Relationships>`,
	})
	if got, err := tablesOf(b); len(got) != count || err != nil {
		t.Errorf("got %d tables, error %v", len(got), err)
	}
}

// TestReader_Backslashes reads a zip file whose names have backslashes.
func TestReader_Backslashes(t *testing.T) {
	t.Parallel()
	b := makeBook(t, sheetXML([]string{"id", "name"}, []string{"=1", "rose"}), nil)
	for _, name := range []string{"_rels/.rels", "xl/workbook.xml", "xl/_rels/workbook.xml.rels",
		"xl/worksheets/sheet1.xml"} {
		b = bytes.ReplaceAll(b, []byte(name), []byte(strings.ReplaceAll(name, "/", `\`)))
	}
	got, _, err := readFile(b, rows.Options{})
	if diff := cmp.Diff([][]string{{"id", "name"}, {"1", "rose"}}, got); diff != "" || err != nil {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
}

// TestReader_SharedString reads cells that refer to one long string. Memory must not grow with the
// number of cells.
func TestReader_SharedString(t *testing.T) {
	long := strings.Repeat("x", 4<<20)
	cell := `<c t="s"><v>0</v></c>`
	for _, c := range []struct {
		name, sheet string
	}{
		{"in one row", "<row>" + strings.Repeat(cell, 100) + "</row>"},
		{"in 100 rows", strings.Repeat("<row>"+cell+"</row>", 100)},
	} {
		b := makeBook(t, header+c.sheet,
			map[string]string{"xl/sharedStrings.xml": `<sst><si><t>` + long + `</t></si></sst>`})
		var err error
		used := rowstest.Allocated(func() {
			var r rows.Rows
			for r, err = openFile(b, rows.Options{}); err == nil; _, err = r.Next() {
			}
		})
		if herb.CodeOf(err) != herb.CodeInvalid {
			t.Errorf("%s: got error %v", c.name, err)
		}
		if used > 100<<20 {
			t.Errorf("%s: a workbook of %d bytes allocates %d", c.name, len(b), used)
		}
	}
}

func TestReader_Canceled(t *testing.T) {
	t.Parallel()
	b := makeBook(t, header+strings.Repeat("<row><c><v>1</v></c></row>", 20_000), nil)
	ctx, cancel := context.WithCancel(t.Context())
	r, err := Format().Open(ctx, rowstest.File(b), rows.Options{}, rows.NewBudget(ctx, int64(len(b)), rows.Limits{}))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cancel()
	for err == nil {
		_, err = r.Next()
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v", err)
	}
}

func TestFormat_Matches(t *testing.T) {
	t.Parallel()
	entry := "PK\x03\x04" + strings.Repeat("\x00", 26)
	for head, want := range map[string]bool{
		entry + "[Content_Types].xml": true, entry + "xl/workbook.xml": true, entry + `_rels\.rels`: true,
		entry + "table.csv": false, entry + "xlarge.csv": false, entry: false, "PK\x03\x04": false, "id,name": false,
	} {
		if got := Format().Matches([]byte(head)); got != want {
			t.Errorf("%q: got %t", head, got)
		}
	}
	if !Format().Matches(smallBook(t)) {
		t.Error("a workbook does not match")
	}
}

// failingFile fails after the directory has been read.
type failingFile struct {
	rowstest.File
	reads *int
}

func (f failingFile) Random() (*io.SectionReader, error) {
	return io.NewSectionReader(f, 0, f.Size()), nil
}

func (f failingFile) ReadAt(p []byte, off int64) (int, error) {
	*f.reads++
	if *f.reads > 8 {
		return 0, io.ErrClosedPipe
	}
	return bytes.NewReader(f.File).ReadAt(p, off)
}

// TestReader_ReadError returns an error that has an error of the disk as its cause.
func TestReader_ReadError(t *testing.T) {
	t.Parallel()
	f := failingFile{smallBook(t), new(int)}
	r, err := Format().Open(t.Context(), f, rows.Options{}, rows.NewBudget(t.Context(), f.Size(), rows.Limits{}))
	for err == nil {
		_, err = r.Next()
	}
	if !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got error %v after %d reads", err, *f.reads)
	}
}
