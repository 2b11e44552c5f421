package publish

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/ingest/rowstest"
	"herbarium/internal/store/sqlite"
	"herbarium/internal/versions/versionstest"
)

// brokenCatalogue is a catalogue that panics when it is read.
type brokenCatalogue struct{ versionstest.Catalogue }

// Version implements versionstest.Catalogue.
func (brokenCatalogue) Version(context.Context, herb.Ref, string) (herb.Dataset, error) { panic("bug") }

// Protected implements versionstest.Catalogue.
func (brokenCatalogue) Protected(context.Context) ([]herb.Dataset, error) { panic("bug") }

func openDatabase(t *testing.T) *sqlite.Store {
	t.Helper()
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "test.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func openLibrary(t *testing.T, c versionstest.Catalogue) *versionstest.Node {
	t.Helper()
	l, err := versionstest.Open(c, versionstest.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// TestPublishSource_panic checks a publish that panics in a server, at its start and after a file
// has changed: the stack is logged, and the error is recorded as a source error.
func TestPublishSource_panic(t *testing.T) {
	t.Parallel()
	db := openDatabase(t)
	intact, broken := openLibrary(t, db), openLibrary(t, brokenCatalogue{db})
	path := rowstest.WriteFile(t, t.TempDir(), "prices.csv", "a\n1\n")
	s := ingest.Source{Ref: herb.Ref{Namespace: "shop", Name: "prices"}, Path: path}
	var b bytes.Buffer
	publisher := &Publisher{Versions: broken.Service, Store: db, Log: slog.New(slog.NewTextHandler(&b, nil))}

	if _, err := publisher.PublishSource(t.Context(), s, WayWatch); err == nil {
		t.Error("a publish that panics succeeds")
	}
	if publisher.republish(t.Context(), s) {
		t.Error("a bug is retried")
	}
	if n := strings.Count(b.String(), "publish.brokenCatalogue."); n != 2 {
		t.Errorf("%d stacks in the log, want 2:\n%s", n, &b)
	}
	wrong, err := db.SourceErrors(t.Context())
	if err != nil || len(wrong) != 1 || !strings.Contains(wrong[0].Message, "please report it") {
		t.Errorf("errors of sources: %v, %v", wrong, err)
	}
	publisher.Versions = intact.Service
	if _, err := publisher.PublishSource(t.Context(), s, WayWatch); err != nil {
		t.Error(err)
	}
}

// TestPublish_empty checks that a table without records is published only if its fields are
// declared.
func TestPublish_empty(t *testing.T) {
	t.Parallel()
	db := openDatabase(t)
	publisher := &Publisher{Versions: openLibrary(t, db).Service, Store: db, Log: slog.New(slog.DiscardHandler)}
	for _, tt := range []struct {
		content string
		fields  []ingest.FieldSetting
		want    string
	}{
		{`{"type":"FeatureCollection","features":[]}`, nil, `"features" has no records, so nothing names its fields`},
		{"[]", nil, "the file has no records, so nothing names its fields"},
		{"[]", []ingest.FieldSetting{{Name: "id"}}, "<nil>"},
	} {
		s := ingest.Source{Ref: herb.Ref{Namespace: "shop", Name: "prices"}, Path: rowstest.WriteFile(t, t.TempDir(), "a.json", tt.content), Fields: tt.fields}
		if _, err := publisher.PublishSource(t.Context(), s, WayWatch); !strings.Contains(fmt.Sprint(err), tt.want) {
			t.Errorf("%s with %d fields: got error %v", tt.content, len(tt.fields), err)
		}
	}
}

// TestRemoveStaleErrors keeps errors of existing files and of tables in them.
func TestRemoveStaleErrors(t *testing.T) {
	t.Parallel()
	db := openDatabase(t)
	path := rowstest.WriteFile(t, t.TempDir(), "garden.db", "")
	p := &Publisher{Store: db, Log: slog.New(slog.DiscardHandler)}
	for _, label := range []string{path, path + "#beds", path + ".old", path + ".old#beds"} {
		p.setSourceError(t.Context(), herb.SourceError{Path: label, Message: "broken"})
	}
	if err := p.RemoveStaleErrors(t.Context()); err != nil {
		t.Fatal(err)
	}
	kept, err := db.SourceErrors(t.Context())
	if err != nil || len(kept) != 2 || kept[0].Path != path || kept[1].Path != path+"#beds" {
		t.Errorf("kept %v, error %v", kept, err)
	}
}
