//go:build unix

package library_test

import (
	"database/sql"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/library"
)

// TestSearch searches the catalogue while datasets are published, removed and rolled back, and after the words that earlier releases
// stored, or none at all, replaced those of a dataset.
func TestSearch(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	publisher, db := openMany(t, dir)
	l, err := library.Open(db, library.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(l.Close(), publisher.Close(), db.Close()); err != nil {
			t.Error(err)
		}
	})
	publish := func(name, title, keyword string) {
		t.Helper()
		if _, err := publisher.Publish(t.Context(), library.Publication{
			Dataset: herb.Dataset{
				Ref: herb.Ref{Namespace: "garden", Name: name}, Title: title, Access: herb.AccessOpen, Fields: []herb.Field{{Name: "id", Type: herb.TypeText}},
				Details: herb.Details{Descriptor: json.RawMessage(`{"resource":{"keywords":["` + keyword + `"]}}`)},
			},
			Records: func(yield func(herb.Record, error) bool) { yield(herb.Record{"1"}, nil) },
		}); err != nil {
			t.Fatal(err)
		}
	}
	want := func(search, keyword, want string) {
		t.Helper()
		found, err := l.Search(t.Context(), search, keyword)
		var names []string
		for _, v := range found {
			names = append(names, v.Name)
		}
		if got := strings.Join(names, " "); err != nil || got != want {
			t.Errorf("search %q, keyword %q: %q, %v; want %q", search, keyword, got, err, want)
		}
	}
	change := func(statement string) { // and open the catalogue again
		t.Helper()
		raw, err := sql.Open("sqlite", filepath.Join(dir, "test.db"))
		if err == nil {
			_, err = raw.ExecContext(t.Context(), statement)
			err = errors.Join(err, raw.Close(), l.Close())
		}
		if err == nil {
			l, err = library.Open(db, library.Options{Dir: dir})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	publish("ferns", "Green plants", "Open data")
	publish("roses", "Red plants", "open data")
	want("", "", "ferns roses")
	want("!", "", "")
	want("pla", "", "ferns roses")
	want("green", "", "ferns")
	want("", "Open data", "ferns")
	want("red", "Open data", "")

	publish("roses", "White plants", "Open data")
	publish("trees", "Tall plants", "Open data")
	want("red", "", "")
	want("white", "", "roses")
	want("", "Open data", "ferns roses trees")
	if _, err := publisher.Rollback(t.Context(), herb.Ref{Namespace: "garden", Name: "roses"}, "", false); err != nil {
		t.Fatal(err)
	}
	if err := publisher.Remove(t.Context(), herb.Ref{Namespace: "garden", Name: "trees"}); err != nil {
		t.Fatal(err)
	}
	want("red", "", "roses")
	want("plants", "Open data", "ferns")

	change("DELETE FROM version_words")
	for range 2 { // the second search uses what the first one has read
		want("green", "", "ferns")
		want("", "Open data", "ferns")
		want("", "Other data", "")
	}
}
