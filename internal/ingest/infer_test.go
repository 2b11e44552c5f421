package ingest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/value"
)

func TestColumnNames(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{
		"a,b": "a b", "a,,b,": "a column_2 b column_4", "a,a,a": "a a_2 a_3",
		"a,a,a_2,a": "a a_3 a_2 a_4", "a_2,a,a": "a_2 a a_3", ",column_1": "column_1_2 column_1",
		"column_2,": "column_2 column_2_2", ",,column_2,column_2": "column_1 column_2_2 column_2 column_2_3",
		"a,A": "a A",
	} {
		got, _, err := read(t, ingest.Source{
			Path: writeFile(t, t.TempDir(), "x.csv",
				header+strings.Repeat("\n1,2,3,4"[:2*strings.Count(header, ",")+2], 5)+"\n")})
		if err != nil || strings.Join(got[0], " ") != want {
			t.Errorf("%s: got %s and error %v, want %s", header, got, err, want)
		}
	}
}

// TestInspect_unnamedColumns leaves out columns without a name and without values.
func TestInspect_unnamedColumns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		src        ingest.Source
		want, note string
		hidden     int
	}{
		{"a delimiter at the end of each line", "id,n,\n1,2,\n3,4,\n", ingest.Source{}, "id n",
			"1 column without a name and without values: 3", 0},
		{"between others", "id,,n,\n1,,2,\n3,,4,\n", ingest.Source{}, "id n",
			"2 columns without a name and without values: 2, 4", 0},
		{"a value", "id,n,\n1,2,\n3,4,x\n", ingest.Source{}, "id n column_3", "", 0},
		{"a name", "id,n,note\n1,2,\n3,4,\n", ingest.Source{}, "id n note", "", 0},
		{"no header", "1,2,\n3,4,\n", ingest.Source{Dialect: dialect{Header: rows.HeaderNone}},
			"column_1 column_2 column_3", "", 0},
		{"nothing else", ",\n", ingest.Source{}, "column_1 column_2", "", 0},
		{"a descriptor", "id,n,\n1,2,\n3,4,\n",
			ingest.Source{Fields: []ingest.FieldSetting{{Name: "id"}, {Name: "column_3"}}}, "id column_3", "", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.src.Path = writeFile(t, t.TempDir(), "x.csv", c.text)
			table := inspect(t, c.src)
			defer table.Close()
			var names []string
			for _, f := range table.Dataset.Fields {
				names = append(names, f.Name)
			}
			if got := strings.Join(names, " "); got != c.want {
				t.Errorf("got fields %s; want %s", got, c.want)
			}
			report := table.Dataset.Report
			if all := strings.Join(report.Notes, "\n"); !strings.Contains(all, c.note) || c.note == "" &&
				strings.Contains(all, "without a name") {
				t.Errorf("got notes %q; want %q", all, c.note)
			}
			if len(report.Hidden) != c.hidden {
				t.Errorf("got hidden columns %q; want %d", report.Hidden, c.hidden)
			}
		})
	}
}

// TestInspect_textCells checks that text of workbooks and JSON with points is read as that of CSV
// files, and that numbers are numbers.
func TestInspect_textCells(t *testing.T) {
	t.Parallel()
	sheet := `<row r="1"><c r="A1" t="inlineStr"><is><t>text</t></is></c><c r="B1" t="inlineStr"><is><t>number</t></is></c></row>`
	for i, v := range []string{"1.485", "78.746", "160"} {
		sheet += fmt.Sprintf(`<row r="%[1]d"><c r="A%[1]d" t="inlineStr"><is><t>%[2]s</t></is></c><c r="B%[1]d"><v>%[2]s</v></c></row>`, i+2, v)
	}
	dir := t.TempDir()
	for path, want := range map[string]string{
		writeBook(t, sheet): "text number",
		writeFile(t, dir, "texts.json", `[{"text":"1.485"},{"text":"78.746"},{"text":"160"}]`): "text",
		writeFile(t, dir, "numbers.json",
			`[{"number":1.485},{"number":78.746},{"number":160}]`): "number",
		writeFile(t, dir, "mixed.json",
			`[{"number":1.485},{"number":"78.746"},{"number":160},{"number":"-"}]`): "number",
	} {
		d := inspect(t, ingest.Source{Path: path}).Dataset
		for i, name := range strings.Fields(want) {
			if f := d.Fields[i]; string(f.Type) != name || f.Notation.Group != "" {
				t.Errorf("%s: %s is a %s, notation %v (%s)", path, f.Name, f.Type, f.Notation,
					d.Report.Columns[i].Evidence)
			}
		}
		if why := d.Report.Columns[0].Evidence; strings.HasPrefix(want, "text") &&
			!strings.Contains(why, `groupChar "." and decimalChar "," if it separates thousands, with decimalChar "." if decimals`) {
			t.Errorf("%s: %s", path, why)
		}
	}
}

