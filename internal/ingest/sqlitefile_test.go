package ingest_test

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
)

// database makes a database of statements and closes it.
func database(t testing.TB, name string, statements ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "garden", name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	plain := filepath.Join(t.TempDir(), "plain.db") // a name without a meaning in the address of a database
	db, err := sql.Open("sqlite", plain)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(s, err)
		}
	}
	if err := errors.Join(db.Close(), os.Rename(plain, path)); err != nil {
		t.Fatal(err)
	}
	return path
}

// listing reads a source: the names of the fields, then the records.
func listing(t testing.TB, src ingest.Source) (rows [][]string, err error) {
	t.Helper()
	table, err := ingest.Inspect(t.Context(), src, ingest.Options{})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, f := range table.Dataset().Fields {
		names = append(names, f.Name)
	}
	rows = append(rows, names)
	for r, err := range table.Records(t.Context()) {
		if err != nil {
			return rows, err
		}
		rows = append(rows, r)
	}
	return rows, nil
}

func TestSQLite(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		statements []string
		table      string
		want       [][]string
	}{
		{
			"values", []string{
				`CREATE TABLE t (id INTEGER, "a ""b""" TEXT, when_ DATETIME, flag BOOLEAN, x)`,
				`INSERT INTO t VALUES (9223372036854775807, 'Ärzte' || char(0) || 'x', '2024-02-29 13:45', 1, 0.1), (-1, '', 1700000000, 'yes', x'00FF'),
				 (NULL, '00042', '2024-02-29', 0, 1e300), (4, 5, 6.5, 7, 9e999), (5, 'x', NULL, NULL, 2.0)`,
			}, "",
			[][]string{
				{"id", `a "b"`, "when_", "flag", "x"},
				{"9223372036854775807", "Ärzte\x00x", "2024-02-29 13:45", "1", "0.1"},
				{"-1", "", "1700000000", "yes", "AP8="},
				{"", "00042", "2024-02-29", "0", "1" + strings.Repeat("0", 300)},
				{"4", "5", "6.5", "7", "Infinity"},
				{"5", "x", "", "", "2"},
			},
		}, {
			"in the order of rowid, not of an index", []string{
				`CREATE TABLE t (rowid TEXT)`, `INSERT INTO t (_rowid_, rowid) VALUES (3, 'c'), (1, 'z'), (2, 'a')`, `CREATE INDEX i ON t (rowid)`,
			}, "T",
			[][]string{{"rowid"}, {"z"}, {"a"}, {"c"}},
		}, {
			"without rowid", []string{
				`CREATE TABLE t (v, b TEXT, a INT, PRIMARY KEY (a, b)) WITHOUT ROWID`, `INSERT INTO t VALUES (1, 'y', 2), (2, 'x', 2), (3, 'z', 1)`,
			}, "",
			[][]string{{"v", "b", "a"}, {"3", "z", "1"}, {"2", "x", "2"}, {"1", "y", "2"}},
		}, {
			"a view in its own order", []string{
				`CREATE TABLE t (a)`, `INSERT INTO t VALUES (1), (3), (2)`, `CREATE VIEW v AS SELECT a, a*2 AS twice FROM t ORDER BY a DESC`,
			}, "v",
			[][]string{{"a", "twice"}, {"3", "6"}, {"2", "4"}, {"1", "2"}},
		}, {
			"generated columns", []string{`CREATE TABLE t (a, b AS (a + 1), c AS (a * 2) STORED)`, `INSERT INTO t VALUES (1)`}, "",
			[][]string{{"a", "b", "c"}, {"1", "2", "2"}},
		}, {
			"UTF-16", []string{`PRAGMA encoding = 'UTF-16'`, `CREATE TABLE t (a)`, `INSERT INTO t VALUES ('Grün 😀')`}, "",
			[][]string{{"a"}, {"Grün 😀"}},
		}, {
			"search tables are left out", []string{
				`CREATE VIRTUAL TABLE words USING fts5(x)`, `INSERT INTO words VALUES ('rose')`, `CREATE TABLE t (a INTEGER PRIMARY KEY AUTOINCREMENT)`,
				`INSERT INTO t VALUES (7)`,
			}, "",
			[][]string{{"a"}, {"7"}},
		}, {
			"no rows", []string{`CREATE TABLE t (a, b)`}, "", [][]string{{"a", "b"}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := database(t, "a file?#%20.db", c.statements...)
			got, err := listing(t, ingest.Source{Path: path, Dialect: ingest.Dialect{Table: c.table}})
			if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
				t.Errorf("error %v (-want +got):\n%s", err, diff)
			}
			if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
				t.Errorf("there are files beside the database: %v, error %v", entries, err)
			}
		})
	}
}

