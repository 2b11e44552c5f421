package ingest_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/ingest/rowstest"
)

// TestInspect_Expansion reads small files that expand without end. They are rejected within the
// budget.
func TestInspect_Expansion(t *testing.T) {
	for _, c := range rowstest.ExpandingFiles() {
		t.Run(c.Name, func(t *testing.T) {
			path := writeFile(t, t.TempDir(), c.File, c.Content)
			var err error
			used := rowstest.Allocated(
				func() { _, err = ingest.Inspect(t.Context(), ingest.Source{Path: path}, ingest.Options{}) })
			if herb.CodeOf(err) != herb.CodeInvalid || !regexp.MustCompile(c.Want).MatchString(err.Error()) {
				t.Errorf("got error %v", err)
			}
			if used > 200<<20 {
				t.Errorf("a file of %d bytes allocates %d", len(c.Content), used)
			}
		})
	}
}

// TestInspect_NoNamedCopies reads files whose content is copied. At no time does a copy have a
// name, so that a killed process leaves nothing behind.
func TestInspect_NoNamedCopies(t *testing.T) {
	type row struct{ A, B string }
	var b bytes.Buffer
	w := parquet.NewGenericWriter[row](&b)
	for i := range 50_000 {
		if _, err := w.Write([]row{{fmt.Sprint(i * 7919), "some text"}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, content := range map[string]string{
		"x.parquet.gz": rowstest.Gzip(b.String()),
		"x.csv":        "a,b\n" + strings.Repeat("0123456789,0123456789\n", 100_000),
	} {
		temp := t.TempDir()
		t.Setenv("TMPDIR", temp)
		checks := 0
		check := func() {
			checks++
			if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
				t.Errorf("%s: %d files, error %v", name, len(left), err)
			}
		}
		table, err := ingest.Inspect(t.Context(), ingest.Source{Path: writeFile(t, dir, name, content)},
			ingest.Options{Progress: func(int64, int64) { check() }})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, err := range table.Records(t.Context()) {
			n++
			if err != nil {
				t.Fatal(err)
			}
		}
		check()
		if checks < 3 || n < 50_000 || table.Close() != nil {
			t.Errorf("%s: %d checks, %d records", name, checks, n)
		}
	}
}

// FuzzInspect reads arbitrary bytes under the name of each format. They are read, or rejected as
// invalid, without a panic and without excessive memory.
func FuzzInspect(f *testing.F) {
	names := []string{"x", "x.csv", "x.tsv", "x.json", "x.ndjson", "x.parquet", "x.xlsx", "x.db"}
	odd, err := filepath.Glob("testdata/odd/*")
	if err != nil || len(odd) < 10 {
		f.Fatal(odd, err)
	}
	for _, path := range odd {
		b, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, byte(0))
	}
	for i := range names {
		f.Add([]byte("a,b\n1,2\n"), byte(i))
	}
	f.Add([]byte(rowstest.Gzip("a\n1\n")), byte(1))
	f.Add([]byte(rowstest.Zstd(`[{"a":1}]`)), byte(3))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, b []byte, which byte) {
		path := filepath.Join(dir, names[int(which)%len(names)])
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		var err error
		used := rowstest.Allocated(func() {
			var table *ingest.Table
			table, err = ingest.Inspect(t.Context(), ingest.Source{Path: path}, ingest.Options{})
			if err == nil {
				err = table.Close()
			}
		})
		if err != nil && herb.CodeOf(err) != herb.CodeInvalid {
			t.Errorf("error %v", err)
		}
		if used > 256<<20+uint64(len(b))*10_000 {
			t.Errorf("%d bytes allocate %d", len(b), used)
		}
	})
}
