package ingest_test

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/ingest"
	"herbarium/internal/ingest/source"
)

// database creates a database with statements and closes it.
func database(t testing.TB, name string, statements ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "garden", name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	plain := filepath.Join(t.TempDir(), "plain.db") // a path without characters that are special in a database URL
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

// TestSQLite_Log reads rows that are only in the write-ahead log, and includes the log in the hash.
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

// TestBinary_Formats checks that the formats are detected by their extensions.
func TestBinary_Formats(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"parquet": "parquet", "pq": "parquet", "XLSX": "xlsx", "xlsm": "xlsx",
		"db": "sqlite", "sqlite": "sqlite", "sqlite3": "sqlite",
	} {
		if got, err := source.ParseFormat(ingest.Formats(), name); got != want || err != nil {
			t.Errorf("%s: got %s, error %v", name, got, err)
		}
	}
}