func TestFieldSettings(t *testing.T) {
	t.Parallel()
	path := writeFile(t, t.TempDir(), "x.csv",
		"id,price,day,tags,url\n1,\"1,200\",2024-05-01,\"a,b\",https://a.example/\n2,7,soon,c,//b\n")
	table := inspect(t, ingest.Source{
		Ref: herb.Ref{Namespace: "n", Name: "d"}, Path: path, Title: "T", Description: "D", Access: herb.AccessKey,
		Fields: []ingest.FieldSetting{
			{Name: "cost", From: "price", Schema: value.Schema{Type: "number", GroupChar: ","}, Title: "Cost",
				Description: "of one"},
			{Name: "id", Sortable: new(false), Searchable: new(true)},
			{Name: "day", Schema: value.Schema{Type: "date"}, Missing: []string{"soon"}},
			{Name: "code", From: "id", Schema: value.Schema{Type: "string"}},
			{Name: "link", From: "url", Schema: value.Schema{Type: "string"}, Filterable: new(false)},
			{Name: "words", From: "tags"},
			{Name: "url", Schema: value.Schema{Type: "list"}},
		},
	})
	d := table.Dataset
	want := herb.Dataset{
		Ref: herb.Ref{Namespace: "n", Name: "d"}, Title: "T", Description: "D", Access: herb.AccessKey, Records: 2,
		SourceHash: d.SourceHash,
		Fields: []herb.Field{
			{Name: "cost", Type: herb.TypeNumber, Notation: herb.Notation{Group: ","}, Title: "Cost",
				Description: "of one", Filterable: true, Sortable: true},
			{Name: "id", Type: herb.TypeNumber, Searchable: true, Filterable: true},
			{Name: "day", Type: herb.TypeDate, Filterable: true, Sortable: true},
			{Name: "code", Type: herb.TypeText, Searchable: true, Filterable: true, Sortable: true},
			{Name: "link", Type: herb.TypeText, Sortable: true},
			{Name: "words", Type: herb.TypeList, Searchable: true, Filterable: true, Sortable: true},
			{Name: "url", Type: herb.TypeList, Searchable: true, Filterable: true, Sortable: true},
		},
	}
	d.Report, d.Settings = nil, nil // they have tests of their own
	if diff := cmp.Diff(want, d); diff != "" {
		t.Errorf("dataset (-want +got):\n%s", diff)
	}
	wantRecords := []herb.Record{
		{"1,200", "1", "2024-05-01", "1", "https://a.example/", "a,b", "https://a.example/"},
		{"7", "2", "", "2", "//b", "c", "//b"},
	}
	if diff := cmp.Diff(wantRecords, recordsOf(t, table)); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
}