// foreignModule makes a virtual table of a module that is not there.
func foreignModule(name string) []string {
	return []string{`PRAGMA writable_schema = ON`, fmt.Sprintf(
		`INSERT INTO sqlite_schema VALUES ('table', '%[1]s', '%[1]s', 0, 'CREATE VIRTUAL TABLE %[1]s USING unheard_of(x)')`, name)}
}

func TestSQLite_Refused(t *testing.T) {
	t.Parallel()
	two := []string{`CREATE TABLE plants (a)`, `CREATE TABLE beds (a)`}
	for _, c := range []struct {
		name       string
		statements []string
		table      string
		want       string
	}{
		{"several tables", two, "", "the database has 2 tables; name one, like file.db#beds; tables: beds, plants"},
		{"unknown table", two, "plant", `there is no table "plant"; did you mean "plants"? tables: beds, plants`},
		{"no tables", []string{`VACUUM`}, "", "the database has no tables"},
		{
			"virtual tables alone", []string{`CREATE VIRTUAL TABLE words USING fts5(a)`, `CREATE VIRTUAL TABLE boxes USING rtree(id, x, y)`}, "",
			"the database has only virtual tables, which are not published unless named; name one, like file.db#boxes; tables: boxes, words",
		},
		{"a virtual table of an unknown module", append(foreignModule("geo"), `CREATE TABLE t (a)`), "geo", "the table cannot be read: SQL logic error: no such module: unheard_of (1)"},
		{"a view of itself", []string{`PRAGMA writable_schema = ON`, `INSERT INTO sqlite_schema VALUES ('view', 'v', 'v', 0, 'CREATE VIEW v AS SELECT * FROM v')`}, "",
			"the table cannot be read: SQL logic error: view v is circularly defined (1)"},
		{
			"not UTF-8", []string{`CREATE TABLE t (a, b)`, `INSERT INTO t VALUES (1, 'x'), (2, CAST(x'FF' AS TEXT))`}, "",
			`table "t", row 2, column "b": the text is not valid UTF-8; store it as UTF-8, or as a BLOB`,
		},
		{
			"too large", []string{`CREATE TABLE t (a)`, fmt.Sprintf(`INSERT INTO t VALUES (zeroblob(%d))`, 65<<20)}, "",
			"a row has more than 67108864 bytes, which is the most that one may have",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := database(t, "x.db", c.statements...)
			_, err := listing(t, ingest.Source{Path: path, Dialect: ingest.Dialect{Table: c.table}})
			if err == nil || err.Error() != path+": "+c.want || herb.CodeOf(err) != herb.CodeInvalid {
				t.Errorf("got error  %v\nwant error %s: %s", err, path, c.want)
			}
		})
	}
	path := writeFile(t, t.TempDir(), "x.db", "not a database, however it is called")
	if _, err := listing(t, ingest.Source{Path: path}); herb.CodeOf(err) != herb.CodeInvalid ||
		!strings.Contains(err.Error(), "is no SQLite database") {
		t.Errorf("got error %v", err)
	}
}

