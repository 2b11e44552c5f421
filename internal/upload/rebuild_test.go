package upload

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/must"
	"herbarium/internal/publish"
	"herbarium/internal/segment"
	"herbarium/internal/store"
	"herbarium/internal/store/sqlite"
)

// TestRebuild changes the format version of segments, as an upgrade of the program does. The one
// whose source is kept is rebuilt, with the same records, and the other one stays as it is.
func TestRebuild(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db, err := sqlite.Open(t.Context(), filepath.Join(dir, "test.db"), sqlite.Options{})
	must.NoError(t, err)
	open := func() (*library.Library, *Service) {
		l, err := library.Open(db, library.Options{Dir: dir})
		must.NoError(t, err)
		p := &publish.Publisher{Library: l, Store: db, Data: dir, Log: slog.New(slog.DiscardHandler)}
		return l, New(Options{Publisher: p, Library: l, Store: db, Dir: dir})
	}
	l, s := open()
	prices, stock := herb.Ref{Namespace: "shop", Name: "prices"}, herb.Ref{Namespace: "shop", Name: "stock"}
	for _, ref := range []herb.Ref{prices, stock} {
		p, err := s.Start(t.Context(), Request{Ref: ref, File: receive(t, s, "a|b\n1|2\n"), Reading: map[string]string{"delimiter": "|"}, Access: herb.AccessKey})
		must.NoError(t, err)
		<-p.Done()
		version := p.Record().Result.Version
		file := filepath.Join(dir, store.SegmentFile(version))
		content, err := os.ReadFile(file)
		must.NoError(t, err)
		content[8]++ // the format version
		must.NoError(t, os.WriteFile(file, content, 0o600))
		if ref == stock {
			must.NoError(t, os.Remove(filepath.Join(dir, store.SourceFile(version))))
		}
	}
	s.Stop()
	must.NoError(t, l.Close())

	l, s = open()
	t.Cleanup(func() {
		s.Stop()
		if err := errors.Join(l.Close(), db.Close()); err != nil {
			t.Error(err)
		}
	})
	for _, ref := range []herb.Ref{prices, stock} {
		if _, err := l.Acquire(t.Context(), ref); !errors.Is(err, segment.ErrVersion) {
			t.Fatalf("a segment of another version gives %v", err)
		}
	}
	tried := map[string]bool{}
	s.rebuildOutdated(t.Context(), tried)
	s.rebuildOutdated(t.Context(), tried) // each is tried once
	v, err := l.Acquire(t.Context(), prices)
	must.NoError(t, err)
	defer v.Release()
	if v.Records != 1 || len(v.Fields) != 2 || v.Access != herb.AccessKey {
		t.Errorf("the rebuilt version is %+v", v.Dataset)
	}
	if _, err := l.Acquire(t.Context(), stock); err == nil {
		t.Error("a version without a source was rebuilt")
	}
	entries, err := db.AuditEntries(t.Context(), herb.AuditQuery{Subject: "shop/prices"})
	must.NoError(t, err)
	if len(entries) != 2 || entries[1].Actor != "server" || !strings.Contains(entries[1].Origin, "upgrade") {
		t.Errorf("the audit log has %+v", entries)
	}
}