func TestFieldSettings_invalid(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	csv := writeFile(t, dir, "x.csv", "id,price\n1,2\n")
	tests := []struct {
		name string
		src  ingest.Source
		want string
	}{
		{"no such column", ingest.Source{Path: csv, Fields: []ingest.FieldSetting{{Name: "cost", From: "prise"}}},
			`: field "cost": no such column "prise"; did you mean "price"? columns: id, price`},
		{"nothing like it", ingest.Source{Path: csv, Fields: []ingest.FieldSetting{{Name: "weather"}}},
			`: field "weather": no such column "weather"; columns: id, price`},
		{"a value that is not of its type",
			ingest.Source{Path: csv, Fields: []ingest.FieldSetting{{Name: "id", Schema: value.Schema{Type: "date"}}}},
			`: field "id": "1" (line 2) is not a date`},
		{"access", ingest.Source{Path: csv, Access: "secret"}, `: unknown access "secret"; choose open or key`},
		{"format", ingest.Source{Path: csv, Format: "xml"}, `: unknown format "xml"; valid formats: csv, `},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := ingest.Inspect(t.Context(), tt.src, ingest.Options{})
			checkInvalid(t, err, csv+tt.want)
		})
	}
}

// TestFieldSettings_Location checks values of columns that are known only after the last row. The
// error names file and line.
func TestFieldSettings_Location(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := writeFile(t, dir, "1.ndjson", "{\"n\":1}\n\n{\"n\":2}\n")
	second := writeFile(t, dir, "2.ndjson", "{\"n\":3}\n\n{\"n\":\"x\"}\n")
	for _, src := range []ingest.Source{{Path: first, MoreFiles: []string{second}},
		{Path: second, MoreFiles: []string{first}}} {
		src.Fields = []ingest.FieldSetting{{Name: "n", Schema: value.Schema{Type: "number"}}}
		part := second + ", "
		if src.Path == second {
			part = ""
		}
		_, err := ingest.Inspect(t.Context(), src, ingest.Options{})
		checkInvalid(t, err, src.Path+`: field "n": "x" (`+part+"record 2, line 3) is not a number")
	}
}

func TestFieldSettings_NoRecords(t *testing.T) {
	t.Parallel()
	path := writeFile(t, t.TempDir(), "x.json", "[]")
	d := inspect(t, ingest.Source{
		Path: path, Fields: []ingest.FieldSetting{{Name: "id", Schema: value.Schema{Type: "number"}}}}).Dataset
	want := []herb.Field{{Name: "id", Type: herb.TypeNumber, Filterable: true, Sortable: true}}
	if diff := cmp.Diff(want, d.Fields); diff != "" {
		t.Errorf("fields of a file without records (-want +got):\n%s", diff)
	}
}

// TestInspect_misfits checks that the error about values that do not fit their declared types names
// the first 20 of all fields.
func TestInspect_misfits(t *testing.T) {
	t.Parallel()
	var few, many strings.Builder
	few.WriteString("n,day\n1,2024-01-31\nx,soon\n2,2024-02-01\ny,2024-02-02\n")
	many.WriteString("n,day\n")
	for i := range 50 {
		fmt.Fprintf(&many, "x%d,2024-01-31\n", i)
	}
	fields := []ingest.FieldSetting{{Name: "n", Schema: value.Schema{Type: "number"}},
		{Name: "day", Schema: value.Schema{Type: "date"}}}
	inspect := func(content string) string {
		t.Helper()
		path := writeFile(t, t.TempDir(), "x.csv", content)
		_, err := ingest.Inspect(t.Context(), ingest.Source{Path: path, Fields: fields}, ingest.Options{})
		checkInvalid(t, err, path+`: field "n": "x`)
		return fmt.Sprint(err)
	}
	if got := inspect(few.String()); !strings.Contains(got, `"x" (line 3) is not a number, as declared; `) ||
		!strings.HasSuffix(got, `; these do not fit either: "y" (line 5) in field "n", "soon" (line 3) in field "day"`) {
		t.Errorf("got %s", got)
	}
	if got := inspect(many.String()); !strings.HasSuffix(got, `"x19" (line 21) in field "n", and perhaps more`) ||
		strings.Count(got, "(line ") != 20 {
		t.Errorf("got %s", got)
	}
}
