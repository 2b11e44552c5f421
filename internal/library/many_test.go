package library_test

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/store/sqlite"
)

// manyFields are the fields of each dataset of manyDatasets.
const manyFields = 100

// manyDatasets creates a data folder with one published dataset and copies of it: rows in the database and links to its file.
func manyDatasets(tb testing.TB, copies int) (dir string) {
	tb.Helper()
	dir = tb.TempDir()
	l, db := openMany(tb, dir)
	wide := make([]herb.Field, manyFields)
	record := make(herb.Record, manyFields)
	for i := range wide {
		wide[i] = herb.Field{Name: fmt.Sprintf("column_%03d", i), Type: herb.TypeNumber, Filterable: true, Sortable: true}
		record[i] = fmt.Sprint(i)
	}
	out, err := l.Publish(tb.Context(), library.Publication{
		Dataset: herb.Dataset{Ref: named(0), Fields: wide},
		Records: func(yield func(herb.Record, error) bool) { yield(record, nil) },
	})
	if err != nil {
		tb.Fatal(err)
	}
	if err := db.Close(); err != nil {
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
		numbers + "INSERT INTO datasets (namespace, name, live) SELECT 'many', printf('dataset-%05d', value), printf('v%05d', value) FROM numbers",
		numbers + "INSERT INTO versions (namespace, name, version, title, description, access, fields, records, published, source, details, added) " +
			"SELECT 'many', printf('dataset-%05d', value), printf('v%05d', value), 'Dataset ' || value, description, access, fields, records, published, source, details, 2 " +
			"FROM versions, numbers WHERE name = 'd0'",
	} {
		if _, err := raw.ExecContext(tb.Context(), statement, copies); err != nil {
			tb.Fatal(err)
		}
	}
	for n := range copies {
		if err := os.Link(filepath.Join(dir, out.Dataset.Version+".segment"), filepath.Join(dir, fmt.Sprintf("v%05d.segment", n+1))); err != nil {
			tb.Fatal(err)
		}
	}
	return dir
}

// openMany opens a library on a folder of manyDatasets.
func openMany(tb testing.TB, dir string) (*library.Library, *sqlite.Store) {
	tb.Helper()
	db, err := sqlite.Open(tb.Context(), filepath.Join(dir, "test.db"), sqlite.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	l, err := library.Open(db, library.Options{Dir: dir, Mutable: map[herb.Ref]library.Mutable{herb.PlantsRef: staticMutable{}}})
	if err != nil {
		tb.Fatal(err)
	}
	return l, db
}

// BenchmarkMany measures what a server does in an installation of 10,000 datasets.
func BenchmarkMany(b *testing.B) {
	dir := manyDatasets(b, 10_000)
	l, _ := openMany(b, dir)
	for _, bench := range []struct {
		name string
		do   func(n int) error
	}{
		{"start", func(int) error {
			l, db := openMany(b, dir)
			return errors.Join(l.Refresh(b.Context()), l.Close(), db.Close())
		}},
		{"sweep", func(int) error { return l.Sweep(b.Context()) }},
		{"page", func(int) error {
			live, err := l.Live(b.Context())
			if err != nil {
				return err
			}
			_, err = l.Datasets(b.Context(), live[500:600], false)
			return err
		}},
		{"unknown", func(int) error {
			if _, err := l.Acquire(b.Context(), herb.Ref{Namespace: "many", Name: "dataset-0123x"}); herb.CodeOf(err) != herb.CodeNotFound {
				return fmt.Errorf("got %w", err)
			}
			return nil
		}},
		{"open", func(n int) error {
			return readOne(b.Context(), l, herb.Ref{Namespace: "many", Name: fmt.Sprintf("dataset-%05d", n%10_000+1)})
		}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			before := cpuTime(b)
			for n := 0; b.Loop(); n++ {
				if err := bench.do(n); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(cpuTime(b)-before)/float64(b.N), "cpu-ns/op")
		})
	}
}

// cpuTime returns the processor time of this process.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
