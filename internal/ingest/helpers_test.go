package ingest_test

import (
	"archive/zip"
	"database/sql"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/ingest/rows"
)

type (
	dialect = rows.Options
	table   = [][]string
)

// writeFile writes a file into a folder of the test's own and returns its path.
func writeFile(t testing.TB, dir, name, content string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func inspect(t testing.TB, src ingest.Source) *ingest.Table {
	t.Helper()
	table, err := ingest.Inspect(t.Context(), src, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// read returns the names of the fields and the records of a source, and its warnings.
func read(t testing.TB, src ingest.Source) (got table, warnings []string, err error) {
	t.Helper()
	found, err := ingest.Inspect(t.Context(), src, ingest.Options{})
	if err != nil {
		return nil, nil, err
	}
	got = table{nil}
	for _, f := range found.Dataset.Fields {
		got[0] = append(got[0], f.Name)
	}
	for _, r := range recordsOf(t, found) {
		got = append(got, r)
	}
	return got, found.Dataset.Report.Notes, found.Close()
}

func recordsOf(t testing.TB, found *ingest.Table) (records []herb.Record) {
	t.Helper()
	for r, err := range found.Records(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, r)
	}
	if n := found.Dataset.Records; n != len(records) {
		t.Errorf("got %d records, counted %d", len(records), n)
	}
	return records
}

// checkInvalid checks the start of the message of an error that a file or a setting causes.
func checkInvalid(t testing.TB, err error, want string) {
	t.Helper()
	if err == nil || !strings.HasPrefix(err.Error(), want) || herb.CodeOf(err) != herb.CodeInvalid {
		t.Errorf("got error  %v\nwant error %s", err, want)
	}
}

// archive returns a zip archive.
func archive(t testing.TB, files map[string]string) string {
	t.Helper()
	var b strings.Builder
	z := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		w, err := z.Create(name)
		if err == nil {
			_, err = io.WriteString(w, files[name])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// writeBook writes a workbook of one sheet.
func writeBook(t testing.TB, sheet string) string {
	t.Helper()
	relation := func(id, target string) string {
		return `<Relationships><Relationship Id="rId1" Type="http://x/` + id + `" Target="` + target +
			`"/></Relationships>`
	}
	return writeFile(t, t.TempDir(), "x.xlsx", archive(t, map[string]string{
		"_rels/.rels":                relation("officeDocument", "xl/workbook.xml"),
		"xl/_rels/workbook.xml.rels": relation("worksheet", "worksheets/sheet1.xml"),
		"xl/workbook.xml": `<workbook xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships">` +
			`<sheets><sheet name="One" sheetId="1" r:id="rId1"/></sheets></workbook>`,
		"xl/worksheets/sheet1.xml": `<worksheet><sheetData>` + sheet + `</sheetData></worksheet>`,
	}))
}

// database creates a database with statements and closes it.
func database(t testing.TB, statements ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Exec(strings.Join(statements, ";"))
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}
