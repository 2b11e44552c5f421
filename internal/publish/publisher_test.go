package publish

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/ingest/rowstest"
	"herbarium/internal/must"
	"herbarium/internal/store"
	"herbarium/internal/store/sqlite"
	"herbarium/internal/versions"
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
	if publisher.republish(t.Context(), s, false) {
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
		s := ingest.Source{Ref: herb.Ref{Namespace: "shop", Name: "prices"},
			Path: rowstest.WriteFile(t, t.TempDir(), "a.json", tt.content), Fields: tt.fields}
		if _, err := publisher.PublishSource(t.Context(), s, WayWatch); !strings.Contains(fmt.Sprint(err), tt.want) {
			t.Errorf("%s with %d fields: got error %v", tt.content, len(tt.fields), err)
		}
	}
}

// failingStore is a store that cannot be written while err is not nil.
type failingStore struct {
	Store
	err error
}

// SetSourceError implements Store.
func (s *failingStore) SetSourceError(ctx context.Context, e herb.SourceError) error {
	return cmp.Or(s.err, s.Store.SetSourceError(ctx, e))
}

// TestPublishSource_temporary publishes a source that cannot be opened: it is retried, and named
// although the database stores nothing.
func TestPublishSource_temporary(t *testing.T) {
	t.Parallel()
	db := openDatabase(t)
	disk := &failingStore{db, errors.New("disk full")}
	var log bytes.Buffer
	p := &Publisher{Versions: openLibrary(t, db).Service, Store: disk, Log: slog.New(slog.NewTextHandler(&log, nil))}
	path := filepath.Join(t.TempDir(), "prices.csv")
	must.NoError(t, os.Symlink(path, path))
	s := ingest.Source{Ref: herb.Ref{Namespace: "shop", Name: "prices"}, Path: path}
	wantNamed := func(when string, want int) {
		t.Helper()
		named, err := p.SourceErrors(t.Context())
		if err != nil || len(named) != want {
			t.Errorf("%s: sources that are not published: %v, error %v; want %d", when, named, err, want)
		}
	}
	for _, repeated := range []bool{false, true, true} {
		if !p.republish(t.Context(), s, repeated) {
			t.Error("a source is not retried although its file is intact")
		}
		wantNamed("while the database cannot be written", 1)
	}
	entries, err := db.AuditEntries(t.Context(), herb.AuditQuery{})
	if n := strings.Count(log.String(), "cannot publish source"); err != nil || len(entries) != 1 || n != 1 {
		t.Errorf("three attempts: %d audit entries, %d errors in the log; want 1 each", len(entries), n)
	}
	disk.err = nil
	must.NoError(t, p.StoreSourceErrors(t.Context()))
	if stored, err := db.SourceErrors(t.Context()); err != nil || len(stored) != 1 {
		t.Errorf("the database stores %v, error %v", stored, err)
	}
	must.NoError(t, os.Remove(path))
	rowstest.WriteFile(t, filepath.Dir(path), "prices.csv", "a\n1\n")
	if p.republish(t.Context(), s, true) {
		t.Error("a published source is retried")
	}
	wantNamed("when it is published", 0)
	rowstest.WriteFile(t, filepath.Dir(path), "prices.csv", "a\n1,2\n")
	if p.republish(t.Context(), s, false) {
		t.Error("a file that cannot be read is retried")
	}
	wantNamed("when the file is wrong", 1)
}

// TestPublish_damagedVersion publishes unchanged files whose live version is damaged or missing.
func TestPublish_damagedVersion(t *testing.T) {
	t.Parallel()
	segmentOf := func(dir, version string) string { return filepath.Join(dir, store.SegmentFile(version)) }
	for name, tt := range map[string]struct {
		spoil func(path string) error
		want  versions.Status
	}{
		"intact":  {func(string) error { return nil }, versions.StatusUnchanged},
		"missing": {os.Remove, versions.StatusPublished},
		"cut off": {func(path string) error { return os.Truncate(path, 200) }, versions.StatusPublished},
		"flipped": {func(path string) error {
			content, err := os.ReadFile(path)
			content[len(content)/2] ^= 1
			return errors.Join(err, os.WriteFile(path, content, 0o600))
		}, versions.StatusPublished},
		"a link to itself": {func(path string) error {
			return errors.Join(os.Remove(path), os.Symlink(path, path))
		}, versions.StatusFailed},
	} {
		for _, read := range []func(*ingest.Table) error{nil, func(*ingest.Table) error { return nil }} {
			t.Run(fmt.Sprintf("%s, read %t", name, read != nil), func(t *testing.T) {
				t.Parallel()
				db, dir := openDatabase(t), t.TempDir()
				node := versionstest.OpenLibrary(t, db, versionstest.Options{Dir: dir})
				p := &Publisher{Versions: node.Service, Store: db, Log: slog.New(slog.DiscardHandler)}
				s := ingest.Source{Ref: herb.Ref{Namespace: "shop", Name: "prices"},
					Path: rowstest.WriteFile(t, t.TempDir(), "prices.csv", "a\n1\n")}
				first, err := p.Publish(t.Context(), s, Options{})
				must.NoError(t, err)
				must.NoError(t, tt.spoil(segmentOf(dir, first.Version)))
				r, err := p.Publish(t.Context(), s, Options{Read: read, keepRolledBack: true})
				if r.Status != tt.want || (err != nil) != (tt.want == versions.StatusFailed) || r.RolledBack != "" {
					t.Errorf("got %s, rolled back %q, error %v; want %s", r.Status, r.RolledBack, err, tt.want)
				}
				if _, err := os.Stat(segmentOf(dir, r.Version)); tt.want == versions.StatusPublished && err != nil {
					t.Error(err)
				}
			})
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
		p.setSourceError(t.Context(), herb.SourceError{Path: label, Ref: herb.Ref{Namespace: "garden", Name: "beds"},
			Message: "broken"})
	}
	if err := p.RemoveStaleErrors(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	kept, err := db.SourceErrors(t.Context())
	if err != nil || len(kept) != 2 || kept[0].Path != path || kept[1].Path != path+"#beds" {
		t.Errorf("kept %v, error %v", kept, err)
	}
}