// TestSQLite_Unusual reads tables that are legal and rare.
func TestSQLite_Unusual(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		statements []string
		want       [][]string
	}{
		{"no name", []string{`CREATE TABLE "" ("" TEXT, """q" TEXT)`, `INSERT INTO "" VALUES ('x', 'y')`}, [][]string{{"column_1", `"q`}, {"x", "y"}}},
		{"no rows", []string{`CREATE TABLE t (a)`}, [][]string{{"a"}}},
		{"without rowid", []string{`CREATE TABLE t (b, a, PRIMARY KEY (a, b)) WITHOUT ROWID`, `INSERT INTO t VALUES (1, 2), (3, 1)`}, [][]string{{"b", "a"}, {"3", "1"}, {"1", "2"}}},
		{"generated", []string{`CREATE TABLE t (a, b AS (a + 1), c AS (a + 2) STORED)`, `INSERT INTO t VALUES (1)`}, [][]string{{"a", "b", "c"}, {"1", "2", "3"}}},
		{"all aliases taken", []string{`CREATE TABLE t (rowid, _rowid_, oid)`, `INSERT INTO t VALUES (1, 2, 3)`}, [][]string{{"rowid", "_rowid_", "oid"}, {"1", "2", "3"}}},
		{"a view alone", []string{`CREATE VIEW v AS SELECT 1 AS a, 1 AS a`}, [][]string{{"a", "a:1"}, {"1", "1"}}},
		{"a virtual table beside", append(foreignModule("geo"), `CREATE TABLE t (a)`), [][]string{{"a"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := listing(t, ingest.Source{Path: database(t, "x.db", c.statements...)})
			if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
				t.Errorf("error %v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// TestSQLite_Damaged cuts a database at many lengths.
func TestSQLite_Damaged(t *testing.T) {
	t.Parallel()
	path := database(t, "x.db", `CREATE TABLE t (a, b)`, `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 2000)
		INSERT INTO t SELECT i, 'plant ' || i FROM n`)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for n := 1; n < len(whole); n += 997 {
		cut := writeFile(t, dir, fmt.Sprint(n, ".db"), string(whole[:n]))
		if _, err := listing(t, ingest.Source{Path: cut}); herb.CodeOf(err) != herb.CodeInvalid {
			t.Errorf("cut to %d of %d bytes: %v", n, len(whole), err)
		}
	}
	for n := 100; n < len(whole); n += 501 {
		changed := bytes.Clone(whole)
		changed[n] ^= 0xFF
		path := writeFile(t, dir, fmt.Sprint("changed", n, ".db"), string(changed))
		if _, err := listing(t, ingest.Source{Path: path}); err != nil && herb.CodeOf(err) != herb.CodeInvalid {
			t.Errorf("byte %d changed: %v", n, err)
		}
	}
}

// TestSQLite_Log reads what was committed and stands in the write-ahead log alone, and hashes it.
func TestSQLite_Log(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"named", "found in a folder"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := database(t, "x.db", `PRAGMA journal_mode = WAL`, `CREATE TABLE t (a)`)
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
		return inspect(t, src).Dataset().Source
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
	got, err := listing(t, src)
	if diff := cmp.Diff([][]string{{"a"}, {"new"}}, got); diff != "" || err != nil {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
}

func TestBinary_Progress(t *testing.T) {
	t.Parallel()
	path := database(t, "x.db", `CREATE TABLE t (a)`, `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 20000)
		INSERT INTO t SELECT i FROM n`)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	var last int64
	calls := 0
	_, err = ingest.Inspect(t.Context(), ingest.Source{Path: path}, ingest.Options{Progress: func(read, size int64) {
		if read < last || read > size || size != info.Size() {
			t.Errorf("told %d of %d after %d", read, size, last)
		}
		last = read
		calls++
	}})
	if err != nil || calls < 3 || last < info.Size()/2 {
		t.Errorf("error %v, told %d times, last %d of %d", err, calls, last, info.Size())
	}
}

func TestDiscover_Parts(t *testing.T) {
	t.Parallel()
	many := database(t, "many.db", `CREATE TABLE "Plant List" (a)`, `CREATE TABLE beds (a)`, `CREATE VIEW v AS SELECT 1 AS x`)
	dir := filepath.Dir(many)
	writeFile(t, dir, "Thumbs.db", "something else")
	writeFile(t, dir, "odd#name.csv", "a\n1\n")
	writeFile(t, dir, "book.xlsx", "read later")
	one := database(t, "one.sqlite3", `CREATE TABLE t (a)`)
	render := func(sources []ingest.Source) (out []string) {
		for _, s := range sources {
			out = append(out, fmt.Sprintf("%s %s %s%s", s.Ref, filepath.Base(s.Path), "", s.Dialect.Table))
		}
		return out
	}
	for _, c := range []struct {
		name, path string
		want       []string
		problem    string
	}{
		{"each table", many, []string{"garden/beds many.db beds", "garden/plant-list many.db Plant List"}, ""},
		{"one table by the name of the file", one, []string{"garden/one one.sqlite3 "}, ""},
		{"a table", many + "#beds", []string{"garden/beds many.db beds"}, ""},
		{"a view", many + "#v", []string{"garden/v many.db v"}, ""},
		{"a sheet", dir + "/book.xlsx#Prices 2024", []string{"garden/book-prices-2024 book.xlsx Prices 2024"}, ""},
		{"a file with # in its name", dir + "/odd#name.csv", []string{"garden/odd-name odd#name.csv "}, ""},
		{"a folder", dir, []string{"garden/beds many.db beds", "garden/book book.xlsx ", "garden/odd-name odd#name.csv ", "garden/plant-list many.db Plant List"}, ""},
		{"a part of CSV", dir + "/odd#name.csv#x", nil, dir + "/odd#name.csv has no parts, so remove #x; workbooks (.xlsx) and databases (.db) have parts"},
		{"a part of a folder", dir + "#x", nil, dir + ` is a folder and has no part "x"; name a file, like ` + dir + "/file.db#table"},
		{"a part of nothing", dir + "/none.db#x", nil, dir + "/none.db: no such file or directory"},
		{"another database", dir + "/Thumbs.db", []string{"garden/thumbs Thumbs.db "}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			sources, err := ingest.Discover([]string{c.path})
			if diff := cmp.Diff(c.want, render(sources)); diff != "" {
				t.Errorf("error %v (-want +got):\n%s", err, diff)
			}
			if (err == nil) != (c.problem == "") || err != nil && err.Error() != c.problem {
				t.Errorf("got error  %v\nwant error %s", err, c.problem)
			}
		})
	}
	src, err := ingest.As(many+"#beds", herb.Ref{Namespace: "n", Name: "d"})
	if err != nil || src.Dialect.Table != "beds" || src.Path != many || src.Ref.Name != "d" {
		t.Errorf("got %+v, error %v", src, err)
	}
	old := writeFile(t, dir, "old.xls", "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1")
	const want = ": the file is a legacy Office file (.xls); save it as .xlsx or CSV"
	if _, err := ingest.Discover([]string{old}); err == nil || err.Error() != old+want {
		t.Errorf("got error  %v\nwant error %s%s", err, old, want)
	}
}

// TestBinary_Formats sees that the formats are known by their extensions.
func TestBinary_Formats(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]ingest.Format{
		"parquet": ingest.FormatParquet, "pq": ingest.FormatParquet, "XLSX": ingest.FormatXLSX, "xlsm": ingest.FormatXLSX,
		"db": ingest.FormatSQLite, "sqlite": ingest.FormatSQLite, "sqlite3": ingest.FormatSQLite,
	} {
		if got, err := ingest.ParseFormat(name); got != want || err != nil {
			t.Errorf("%s: got %s, error %v", name, got, err)
		}
	}
}
