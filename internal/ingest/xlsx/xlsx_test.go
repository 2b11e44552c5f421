package xlsx

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/rowstest"
)

// mustSave returns the bytes of a workbook made with another library.
func mustSave(t testing.TB, f *excelize.File) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := errors.Join(f.Write(&b), f.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestReader_Excelize reads a workbook that another library has written.
func TestReader_Excelize(t *testing.T) {
	t.Parallel()
	f := excelize.NewFile()
	style := func(code string, id int) int {
		s := &excelize.Style{NumFmt: id}
		if code != "" {
			s.CustomNumFmt = &code
		}
		n, err := f.NewStyle(s)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	day := time.Date(2024, 2, 29, 13, 45, 0, 0, time.UTC)
	cells := []struct {
		value any
		style int
		want  string
	}{
		{"rose", 0, "rose"},
		{"  two  blanks\nand a line ", 0, "  two  blanks\nand a line "},
		{"<&> \"Ä\" 😀", 0, "<&> \"Ä\" 😀"},
		{"0042", 0, "0042"},
		{42, 0, "42"},
		{-1.5, 0, "-1.5"},
		{0.1, 0, "0.1"},
		{1.1, 0, "1.1"},
		{0.30000000000000004, 0, "0.30000000000000004"},
		{1e21, 0, "1000000000000000000000"},
		{1e-7, 0, "0.0000001"},
		{int64(9007199254740993), 0, "9007199254740993"},
		{true, 0, "true"},
		{false, 0, "false"},
		{day, style("", 14), "2024-02-29T13:45:00"}, // the format shows no time, but there is one
		{45351, style("", 14), "2024-02-29"},
		{45351.572916666664, style("", 22), "2024-02-29T13:45:00"},
		{45351, style("", 22), "2024-02-29T00:00:00"},
		{0.572916666666667, style("", 20), "13:45:00"},
		{0.5729282407, style("h:mm:ss.000", 0), "13:45:01"},
		{0.57292829, style("h:mm:ss.000", 0), "13:45:01.004"},
		{1.5, style("", 46), "36:00:00"},
		{45351, style(`dd\.mm\.yyyy;@`, 0), "2024-02-29"},
		{45351, style(`[$-409]d\-mmm\-yy`, 0), "2024-02-29"},
		{45351, style(`yyyy"年"m"月"d"日"`, 0), "2024-02-29"},
		{45351, style("mmm", 0), "2024-02-29"},
		{0.25, style("", 10), "0.25"}, // percent
		{1234.5, style(`#,##0.00 "dollars and days"`, 0), "1234.5"},
		{1234.5, style("[Red]0.00E+00", 0), "1234.5"},
		{42, style("00000", 0), "00042"},
		{123456, style("00000", 0), "123456"},
		{42.5, style("00000", 0), "42.5"},
		{42, style("", 1), "42"},
		{60, style("", 14), "1900-02-29"},
		{59, style("", 14), "1900-02-28"},
		{61, style("", 14), "1900-03-01"},
		{-1, style("", 14), "-1"},
		{2958465, style("", 14), "9999-12-31"},
		{2958466, style("", 14), "2958466"},
	}
	sheet := f.GetSheetName(0)
	if err := f.SetSheetRow(sheet, "A1", &[]any{"n", "value"}); err != nil {
		t.Fatal(err)
	}
	want := [][]string{{"n", "value"}}
	for i, c := range cells {
		a, b := fmt.Sprint("A", i+2), fmt.Sprint("B", i+2)
		err := errors.Join(f.SetCellValue(sheet, a, i), f.SetCellValue(sheet, b, c.value))
		if c.style != 0 {
			err = errors.Join(err, f.SetCellStyle(sheet, b, b, c.style))
		}
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, []string{fmt.Sprint(i), c.want})
	}
	got, notes, err := readFile(mustSave(t, f), rows.Options{})
	if diff := cmp.Diff(want, got); diff != "" || err != nil || len(notes) > 0 {
		t.Errorf("error %v, notes %q (-want +got):\n%s", err, notes, diff)
	}
}

// makeBook returns a workbook: the content of its first sheet, and parts that replace or extend the
// usual ones.
func makeBook(t testing.TB, sheet string, parts map[string]string) []byte {
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
		"xl/worksheets/sheet1.xml": `<?xml version="1.0" encoding="UTF-8"?><worksheet><sheetData>` + sheet +
			`</sheetData></worksheet>`,
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

func TestReader_ByHand(t *testing.T) {
	t.Parallel()
	texts := map[string]string{"xl/sharedStrings.xml": `<sst><si><t>plain</t></si>` +
		`<si><r><t xml:space="preserve">rich </t></r><r><rPr><b/></rPr><t>text</t></r></si>` +
		`<si><t>課</t><rPh sb="0" eb="1"><t>カ</t></rPh></si><si/><si><t>a_x000D_b_x005F_x000D_ _xD83D__xDE00_ _xD83D_</t></si></sst>`}
	styles := map[string]string{
		"xl/styles.xml": `<styleSheet><numFmts><numFmt numFmtId="165" formatCode="yyyy-mm-dd"/></numFmts>` +
			`<cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="165"/></cellXfs></styleSheet>`,
		"xl/workbook.xml": `<workbook xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><workbookPr date1904="1"/><sheets><sheet name="One" r:id="rId1"/></sheets></workbook>`,
	}
	for _, c := range []struct {
		name, sheet string
		parts       map[string]string
		options     rows.Options
		want        [][]string
		notes       []string
	}{
		{
			"shared texts", header +
				`<row><c t="s"><v>0</v></c><c t="s"><v>1</v></c></row><row><c t="s"><v>2</v></c><c t="s"><v>3</v></c></row>` +
				`<row><c t="s"><v>4</v></c></row>`,
			texts, rows.Options{},
			[][]string{{"a", "b"}, {"plain", "rich text"}, {"課"}, {"a\rb_x000D_ 😀 _xD83D_"}}, nil,
		}, {
			"numbers keep their digits", header + `<row><c><v>1.50</v></c><c><v>12345678901234567890</v></c></row>` +
				`<row><c><v>1E-3</v></c><c><v>-2.5e+3</v></c></row><row><c><v>1.1000000000000001</v></c><c><v> 7 </v></c></row>` +
				`<row><c><v>.5</v></c><c><v>5.</v></c></row><row><c><v>12345678901234567</v></c><c><v>1E999</v></c></row>` +
				`<row><c><v>0.1234567890123456E2</v></c><c><v>1.2E1</v></c></row>`,
			nil, rows.Options{},
			[][]string{
				{"a", "b"}, {"1.50", "12345678901234567890"}, {"0.001", "-2500"}, {"1.1", "7"}, {"0.5", "5"},
				{"12345678901234567", "1E999"},
				{"12.34567890123456", "12"},
			}, nil,
		}, {
			"kinds", header + `<row><c t="b"><v>1</v></c><c t="e"><v>#N/A</v></c></row><row><c t="str"><f>A1</f><v>x_x000A_y</v></c><c t="d"><v>2024-02-29</v></c></row>` +
				`<row><c><f>1+1</f><v>2</v></c><c><f>1/0</f></c></row>`,
			nil, rows.Options{},
			[][]string{{"a", "b"}, {"true", "#N/A"}, {"x\ny", "2024-02-29"}, {"2"}},
			[]string{`sheet "One": 1 formulas have no stored result and are published as empty; open the workbook in a spreadsheet program and save it`},
		}, {
			"dates from 1904", header +
				`<row><c s="1"><v>0</v></c><c s="1"><v>43889</v></c></row><row><c s="0"><v>43889</v></c><c s="9"><v>1</v></c></row>`,
			styles, rows.Options{},
			[][]string{{"a", "b"}, {"1904-01-01", "2024-02-29"}, {"43889", "1"}}, nil,
		}, {
			"gaps", `<row r="3"/><row r="4">` +
				`<c r="B4"><v>2</v></c></row><row r="7" spans="1:3"><c r="A7" s="1"/><c r="D7"><v>1</v></c></row>` +
				`<row r="9"><c r="B9" t="inlineStr"><is><t/></is></c></row><row r="10"><c r="C10"><v>3</v></c><c r="A10"><v>1</v></c></row>`,
			nil, rows.Options{},
			[][]string{{"", "", "", ""}, {"", "2"}, {"", "", "", "1"}, {"1", "", "3"}},
			[]string{"no header: no row clearly names the columns; set header=N if row N names the columns"},
		}, {
			"prefixes and comments", "", map[string]string{
				"xl/worksheets/sheet1.xml": `<x:worksheet xmlns:x="x" xmlns:y="x"><x:sheetData><x:row><y:c t="inlineStr"><x:is><x:t>a<!-- no -->` +
					`<![CDATA[<b>]]>&amp;</x:t></x:is></y:c></x:row></x:sheetData></x:worksheet>`,
			}, rows.Options{}, [][]string{{"a<b>&"}}, nil,
		}, {
			"no header", header, nil, rows.Options{Header: rows.HeaderNone}, [][]string{{"", ""}, {"a", "b"}}, nil,
		}, {
			"two rows of header below a title", `<row r="1"><c><v>2024</v></c></row>` +
				strings.ReplaceAll(header, `1"`, `3"`) +
				`<row r="5"><c r="A5"><v>1</v></c><c r="C5"><v>3</v></c></row><row r="6"><c r="A6"><v>9</v></c></row>`,
			nil, rows.Options{HeaderRows: []int{3, 5}, HeaderJoin: "/"}, [][]string{{"a/1", "b", "3"}, {"9"}}, nil,
		}, {
			"rows that are no records", header + `<row r="2"><c><v>1</v></c></row><row r="3"><c><v>2</v></c></row>`,
			nil, rows.Options{CommentRows: []int{2}}, [][]string{{"a", "b"}, {"2"}}, nil,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, notes, err := readFile(makeBook(t, c.sheet, c.parts), c.options)
			if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
				t.Errorf("error %v (-want +got):\n%s", err, diff)
			}
			if diff := cmp.Diff(c.notes, notes); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReader_Sheets(t *testing.T) {
	t.Parallel()
	sheet := func(value string) string {
		return `<worksheet><sheetData><row><c t="inlineStr"><is><t>` + value +
			`</t></is></c></row></sheetData></worksheet>`
	}
	b := makeBook(t, "", map[string]string{
		"xl/workbook.xml": `<workbook xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="Chart" r:id="rId4"/><sheet name="Hidden" state="hidden" r:id="rId3"/>` +
			`<sheet name="Empty" r:id="rId1"/><sheet name="Prices 2024" r:id="rId2"/></sheets></workbook>`,
		"xl/worksheets/sheet2.xml": sheet("two"),
		"xl/worksheets/sheet3.xml": sheet("three"),
	})
	const others = `only the sheet "Prices 2024" is published; add # and a name to the file to publish another: "Hidden" (hidden), "Empty" (empty)`
	for _, c := range []struct {
		name    string
		options rows.Options
		want    string // the header, or the error
		notes   []string
	}{
		{"the first with content", rows.Options{}, "two", []string{others}},
		{"by name", rows.Options{Table: "Prices 2024"}, "two", nil},
		{"by name in another case", rows.Options{Table: "prices 2024"}, "two", nil},
		{"a hidden one", rows.Options{Table: "Hidden"}, "three", nil},
		{"by number", rows.Options{TableNo: 1}, "three", nil},
		{"unknown", rows.Options{Table: "Prices 2023"},
			`no such sheet "Prices 2023"; did you mean "Prices 2024"? sheets: Hidden, Empty, Prices 2024`, nil},
		{"unknown number", rows.Options{TableNo: 4}, `no such sheet number 4; sheets: Hidden, Empty, Prices 2024`, nil},
		{"empty", rows.Options{Table: "Empty"},
			`sheet "Empty" is empty; write the names of the columns in its first row`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			out, notes, err := readFile(b, c.options)
			got := ""
			if err != nil {
				got = err.Error()
			} else {
				got = strings.Join(out[0], ",")
			}
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if diff := cmp.Diff(c.notes, notes); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
		})
	}
}

// packed returns a workbook with an already compressed sheet and its declared size.
func packed(t *testing.T, sheet []byte, size uint64) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, content := range map[string]string{
		"xl/workbook.xml":            `<workbook xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="One" r:id="rId1"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels": `<Relationships><Relationship Id="rId1" Type="http://x/worksheet" Target="s.xml"/></Relationships>`,
	} {
		p, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(p, content); err != nil {
			t.Fatal(err)
		}
	}
	p, err := w.CreateRaw(&zip.FileHeader{
		Name: "xl/s.xml", Method: zip.Deflate, CompressedSize64: uint64(len(sheet)), UncompressedSize64: size,
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Write(sheet); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// endless returns a compressed sheet with one cell of some megabytes.
func endless(t *testing.T, megabytes int) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(w, "<worksheet><sheetData><row><c><v>")
	block := bytes.Repeat([]byte("0"), 1<<20)
	for range megabytes {
		if _, err := w.Write(block); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestReader_rejected(t *testing.T) {
	t.Parallel()
	blank := strings.Repeat(strings.Repeat(" ", 17<<20)+"<a/>", 2)
	bad := func(sheet string) string { return string(makeBook(t, header+sheet, nil)) }
	damagedSheet := makeBook(t, header, nil)
	// its checksum in the list of parts
	i := bytes.LastIndex(damagedSheet, []byte("xl/worksheets/sheet1.xml")) - 46 + 16
	damagedSheet[i]++
	for _, c := range []struct{ name, file, want string }{
		{"nothing", "", "empty"},
		{"text", "id,name\n", "not a workbook"},
		{"cut off", string(makeBook(t, header, nil)[:300]), "the workbook is damaged"},
		{"no workbook", string(makeBook(t, "",
			map[string]string{"_rels/.rels": `<Relationships><Relationship Type="x/officeDocument" Target="a.xml"/></Relationships>`})), "a.xml"},
		{"binary workbook", string(
			makeBook(t, "", map[string]string{
				"_rels/.rels": `<Relationships><Relationship Type="x/officeDocument" Target="xl/workbook.bin"/></Relationships>`})), ".xlsb"},
		{"no such sheet", string(
			makeBook(t, "", map[string]string{
				"xl/workbook.xml": `<workbook xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships">` +
					`<sheets><sheet name="Two" r:id="rId2"/></sheets></workbook>`})),
			"no part xl/worksheets/sheet2.xml"},
		{"no such text", bad(`<row r="2"><c t="s"><v>1</v></c></row>`),
			`sheet "One", row 2: a cell refers to a shared string`},
		{"no such cell", bad(`<row r="2"><c r="2"><v>1</v></c></row>`), `sheet "One", row 2: invalid cell "2"`},
		{"no such row", bad(`<row r="two"/>`), `sheet "One": invalid row number "two"`},
		{"too far right", bad(`<row r="2"><c r="NTQ2"><v>1</v></c></row>`),
			`sheet "One", row 2: there are more than 10000 columns`},
		{"broken XML", bad(`<row r="2"><c`), "xl/worksheets/sheet1.xml"},
		{"an entity", bad(`<row><c><v>&boom;</v></c></row>`), `&boom;`},
		{"wrong checksum", string(damagedSheet), "xl/worksheets/sheet1.xml"},
		{"cut inside", string(makeBook(t, "", map[string]string{"xl/worksheets/sheet1.xml": "<worksheet><sheetData>" +
			header})), "unexpected EOF"},
		{"a text without end", packed(t, endless(t, 60), 60<<20+33), "longer than 8 MiB"},
		{"more than it says", packed(t, endless(t, 3), 1<<20), "xl/s.xml"},
		{"a zip bomb", packed(t, make([]byte, 64<<10), 300<<20), "more than 67108864 unpacked bytes"},
		{"rows without end", bad(strings.Repeat("<row/>", 2<<20)), "more than 1048576 elements"},
		{"number formats without end", string(makeBook(t, header, map[string]string{
			"xl/styles.xml": "<styleSheet><numFmts>" + strings.Repeat("<numFmt/>", 1<<16+1) + "</numFmts></styleSheet>",
		})), "more than 65536 number formats"},
		{"cell formats without end", string(makeBook(t, header, map[string]string{
			"xl/styles.xml": "<styleSheet><cellXfs>" + strings.Repeat("<xf/>", 1<<16+1) + "</cellXfs></styleSheet>",
		})), "more than 65536 number formats or cell formats"},
		{"comments without end", bad(strings.Repeat("<!---->", 2<<20)), "more than 1048576 elements"},
		{"attributes without end", bad(strings.Repeat(`<row a="" b="" c="" d="" e="" f="" g=""/>`, 1<<18)),
			"more than 1048576 elements"},
		{"parts that are too large together", string(makeBook(t, "", map[string]string{
			"xl/sharedStrings.xml":     "<sst>" + blank + "</sst>",
			"xl/worksheets/sheet1.xml": "<worksheet>" + blank + "</worksheet>",
		})), "more than 67108864 unpacked bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, _, err := readFile([]byte(c.file), rows.Options{})
			if herb.CodeOf(err) != herb.CodeInvalid || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want one with %q", err, c.want)
			}
		})
	}
}

