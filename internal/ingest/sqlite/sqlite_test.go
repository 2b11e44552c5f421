package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/rowstest"
)

// diskFile is a rows.File on disk. Its document is not closed.
type diskFile string

func (f diskFile) Name() string                                               { return filepath.Base(string(f)) }
func (f diskFile) Open() (io.ReadCloser, error)                               { return os.Open(string(f)) }
func (f diskFile) Random() (*io.SectionReader, error)                         { return nil, errors.ErrUnsupported }
func (f diskFile) Path() (string, error)                                      { return string(f), nil }
func (f diskFile) Document(open func() (io.Closer, error)) (io.Closer, error) { return open() }
func (f diskFile) Size() int64 {
	info, err := os.Stat(string(f))
	if err != nil {
		return 0
	}
	return info.Size()
}

// createDatabase runs statements in a new database and closes it.
func createDatabase(t testing.TB, name string, statements ...string) string {
	t.Helper()
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
	path := filepath.Join(t.TempDir(), name)
	if err := errors.Join(db.Close(), os.Rename(plain, path)); err != nil {
		t.Fatal(err)
	}
	return path
}

// readTable reads a table: the names of the columns, then the rows.
func readTable(ctx context.Context, path, table string) ([][]string, []rows.Column, error) {
	t, err := rowstest.Read(ctx, Format(), diskFile(path), rows.Options{Table: table}, rows.Limits{})
	return t.Rows, t.Columns, err
}

func TestReader(t *testing.T) {
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
			"geometries", []string{
				`CREATE TABLE t (id INT, shape BLOB, at POINT, geom BLOB, data BLOB)`,
				`CREATE TABLE gpkg_contents (table_name TEXT)`, `CREATE TABLE gpkg_geometry_columns (table_name TEXT)`,
				`INSERT INTO t VALUES (1, x'47500001E61000000101000000000000000000F03F0000000000000040', x'0101000000000000000000F03F0000000000000040',
				 x'0101000000000000000000F03F0000000000000040', x'0101000000000000000000F03F0000000000000040'), (2, x'4750', x'01', NULL, x'4750')`,
			}, "",
			[][]string{
				{"id", "shape", "at", "geom", "data"},
				{"1", "POINT (1 2)", "POINT (1 2)", "POINT (1 2)", "AQEAAAAAAAAAAADwPwAAAAAAAABA"},
				{"2", "R1A=", "AQ==", "", "R1A="},
			},
		}, {
			"in the order of rowid, not of an index", []string{
				`CREATE TABLE t (rowid TEXT)`, `INSERT INTO t (_rowid_, rowid) VALUES (3, 'c'), (1, 'z'), (2, 'a')`,
				`CREATE INDEX i ON t (rowid)`,
			}, "T",
			[][]string{{"rowid"}, {"z"}, {"a"}, {"c"}},
		}, {
			"without rowid", []string{
				`CREATE TABLE t (v, b TEXT, a INT, PRIMARY KEY (a, b)) WITHOUT ROWID`,
				`INSERT INTO t VALUES (1, 'y', 2), (2, 'x', 2), (3, 'z', 1)`,
			}, "",
			[][]string{{"v", "b", "a"}, {"3", "z", "1"}, {"2", "x", "2"}, {"1", "y", "2"}},
		}, {
			"generated columns that are stored", []string{`CREATE TABLE t (a, b AS (a + 1), c AS (a * 2) STORED)`,
				`INSERT INTO t VALUES (1)`}, "",
			[][]string{{"a", "c"}, {"1", "2"}},
		}, {
			"UTF-16", []string{`PRAGMA encoding = 'UTF-16'`, `CREATE TABLE t (a)`, `INSERT INTO t VALUES ('Grün 😀')`},
			"",
			[][]string{{"a"}, {"Grün 😀"}},
		}, {
			"search tables are left out", []string{
				`CREATE VIRTUAL TABLE words USING fts5(x)`, `INSERT INTO words VALUES ('rose')`,
				`CREATE TABLE t (a INTEGER PRIMARY KEY AUTOINCREMENT)`,
				`INSERT INTO t VALUES (7)`,
			}, "",
			[][]string{{"a"}, {"7"}},
		},
		{"without rowid, in descending order", []string{`CREATE TABLE t (v, a, PRIMARY KEY (a DESC)) WITHOUT ROWID`,
			`INSERT INTO t VALUES (1, 1), (2, 3), (3, 2)`,
			`CREATE INDEX i ON t (v, a)`}, "", [][]string{{"v", "a"}, {"2", "3"}, {"3", "2"}, {"1", "1"}}},
		{"no rows", []string{`CREATE TABLE t (a, b)`}, "", [][]string{{"a", "b"}}},
		{"no name", []string{`CREATE TABLE "" ("" TEXT, """q" TEXT)`, `INSERT INTO "" VALUES ('x', 'y')`}, "",
			[][]string{{"", `"q`}, {"x", "y"}}},
		{"all aliases taken", []string{`CREATE TABLE t (rowid, _rowid_, oid)`, `INSERT INTO t VALUES (1, 2, 3)`}, "",
			[][]string{{"rowid", "_rowid_", "oid"}, {"1", "2", "3"}}},
		{"a virtual table of a missing module beside", append(missingModule("geo"), `CREATE TABLE t (a)`), "",
			[][]string{{"a"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := createDatabase(t, "a file?#%20.db", c.statements...)
			got, _, err := readTable(t.Context(), path, c.table)
			if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
				t.Errorf("error %v (-want +got):\n%s", err, diff)
			}
			if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
				t.Errorf("files next to the database: %v, error %v", entries, err)
			}
		})
	}
}

