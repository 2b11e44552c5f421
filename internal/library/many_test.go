//go:build unix

package library_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/versions"
	"herbarium/internal/versions/versionstest"
)

// manyFields are the fields of each dataset of manyDatasets.
const manyFields = 100

// manyDatasets creates a data folder with one published dataset and copies of it: rows in the
// database and links to its file.
func manyDatasets(tb testing.TB, copies int) (dir string) {
	tb.Helper()
	dir = tb.TempDir()
	l, _ := openMany(tb, dir)
	wide := make([]herb.Field, manyFields)
	record := make(herb.Record, manyFields)
	for i := range wide {
		wide[i] = herb.Field{Name: fmt.Sprintf("column_%03d", i), Type: herb.TypeNumber, Filterable: true,
			Sortable: true}
		record[i] = fmt.Sprint(i)
	}
	out, err := l.Publish(tb.Context(), versions.Publication{
		Dataset: herb.Dataset{Ref: versionstest.Named(0), Fields: wide},
		Records: func(yield func(herb.Record, error) bool) { yield(record, nil) },
	})
	if err != nil {
		tb.Fatal(err)
	}
	raw, err := sql.Open("sqlite", filepath.Join(dir, "test.db"))
	if err != nil {
		tb.Fatal(err)
	}
	defer raw.Close()
	const numbers = "WITH RECURSIVE numbers (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM numbers WHERE value < ?) "
	for _, statement := range []string{
		"UPDATE catalogue SET generation = generation + (? > 0)",
		numbers + "INSERT INTO datasets (namespace, name, live) SELECT 'many', printf('dataset-%05d', value), " +
			"printf('v%05d', value) FROM numbers",
		numbers + "INSERT INTO versions (namespace, name, version, title, description, access, fields, records, " +
			"published, source, details, added) " +
			"SELECT 'many', printf('dataset-%05d', value), printf('v%05d', value), 'Dataset ' || value, description, " +
			"access, fields, records, published, source, details, 2 " +
			"FROM versions, numbers WHERE name = 'd0'",
		"INSERT INTO version_words SELECT v.namespace, v.name, v.version, words FROM versions AS v, version_words AS " +
			"w WHERE v.namespace = 'many' AND w.name = 'd0' AND v.name < printf('dataset-%05d', ?)",
	} {
		if _, err := raw.ExecContext(tb.Context(), statement, copies); err != nil {
			tb.Fatal(err)
		}
	}
	for n := range copies {
		if err := os.Link(filepath.Join(dir, out.Version+".segment"),
			filepath.Join(dir, fmt.Sprintf("v%05d.segment", n+1))); err != nil {
			tb.Fatal(err)
		}
	}
	return dir
}

// TestMany checks that the cost of a change, a page and a request does not depend on the number of
// datasets: the rows that are read from the catalogue are counted.
func TestMany(t *testing.T) {
	t.Parallel()
	const copies = 150 // more than a server opens in advance
	dir := manyDatasets(t, copies)
	publisher, db := openMany(t, dir)
	counted := &versionstest.UnsteadyCatalogue{Catalogue: db}
	l := versionstest.OpenLibrary(t, counted, versionstest.Options{Dir: dir})
	var live []herb.LiveVersion
	wantRows := func(what string, want int, do func() error) {
		t.Helper()
		before := counted.Rows.Load()
		if err := do(); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if got := counted.Rows.Load() - before; got != int64(want) {
			t.Errorf("%s reads %d rows of the catalogue; want %d", what, got, want)
		}
	}
	wantRows("the start", copies+1, func() error { return l.Refresh(t.Context()) })
	if h := l.Health(); h.Cold != copies+1 {
		t.Errorf("health: %+v; want no dataset to be opened in advance", h)
	}
	wantRows("the list", 0, func() (err error) { live, err = l.Live(t.Context()); return err })
	wantRows("a page", 25, func() error { _, err := l.Datasets(t.Context(), live[100:125], false); return err })
	wantRows("the same page", 0, func() error { _, err := l.Datasets(t.Context(), live[100:125], false); return err })
	wantRows("a page with details", 25,
		func() error { _, err := l.Datasets(t.Context(), live[100:125], true); return err })
	wantRows("a page of which some are known", 5,
		func() error { _, err := l.Datasets(t.Context(), live[105:130], true); return err })
	wantRows("the first request", 1, func() error { return readOne(t.Context(), l, live[7].Ref) })
	wantRows("the second request", 0, func() error { return readOne(t.Context(), l, live[7].Ref) })
	wantRows("an unknown name", 0, func() error {
		_, err := l.Acquire(t.Context(), herb.Ref{Namespace: "many", Name: "dataset-0007x"})
		if !strings.Contains(err.Error(), `did you mean "many/dataset-00070"?`) {
			return fmt.Errorf("got %w", err)
		}
		return nil
	})
	found := func(search string, want int) func() error {
		return func() error {
			found, err := l.Search(t.Context(), search, "")
			if err == nil && len(found) != want {
				err = fmt.Errorf("found %d datasets, want %d", len(found), want)
			}
			return err
		}
	}
	// The words of the last copy are not stored, as those of an earlier release.
	wantRows("the first search", copies+1, found("column_099", copies+1))
	wantRows("the second search", 0, found("column_000", copies+1))
	versionstest.PublishAs(t, publisher, ref, 3)
	wantRows("a publish of a new dataset", 2, func() error { return readOne(t.Context(), l, ref) })
	wantRows("a search after a publish", 1, found("prices", 1))
	if err := publisher.Remove(t.Context(), live[9].Ref, ""); err != nil {
		t.Fatal(err)
	}
	wantRows("a removal", 1, func() error {
		if _, err := l.Acquire(t.Context(), live[9].Ref); herb.CodeOf(err) != herb.CodeNotFound {
			return fmt.Errorf("got %w", err)
		}
		return nil
	})
	for _, v := range live[10:] { // the memory of open versions is bounded
		if err := readOne(t.Context(), l, v.Ref); err != nil {
			t.Fatal(err)
		}
	}
	if h := l.Health(); h.Open < 15 || h.Open > 100 {
		t.Errorf("%d versions of %d fields are open", h.Open, manyFields)
	}
}

// BenchmarkDatasets describes a page of datasets that are not open, as the catalogue does: for the
// first time, and again.
func BenchmarkDatasets(b *testing.B) {
	dir := manyDatasets(b, 150)
	db := versionstest.OpenDB(b, dir)
	for _, bm := range []struct {
		name string
		size int // of the cache
	}{{"first", 1}, {"again", 0}} {
		b.Run(bm.name, func(b *testing.B) {
			l := versionstest.OpenLibrary(b, db, versionstest.Options{Dir: dir, SummarySize: bm.size})
			if err := l.Refresh(b.Context()); err != nil {
				b.Fatal(err)
			}
			live, err := l.Live(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := l.Datasets(b.Context(), live[:50], true); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
