package ingest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/ingest/value"
	"herbarium/internal/must"
)

func TestNarrowed(t *testing.T) {
	t.Parallel()
	const csv = "id,status,n\n1,published,5\n2,draft,NA\n3,-,NA\n4,published,\n5,,-\n"
	const json = `[{"id":1,"status":"published"},{"id":2},{"id":3,"status":"-","n":"NA","late":"x"},{"id":4,"n":7}]`
	include := func(column string, values ...string) ingest.Condition {
		return ingest.Condition{Column: column, Values: values}
	}
	tests := []struct {
		name    string
		file    string // its content
		source  ingest.Source
		want    []string
		types   string // of the fields
		problem string
	}{
		{"nothing set", csv, ingest.Source{}, []string{"1|published|5", "2|draft|NA", "3|-|NA", "4|published|", "5||-"},
			"number text number", ""},
		{"missing values", csv, ingest.Source{Missing: []string{"NA", "-"}},
			[]string{"1|published|5", "2|draft|", "3||", "4|published|", "5||"}, "number text number", ""},
		{"missing values of a field", csv, ingest.Source{
			Missing: []string{"-"},
			Fields: []ingest.FieldSetting{{Name: "status"}, {Name: "count", From: "N", Missing: []string{"NA"}},
				{Name: "id", Missing: []string{}}},
		}, []string{"published|5|1", "draft||2", "||3", "published||4", "|-|5"}, "text number number", ""},
		{"rows to include", csv, ingest.Source{Include: []ingest.Condition{include("status", "published", "draft")}},
			[]string{"1|published|5", "2|draft|NA", "4|published|"}, "number text number", ""},
		{"by several columns", csv,
			ingest.Source{Include: []ingest.Condition{include("status", "published"), include("n", "")}},
			[]string{"4|published|"}, "number text text", ""},
		{"by a column that is not exposed", csv, ingest.Source{
			Include: []ingest.Condition{include("status", "published")}, Fields: []ingest.FieldSetting{{Name: "id"}},
		}, []string{"1", "4"}, "number", ""},
		{"by the name of a field", csv, ingest.Source{
			Include: []ingest.Condition{include("state", "draft")},
			Fields:  []ingest.FieldSetting{{Name: "id"}, {Name: "state", From: "status"}},
		}, []string{"2|draft"}, "number text", ""},
		{"what is missing is found as written and as empty", csv,
			ingest.Source{Missing: []string{"-"}, Include: []ingest.Condition{include("status", "")}},
			[]string{"3||NA", "5||"}, "number text text", ""},
		{"as written", csv, ingest.Source{Missing: []string{"-"}, Include: []ingest.Condition{include("status", "-")}},
			[]string{"3||NA"}, "number text text", ""},
		{"rows to exclude", csv, ingest.Source{Exclude: []ingest.Condition{include("status", "draft", "-")}},
			[]string{"1|published|5", "4|published|", "5||-"}, "number text number", ""},
		{"one of several exclusions suffices", csv,
			ingest.Source{Exclude: []ingest.Condition{include("status", "draft"), include("n", "NA", "-")}},
			[]string{"1|published|5", "4|published|"}, "number text number", ""},
		{"exclude after include", csv, ingest.Source{Include: []ingest.Condition{include("status", "published")},
			Exclude: []ingest.Condition{include("n", "")}},
			[]string{"1|published|5"}, "number text number", ""},
		{"excluded as missing", csv,
			ingest.Source{Missing: []string{"-"}, Exclude: []ingest.Condition{include("status", "")}},
			[]string{"1|published|5", "2|draft|NA", "4|published|"}, "number text number", ""},
		{"exclude by the name of a field", csv, ingest.Source{
			Exclude: []ingest.Condition{include("state", "published")},
			Fields:  []ingest.FieldSetting{{Name: "id"}, {Name: "state", From: "status"}},
		}, []string{"2|draft", "3|-", "5|"}, "number text", ""},
		{"exclude without such a column", csv, ingest.Source{Exclude: []ingest.Condition{include("statsu", "x")}}, nil,
			"",
			`exclude: no such column "statsu"; did you mean "status"? columns: id, status, n`},
		{"no row is left", csv, ingest.Source{Include: []ingest.Condition{include("status", "none")}}, nil,
			"text text text", ""},
		{"no such column", csv, ingest.Source{Include: []ingest.Condition{include("statsu", "x")}}, nil, "",
			`include: no such column "statsu"; did you mean "status"? columns: id, status, n`},
		{"JSON", json, ingest.Source{Missing: []string{"NA", "-"},
			Include: []ingest.Condition{include("status", "published", "")}},
			[]string{"1|published||", "2|||", "3|||x", "4||7|"}, "number text number text", ""},
		{"JSON whose column comes late", json, ingest.Source{Include: []ingest.Condition{include("late", "x")}},
			[]string{"3|-|NA|x"}, "number text text text", ""},
		{"JSON whose column never comes", json, ingest.Source{Include: []ingest.Condition{include("later", "x")}}, nil,
			"",
			`include: no such column "later"; did you mean "late"? columns: id, status, n, late`},
		{"JSON with missing values of a field", json,
			ingest.Source{Missing: []string{"7"}, Fields: []ingest.FieldSetting{
				{Name: "id"}, {Name: "amount", From: "n", Missing: []string{"NA"}},
				{Name: "status", Missing: []string{"-"}}}},
			[]string{"1||published", "2||", "3||", "4|7|"}, "number number text", ""},
		{"JSON without records", "[]", ingest.Source{Include: []ingest.Condition{include("x", "x")}}, nil, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			name := "a.csv"
			if strings.HasPrefix(tt.file, "[") {
				name = "a.json"
			}
			tt.source.Path = writeFile(t, t.TempDir(), name, tt.file)
			table, err := ingest.Inspect(t.Context(), tt.source, ingest.Options{})
			if tt.problem != "" {
				if err == nil || strings.TrimPrefix(err.Error(), tt.source.Path+": ") != tt.problem ||
					herb.CodeOf(err) != herb.CodeInvalid {
					t.Errorf("got error %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range recordsOf(t, table) {
				got = append(got, strings.Join(r, "|"))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("records (-want +got):\n%s", diff)
			}
			var types []string
			for _, f := range table.Dataset.Fields {
				types = append(types, string(f.Type))
			}
			if got := strings.Join(types, " "); got != tt.types {
				t.Errorf("got types %s, want %s", got, tt.types)
			}
		})
	}
}

// TestExactWords checks that the setting applies to the fields that are searched.
func TestExactWords(t *testing.T) {
	t.Parallel()
	source := ingest.Source{ExactWords: true, Fields: []ingest.FieldSetting{{Name: "id", Searchable: new(false)},
		{Name: "name"}}}
	source.Path = writeFile(t, t.TempDir(), "a.csv", "id,name\n1,a\n")
	table, err := ingest.Inspect(t.Context(), source, ingest.Options{})
	must.NoError(t, err)
	defer table.Close()
	if f := table.Dataset.Fields; f[0].ExactWords || !f[1].ExactWords {
		t.Errorf("%+v", f)
	}
}

func TestDetails(t *testing.T) {
	t.Parallel()
	fields := []ingest.FieldSetting{{Name: "number", From: "id"}, {Name: "name", Sortable: new(false)},
		{Name: "day", Weight: 2}}
	for _, tt := range []struct {
		name     string
		source   ingest.Source
		want     herb.Details
		warnings []string
		problem  string
	}{
		{"order and key", ingest.Source{Order: herb.Order{Field: "day", Desc: true},
			PrimaryKey: []string{"number", "day"}},
			herb.Details{Order: herb.Order{Field: "day", Desc: true}, PrimaryKey: []string{"number", "day"}}, nil, ""},
		{"key by its column", ingest.Source{PrimaryKey: []string{"id"}},
			herb.Details{PrimaryKey: []string{"number"}}, nil, ""},
		{"key that is not exposed", ingest.Source{PrimaryKey: []string{"number", "secret"}}, herb.Details{},
			[]string{`the primary key is not used, because there is no field "secret"`}, ""},
		{"order that is not sortable", ingest.Source{Order: herb.Order{Field: "name"}}, herb.Details{}, nil,
			`order: no such sortable field "name"; sortable fields: number, day`},
		{"order that is not exposed", ingest.Source{Order: herb.Order{Field: "dya"}}, herb.Details{}, nil,
			`order: no such sortable field "dya"; did you mean "day"? sortable fields: number, day`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.source.Fields = fields
			tt.source.Path = writeFile(t, t.TempDir(), "a.csv", "id,name,day,secret\n1,a,2024-01-01,x\n")
			table, err := ingest.Inspect(t.Context(), tt.source, ingest.Options{})
			if tt.problem != "" {
				if err == nil || strings.TrimPrefix(err.Error(), tt.source.Path+": ") != tt.problem {
					t.Errorf("got error %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := table.Dataset.Details
			got.Report, got.Settings = nil, nil
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("details (-want +got):\n%s", diff)
			}
			warnings := append([]string{`field "day" has a weight that has no effect, because it is not searchable`},
				tt.warnings...)
			if diff := cmp.Diff(warnings, table.Dataset.Report.Notes); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
	src := ingest.Source{
		Path: writeFile(t, t.TempDir(), "x.csv", "id;Tags;secret;naïve\n1;a,b;x;été\n2;;y;a\n3;c;z;植物園の木\n"),
		Fields: []ingest.FieldSetting{
			{Name: "number", From: "id"}, {Name: "tags", From: "Tags"},
			{Name: "word", From: "naïve", Schema: value.Schema{Type: "string"}},
		},
	}
	table := inspect(t, src)
	want := &herb.Report{
		Format: "csv, semicolon between values",
		Bytes:  65,
		Rows:   3,
		Columns: []herb.ColumnReport{
			{Field: "number", Column: "id", Type: herb.TypeNumber, Evidence: "number: 3 of 3", Reason: "3 of 3",
				Filled: 3, Shortest: 1, Longest: 1},
			{
				Field: "tags", Column: "Tags", Type: herb.TypeList, Filled: 2, Empty: 1, Shortest: 1, Longest: 3,
				Evidence: `list: 2 of 3; 1 empty`, Reason: "2 of 3; 1 empty",
			},
			{
				Field: "word", Column: "naïve", Type: herb.TypeText, Filled: 3, Shortest: 1, Longest: 5,
				Evidence: `text, as declared: 3 of 3`, Reason: "as declared: 3 of 3",
				Lengths: []herb.LengthCount{{From: 1, To: 1, Count: 1}, {From: 2, To: 2}, {From: 3, To: 3, Count: 1},
					{From: 4, To: 4}, {From: 5, To: 5, Count: 1}},
			},
		},
		Hidden:      []string{"secret"},
		Layout:      herb.Layout{Unit: "line", Header: []int{1}, HeaderCells: table.Dataset.Report.Layout.HeaderCells},
		Notes:       table.Dataset.Report.Notes,
		SourceCells: &herb.SourceCells{Total: 11, Hidden: 3},
	}
	if diff := cmp.Diff(want, table.Dataset.Report, cmpopts.IgnoreTypes(herb.ColumnCells{})); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
}

func TestReport_json(t *testing.T) {
	t.Parallel()
	src := ingest.Source{Path: writeFile(t, t.TempDir(), "x.json", "[{\"a\":1},\n{\"a\":\"often\",\"b\":2}]")}
	got := inspect(t, src).Dataset.Report
	if got.Format != "json" || got.Rows != 2 || got.Columns[1].Empty != 1 ||
		!strings.Contains(got.Columns[0].Evidence, `"often" (record 2, line 2)`) {
		t.Errorf("%+v", got)
	}
}

// TestReport_similar checks that only some of many fields without a column are compared with the
// columns.
func TestReport_similar(t *testing.T) {
	t.Parallel()
	columns, fields := []string{"id"}, []ingest.FieldSetting{{Name: "id", Optional: true}}
	for i := 100; i < 200; i++ {
		columns = append(columns, fmt.Sprint("price ", i))
		fields = append(fields, ingest.FieldSetting{Name: fmt.Sprint("prize ", i), Optional: true})
	}
	src := ingest.Source{Path: writeFile(t, t.TempDir(), "x.csv", strings.Join(columns, ",")+"\n1\n"), Fields: fields}
	notes := strings.Join(inspect(t, src).Dataset.Report.Notes, "\n")
	if n := strings.Count(notes, `is "prize 1`); n != 50 ||
		!strings.Contains(notes, `is "prize 100" the column "price 100"?`) {
		t.Errorf("got %d hints: %s", n, notes)
	}
}

// TestReport_empty checks that a table without columns has an empty list of them, which JSON does
// not write as null.
func TestReport_empty(t *testing.T) {
	t.Parallel()
	src := ingest.Source{Path: writeFile(t, t.TempDir(), "x.json", "[]")}
	if got := inspect(t, src).Dataset.Report.Columns; got == nil || len(got) > 0 {
		t.Errorf("got %#v", got)
	}
}