// missingModule creates a virtual table of a module that does not exist.
func missingModule(name string) []string {
	return []string{`PRAGMA writable_schema = ON`, fmt.Sprintf(
		`INSERT INTO sqlite_schema VALUES ('table', '%[1]s', '%[1]s', 0, 'CREATE VIRTUAL TABLE %[1]s USING unheard_of(x)')`, name)}
}

func TestReader_GeometryNotes(t *testing.T) {
	t.Parallel()
	path := createDatabase(t, "a.gpkg", `CREATE TABLE t (geom BLOB, at POINT, data BLOB)`,
		`INSERT INTO t VALUES (x'4750', NULL, x'01')`)
	got, err := rowstest.Read(t.Context(), Format(), diskFile(path), rows.Options{}, rows.Limits{})
	want := `column "geom": 1 value is not a geometry as WKB and listed as base64`
	if err != nil || len(got.Notes) != 1 || got.Notes[0] != want {
		t.Errorf("got notes %q and error %v", got.Notes, err)
	}
}

func TestReader_DeclaredTypes(t *testing.T) {
	t.Parallel()
	path := createDatabase(t, "x.db",
		`CREATE TABLE t (zip TEXT, code VARCHAR(5), born TEXT, n INTEGER, price DECIMAL(10,2), mixed REAL, at DATETIME, flag BOOLEAN, any, empty INT)`,
		`INSERT INTO t VALUES ('94110', '00042', '2024-02-29', 1, 1.5, 2, '2024-02-29 13:45', 1, 7, NULL), ('94111', 'x', '2024-03-01 10:00', 2, 2, 'n/a', 'x', 'yes', 'x', NULL)`)
	_, columns, err := readTable(t.Context(), path, "")
	if err != nil {
		t.Fatal(err)
	}
	want := []rows.Column{
		{Name: "zip", Type: herb.TypeText}, {Name: "code", Type: herb.TypeText}, {Name: "born"},
		{Name: "n", Type: herb.TypeNumber, Numbers: true},
		{Name: "price", Type: herb.TypeNumber, Numbers: true}, {Name: "mixed", Numbers: true}, {Name: "at"},
		{Name: "flag", Numbers: true}, {Name: "any", Numbers: true}, {Name: "empty", Type: herb.TypeNumber},
	}
	if diff := cmp.Diff(want, columns); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTables(t *testing.T) {
	t.Parallel()
	path := createDatabase(t, "x.db", `CREATE TABLE plants (a)`, `CREATE TABLE beds (a)`,
		`CREATE VIEW v AS SELECT 1 AS x`, `CREATE VIRTUAL TABLE words USING fts5(a)`)
	got, err := Format().Tables(t.Context(), diskFile(path), rows.Options{},
		rows.NewBudget(t.Context(), 1, rows.Limits{}))
	want := []rows.Table{{Name: "beds"}, {Name: "plants"}, {Name: "v", Skipped: "a view, which is not published"},
		{Name: "words", Skipped: "a virtual table, which is not published"}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
}

func TestReader_Rejected(t *testing.T) {
	t.Parallel()
	two := []string{`CREATE TABLE plants (a)`, `CREATE TABLE beds (a)`}
	for _, c := range []struct {
		name       string
		statements []string
		table      string
		want       string
	}{
		{"several tables", two, "", "beds, plants"},
		{"unknown table", two, "plant", `did you mean "plants"?`},
		{"no tables", []string{`VACUUM`}, "", "no tables"},
		{"virtual tables alone", []string{`CREATE VIRTUAL TABLE words USING fts5(a)`,
			`CREATE VIRTUAL TABLE boxes USING rtree(id, x, y)`}, "",
			`"boxes" is a virtual table, which is not published, because its rows are computed; store them: CREATE TABLE copy AS SELECT * FROM "boxes"`},
		{"a virtual table", append(missingModule("geo"), `CREATE TABLE t (a)`), "geo", `"geo" is a virtual table`},
		{"a view", []string{`CREATE VIEW v AS SELECT 1 AS a`, `CREATE TABLE t (a)`}, "v", `"v" is a view`},
		{"not UTF-8", []string{`CREATE TABLE t (a, b)`, `INSERT INTO t VALUES (1, 'x'), (2, CAST(x'FF' AS TEXT))`}, "",
			`table "t", row 2, column "b"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, _, err := readTable(t.Context(), createDatabase(t, "x.db", c.statements...), c.table)
			if herb.CodeOf(err) != herb.CodeInvalid || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want one with %q", err, c.want)
			}
		})
	}
	path := filepath.Join(t.TempDir(), "x.db")
	if err := os.WriteFile(path, []byte("not a database, however it is called"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := readTable(t.Context(), path, ""); herb.CodeOf(err) != herb.CodeInvalid {
		t.Errorf("got error %v", err)
	}
}

// forever is an expression that takes weeks: a single call of a function, which cannot be
// interrupted.
const forever = `instr(printf('%.*c', 8000000, 'x'), printf('%.*c', 4000000, 'x') || 'y')`

// redefine replaces a statement of the schema, without computing anything.
func redefine(name, statement string) []string {
	return []string{`PRAGMA writable_schema = ON`, fmt.Sprintf(`UPDATE sqlite_schema SET sql = '%s' WHERE name = '%s'`,
		strings.ReplaceAll(statement, "'", "''"), name)}
}

// TestReader_Computed reads databases with expressions that take forever.
func TestReader_Computed(t *testing.T) {
	t.Parallel()
	table := []string{`CREATE TABLE t (a)`, `INSERT INTO t VALUES (7)`}
	index := []string{`CREATE INDEX i ON t (a)`}
	nested := []string{`CREATE VIEW v0 AS SELECT a FROM t`}
	for i := range 40 {
		nested = append(nested, fmt.Sprintf(`CREATE VIEW v%d AS SELECT x.a FROM v%d AS x, v%d AS y`, i+1, i, i))
	}
	for _, c := range []struct {
		name       string
		statements []string
		want       string // in the error; empty: the table is read
	}{
		{"a view beside", append(table, `CREATE VIEW v AS SELECT `+forever+` AS b FROM t`), ""},
		{"nested views beside", append(table, nested...), ""},
		{"a column", slices.Concat(table, redefine("t", `CREATE TABLE t (a, b AS (`+forever+`))`)), ""},
		{"an index", slices.Concat(table, index, redefine("i", `CREATE INDEX i ON t (`+forever+`)`)), ""},
		{"an index of some rows",
			slices.Concat(table, index, redefine("i", `CREATE INDEX i ON t (a) WHERE a > `+forever)), ""},
		{"an index of a table without row IDs", slices.Concat([]string{`CREATE TABLE t (a PRIMARY KEY) WITHOUT ROWID`},
			table[1:], index,
			redefine("i", `CREATE INDEX i ON t (a, `+forever+`)`)), ""},
		{"a constraint", slices.Concat(table, redefine("t", `CREATE TABLE t (a CHECK (a > `+forever+`))`)), ""},
		{"a default", slices.Concat(table, redefine("t", `CREATE TABLE t (a, b DEFAULT (`+forever+`))`)), ""},
		{"a trigger", append(table, `CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT `+forever+`; END`), ""},
		{"statistics", slices.Concat(table, statistics(1, forever)),
			"the schema or the statistics of the database have a value of more than 100000 bytes"},
		{"a view alone", []string{`CREATE VIEW v AS SELECT ` + forever + ` AS b`}, `"v" is a view`},
		{"a recursive view", []string{
			`CREATE VIEW v AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT i FROM n`},
			`"v" is a view`},
		{"a view described as a table",
			append([]string{`CREATE TABLE v (a)`}, redefine("v", `CREATE VIEW v AS SELECT `+forever+` AS b`)...),
			"damaged"},
		{"a view with the name in the description of a table",
			slices.Concat([]string{`CREATE TABLE v (a)`, `CREATE VIEW w AS SELECT 1`},
				redefine("w", `CREATE VIEW v AS SELECT `+forever+` AS b`),
				redefine("v", `CREATE TABLE vv (a)`)), "damaged"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := rowstest.Read(t.Context(), Format(), diskFile(createDatabase(t, "x.db", c.statements...)),
				rows.Options{}, rows.Limits{})
			if c.want != "" {
				if herb.CodeOf(err) != herb.CodeInvalid || !strings.Contains(err.Error(), c.want) {
					t.Errorf("got error %v, want one with %q", err, c.want)
				}
				return
			}
			if err != nil || len(got.Rows) != 2 || got.Rows[1][0] != "7" {
				t.Errorf("got %v, error %v", got.Rows, err)
			}
		})
	}
}

// statistics returns a table of statistics with computed values, which SQLite reads together with
// the schema.
func statistics(rows int, expression string) []string {
	return slices.Concat([]string{`CREATE TABLE s (tbl)`,
		fmt.Sprintf(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < %d) INSERT INTO s SELECT i FROM n`, rows)},
		redefine("s", `CREATE TABLE sqlite_stat1 (tbl, idx AS (1), stat AS (`+expression+`))`),
		[]string{`UPDATE sqlite_schema SET name = 'sqlite_stat1', tbl_name = 'sqlite_stat1' WHERE name = 's'`})
}

// TestReader_Interrupted ends the context of a database that computes for hours, in short steps.
func TestReader_Interrupted(t *testing.T) {
	t.Parallel()
	const slow = `instr(printf('%.*c', 80000, 'x'), printf('%.*c', 40000, 'x') || tbl)`
	path := createDatabase(t, "x.db", append([]string{`CREATE TABLE t (a)`}, statistics(50_000, slow)...)...)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() {
		_, _, err := readTable(ctx, path, "")
		done <- err
	}()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v", err)
	}
}

