package ingest_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/ingest"
	"herbarium/internal/ingest/descriptor"
)

// TestSQLite_Log reads rows that are only in the write-ahead log, and includes the log in the hash.
func TestSQLite_Log(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"named", "found in a folder"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := database(t, `PRAGMA journal_mode = WAL`, `CREATE TABLE t (a)`)
			src := ingest.Source{Path: path}
			if name != "named" {
				src.Root = filepath.Dir(path)
			}
			testSQLiteLog(t, src)
		})
	}
}

func testSQLiteLog(t *testing.T, src ingest.Source) {
	t.Helper()
	hash := func() string {
		t.Helper()
		return inspect(t, src).Dataset.SourceHash
	}
	before := hash()
	db, err := sql.Open("sqlite", src.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`INSERT INTO t VALUES ('new')`); err != nil {
		t.Fatal(err)
	}
	if hash() == before {
		t.Error("the hash does not cover the log")
	}
	got, _, err := read(t, src)
	if diff := cmp.Diff(table{{"a"}, {"new"}}, got); diff != "" || err != nil {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
}

func TestBinary_Progress(t *testing.T) {
	t.Parallel()
	path := database(t, `CREATE TABLE t (a)`,
		`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 20000)
		INSERT INTO t SELECT i FROM n`)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	var last int64
	calls := 0
	_, err = ingest.Inspect(t.Context(), ingest.Source{Path: path}, ingest.Options{Progress: func(read, size int64) {
		if read < last || read > size || size != info.Size() {
			t.Errorf("reported %d of %d after %d", read, size, last)
		}
		last = read
		calls++
	}})
	if err != nil || calls < 3 || last < info.Size()/2 {
		t.Errorf("error %v, %d reports, last %d of %d", err, calls, last, info.Size())
	}
}

// TestBinary_Formats checks that the formats are detected by their extensions.
func TestBinary_Formats(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"parquet": "parquet", "pq": "parquet", "XLSX": "xlsx", "xlsm": "xlsx",
		"db": "sqlite", "sqlite": "sqlite", "sqlite3": "sqlite",
	} {
		if got, err := descriptor.ParseFormat(ingest.Formats(), name); got != want || err != nil {
			t.Errorf("%s: got %s, error %v", name, got, err)
		}
	}
}

const header = `<row r="1"><c r="A1" t="inlineStr"><is><t>a</t></is></c><c r="B1" t="inlineStr"><is><t>b</t></is></c></row>`

// TestXLSX_RightOfHeader keeps the cells of rows that are wider than the header.
func TestXLSX_RightOfHeader(t *testing.T) {
	t.Parallel()
	const note = `sheet "One": values right of the header, the first in C2; columns without a name are named by their position, such as column_3`
	missing := func(name string, values ...string) ingest.FieldSetting {
		return ingest.FieldSetting{Name: name, Missing: values}
	}
	for _, c := range []struct {
		name, sheet string
		src         ingest.Source
		want        table
		notes       []string
	}{
		{
			"the first record is wider",
			header + `<row r="2"><c><v>1</v></c><c><v>2</v></c><c><v>3</v></c></row><row r="3"><c><v>4</v></c></row>`,
			ingest.Source{}, table{{"a", "b", "column_3"}, {"1", "2", "3"}, {"4", "", ""}}, []string{note},
		}, {
			"the last record is wider",
			header + `<row r="3"><c><v>4</v></c></row><row r="2"><c r="E2"><v>5</v></c></row>`,
			ingest.Source{}, table{{"a", "b", "column_5"}, {"4", "", ""}, {"", "", "5"}},
			[]string{"left out: 2 columns without a name and without values: 3, 4",
				strings.ReplaceAll(note, "C2", "E2")},
		}, {
			"the name is taken", strings.ReplaceAll(header, "<t>b<", "<t>column_3<") +
				`<row r="2"><c r="C2"><v>3</v></c></row>`,
			ingest.Source{Dialect: dialect{HeaderRows: []int{1}}},
			table{{"a", "column_3", "column_3_2"}, {"", "", "3"}}, []string{note},
		}, {
			"a title above the header is no record", `<row r="1"><c r="D1"><v>2024</v></c></row>` +
				strings.ReplaceAll(header, `1"`, `2"`) +
				`<row r="3"><c><v>1</v></c></row>`,
			ingest.Source{Dialect: dialect{HeaderRows: []int{2}}}, table{{"a", "b"}, {"1", ""}}, nil,
		}, {
			"a schema that lists it",
			header + `<row r="2"><c><v>1</v></c></row><row r="2"><c r="C2"><v>3</v></c></row>`,
			ingest.Source{Fields: []ingest.FieldSetting{{Name: "a"}, {Name: "x", From: "column_3"}}},
			table{{"a", "x"}, {"1", ""}, {"", "3"}}, []string{note},
		}, {
			"missing values of its own",
			header + `<row r="2"><c><v>1</v></c></row><row r="2"><c><v>3</v></c><c r="C2"><v>3</v></c></row>`,
			ingest.Source{Fields: []ingest.FieldSetting{{Name: "a"}, missing("column_3", "3")}},
			table{{"a", "column_3"}, {"1", ""}, {"3", ""}}, []string{note},
		}, {
			"rows by its value", header +
				`<row r="2"><c><v>1</v></c></row><row r="2"><c><v>2</v></c><c r="C2"><v>3</v></c></row>`,
			ingest.Source{Include: []ingest.Condition{{Column: "column_3", Values: []string{"3"}}}},
			table{{"a", "b", "column_3"}, {"2", "", "3"}}, []string{note},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.src.Path = writeBook(t, c.sheet)
			got, notes, err := read(t, c.src)
			if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
				t.Errorf("error %v (-want +got):\n%s", err, diff)
			}
			if diff := cmp.Diff(c.notes, notes); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
		})
	}
}

// TestXLSX_PartsOfDifferentWidth reads two workbooks as one table.
func TestXLSX_PartsOfDifferentWidth(t *testing.T) {
	t.Parallel()
	narrow := writeBook(t, header+`<row r="2"><c><v>1</v></c></row>`)
	wide := writeBook(t, header+`<row r="2"><c><v>2</v></c></row><row r="3"><c r="C3"><v>3</v></c></row>`)
	want := table{{"a", "b", "column_3"}}
	first, others := []string{"1", "", ""}, table{{"2", "", ""}, {"", "", "3"}}
	got, _, err := read(t, ingest.Source{Path: narrow, MoreFiles: []string{wide}})
	if diff := cmp.Diff(append(append(want, first), others...), got); diff != "" || err != nil {
		t.Errorf("the wide one last: error %v (-want +got):\n%s", err, diff)
	}
	got, _, err = read(t, ingest.Source{Path: wide, MoreFiles: []string{narrow}})
	if diff := cmp.Diff(append(append(want, others...), first), got); diff != "" || err != nil {
		t.Errorf("the wide one first: error %v (-want +got):\n%s", err, diff)
	}
}
