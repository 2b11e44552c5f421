package discover_test

import (
	"bytes"
	"database/sql"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	_ "modernc.org/sqlite"

	"herbarium/internal/ingest"
	"herbarium/internal/ingest/descriptor"
	"herbarium/internal/ingest/discover"
)

// find discovers the sources at paths with all formats.
func find(t *testing.T, paths ...string) descriptor.Set {
	t.Helper()
	return discover.New(discover.Options{Formats: ingest.Formats()}).Discover(t.Context(), paths)
}

// refs returns sources as "ref path#table", with paths relative to dir.
func refs(dir string, sources []descriptor.Source) []string {
	var out []string
	for _, s := range sources {
		out = append(out, s.Ref.String()+" "+strings.TrimPrefix(s.Label(), dir+"/"))
	}
	return out
}

// messages returns the messages of errors, with paths relative to dir.
func messages(dir string, errs []error) []string {
	var out []string
	for _, err := range errs {
		out = append(out, strings.ReplaceAll(err.Error(), dir+"/", ""))
	}
	return out
}

func gzipped(t *testing.T, s string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(s)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// database creates a SQLite database.
func database(t *testing.T, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(s, err)
		}
	}
}

// listing returns the names of the fields of a source, then its records.
func listing(t *testing.T, src descriptor.Source) ([][]string, error) {
	t.Helper()
	table, err := ingest.Inspect(t.Context(), src, ingest.Options{})
	if err != nil {
		return nil, err
	}
	defer table.Close()
	var names []string
	for _, f := range table.Dataset.Fields {
		names = append(names, f.Name)
	}
	out := [][]string{names}
	for r, err := range table.Records(t.Context()) {
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}