func TestReader_ComputedColumn(t *testing.T) {
	t.Parallel()
	path := createDatabase(t, "x.db", `CREATE TABLE t (a, "b c" AS (a + 1), d AS (a * 2))`)
	r, err := rowstest.Open(t.Context(), Format(), diskFile(path), rows.Options{}, rows.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if notes := r.Notes(); len(notes) != 1 || !strings.Contains(notes[0], "b c, d") {
		t.Errorf("notes %q", notes)
	}
}

// TestReader_OtherTables lists what is not published beside a table.
func TestReader_OtherTables(t *testing.T) {
	t.Parallel()
	path := createDatabase(t, "x.db", `CREATE TABLE plants (a)`, `CREATE VIEW plants_that_are_tall AS SELECT 1 AS x`)
	for table, want := range map[string]int{"": 1, "plants": 0} {
		r, err := rowstest.Open(t.Context(), Format(), diskFile(path), rows.Options{Table: table}, rows.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if notes := r.Notes(); len(notes) != want || want > 0 &&
			!strings.Contains(notes[0], `another: "plants_that_are_tall" (a view, which is not published)`) {
			t.Errorf("table %q: notes %q", table, notes)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestReader_LargeText rejects text of more than MaxRecord bytes before it is copied.
func TestReader_LargeText(t *testing.T) {
	for _, c := range []struct {
		name, value string
		ok          bool
	}{
		{"text of 60 MiB", fmt.Sprintf(`replace(hex(zeroblob(%d)), '00', 'x')`, 60<<20), false},
		{"blob of 9 MiB", fmt.Sprintf(`zeroblob(%d)`, 9<<20), false},
		{"text of 8 MiB", fmt.Sprintf(`replace(hex(zeroblob(%d)), '00', 'x')`, rows.MaxRecord), true},
	} {
		path := createDatabase(t, "x.db", `CREATE TABLE t (a)`, `INSERT INTO t VALUES (`+c.value+`)`)
		var err error
		used := rowstest.Allocated(func() { _, _, err = readTable(t.Context(), path, "") })
		if c.ok != (err == nil) || err != nil && herb.CodeOf(err) != herb.CodeInvalid {
			t.Errorf("%s: got error %v", c.name, err)
		}
		if !c.ok && used > 5<<20 {
			t.Errorf("%s: allocated %d bytes", c.name, used)
		}
	}
}

// TestReader_Damaged cuts a database at many lengths and changes its bytes.
func TestReader_Damaged(t *testing.T) {
	t.Parallel()
	path := createDatabase(t, "x.db", `CREATE TABLE t (a, b)`,
		`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 2000)
		INSERT INTO t SELECT i, 'plant ' || i FROM n`)
	intact, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	read := func(content []byte) error {
		path := filepath.Join(t.TempDir(), "x.db")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		_, _, err := readTable(t.Context(), path, "")
		return err
	}
	const page = 4096
	lengths := []int{page, 5 * page, len(intact) - page}
	for n := 1; n < len(intact); n += 997 {
		lengths = append(lengths, n)
	}
	for _, n := range lengths {
		if err := read(intact[:n]); herb.CodeOf(err) != herb.CodeInvalid {
			t.Errorf("cut to %d of %d bytes: %v", n, len(intact), err)
		}
	}
	for n := 100; n < len(intact); n += 501 {
		changed := bytes.Clone(intact)
		changed[n] ^= 0xFF
		if err := read(changed); err != nil && herb.CodeOf(err) != herb.CodeInvalid {
			t.Errorf("byte %d changed: %v", n, err)
		}
	}
}

// TestReader_WriteAheadLog reads rows that are only in the write-ahead log.
func TestReader_WriteAheadLog(t *testing.T) {
	t.Parallel()
	path := createDatabase(t, "x.db", `PRAGMA journal_mode = WAL`, `CREATE TABLE t (a)`)
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`INSERT INTO t VALUES ('new')`); err != nil {
		t.Fatal(err)
	}
	got, _, err := readTable(t.Context(), path, "")
	if diff := cmp.Diff([][]string{{"a"}, {"new"}}, got); diff != "" || err != nil {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
}