// TestReader_ManyTexts reads more text than is kept in memory.
func TestReader_ManyTexts(t *testing.T) {
	t.Parallel()
	const texts = 40_000
	value := func(i int) string { return fmt.Sprintf("%d %s", i, strings.Repeat("x", i%1500)) }
	var sst, sheet strings.Builder
	sst.WriteString("<sst>")
	sheet.WriteString(header)
	for i := range texts {
		fmt.Fprintf(&sst, "<si><t>%s</t></si>", value(i))
		fmt.Fprintf(&sheet, `<row><c t="s"><v>%d</v></c><c t="s"><v>%d</v></c></row>`, i, (i*7919)%texts)
	}
	sst.WriteString("</sst>")
	b := makeBook(t, sheet.String(), map[string]string{"xl/sharedStrings.xml": sst.String()})
	x, err := openFile(b, rows.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	for i := range texts {
		cells, err := x.Next()
		if err != nil || string(cells[0]) != value(i) || string(cells[1]) != value((i*7919)%texts) {
			t.Fatalf("row %d: error %v, got %.50s and %.50s", i, err, cells[0], cells[1])
		}
	}
}

func TestParseStyle(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]style{
		"General": {}, "0": {}, "0.00": {}, "#,##0": {}, "@": {}, "000": {zeros: 3}, "00.00": {}, `0.0 "days"`: {},
		`0\d`: {}, "0_d": {},
		"[Red]0;[Blue]-0": {}, "0.00E+00": {}, "##0.0e-0": {}, `"m"0`: {}, "[$€-407]0": {}, "General;yyyy": {},
		"yyyy": {date: true}, "m/d/yy": {date: true}, "M": {date: true}, "mmmm": {date: true},
		"[$-411]ge.m.d": {date: true}, "[DBNum1]yyyy": {date: true},
		"mm:ss": {time: true}, "h:mm": {time: true}, "h AM/PM": {time: true}, "h:mm A/P": {time: true},
		"[h]:mm":  {time: true, elapsed: true},
		"[mm]:ss": {time: true, elapsed: true}, "d/m/yyyy h:mm": {date: true, time: true},
		"mmm h": {date: true, time: true},
		`"`:     {}, `\`: {}, "[": {}, "": {}, "[h": {time: true, elapsed: true},
	} {
		if got := parseStyle(code); got != want {
			t.Errorf("%s: got %+v, want %+v", code, got, want)
		}
	}
}

// TestReader_Damaged cuts a workbook at every length and changes each of its bytes.
func TestReader_Damaged(t *testing.T) {
	t.Parallel()
	whole := smallBook(t)
	for n := range whole {
		if _, _, err := readFile(whole[:n], rows.Options{}); herb.CodeOf(err) != herb.CodeInvalid {
			t.Fatalf("cut to %d bytes: %v", n, err)
		}
		changed := bytes.Clone(whole)
		changed[n] ^= 1 << (n % 8)
		if _, _, err := readFile(changed, rows.Options{}); err != nil && herb.CodeOf(err) != herb.CodeInvalid {
			t.Fatalf("byte %d changed: %v", n, err)
		}
	}
}

// smallBook returns a small workbook with cells of all kinds.
func smallBook(t testing.TB) []byte {
	return makeBook(t, header+
		`<row><c t="s"><v>0</v></c><c s="1"><v>45351.5</v></c></row><row><c><v>1E-3</v></c><c t="b"><v>1</v></c></row>`,
		map[string]string{
			"xl/sharedStrings.xml": `<sst><si><r><t>a</t></r><r><t>_x000D_</t></r></si></sst>`,
			"xl/styles.xml":        `<styleSheet><cellXfs><xf numFmtId="0"/><xf numFmtId="22"/></cellXfs></styleSheet>`,
		})
}

func FuzzReader(f *testing.F) {
	f.Add(header, `<sst><si><t>a</t></si></sst>`,
		`<styleSheet><numFmts><numFmt numFmtId="165" formatCode="[h]"/></numFmts><cellXfs><xf numFmtId="165"/></cellXfs></styleSheet>`)
	f.Add(`<row r="9"><c r="AB9" t="s"><v>0</v></c><c s="0"><v>1e5</v></c></row>`,
		`<sst><si><r><t>_x000D_</t></r></si></sst>`, ``)
	f.Fuzz(func(t *testing.T, sheet, texts, styles string) {
		b := makeBook(t, sheet, map[string]string{"xl/sharedStrings.xml": texts, "xl/styles.xml": styles})
		checkBounded(t, b)
	})
}

// FuzzFile changes the file itself.
func FuzzFile(f *testing.F) {
	f.Add(smallBook(f))
	f.Fuzz(func(t *testing.T, b []byte) {
		checkBounded(t, b)
	})
}

// checkBounded reads a workbook that may be damaged, in limited time and memory.
func checkBounded(t *testing.T, b []byte) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // far longer than it takes, for busy machines
	defer cancel()
	var err error
	used := rowstest.Allocated(func() {
		budget := rows.NewBudget(ctx, int64(len(b)), rows.Limits{})
		var r rows.Rows
		r, err = Format().Open(ctx, rowstest.File(b), rows.Options{}, budget)
		if err != nil {
			return
		}
		defer r.Close()
		r = rows.Limit(r, budget)
		for err == nil {
			_, err = r.Next()
		}
	})
	if err != io.EOF && herb.CodeOf(err) != herb.CodeInvalid {
		t.Error(err)
	}
	if used > 512<<20 {
		t.Errorf("a workbook of %d bytes allocates %d", len(b), used)
	}
}
