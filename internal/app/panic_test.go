package app

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/library"
	"herbarium/internal/watch"
)

// brokenCatalogue is a catalogue that panics when it is read.
type brokenCatalogue struct{ library.Catalogue }

// Datasets is library.Catalogue.
func (brokenCatalogue) Datasets(context.Context) ([]herb.Dataset, error) { panic("bug") }

// TestPublishOne_panic has a publish panic as a server does it, at its start and when a file has changed: the stack is in
// the log, and the error is where errors of sources are.
func TestPublishOne_panic(t *testing.T) {
	t.Parallel()
	d, err := OpenData(t.Context(), Config{Data: t.TempDir()}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	whole := d.Library
	broken, err := library.Open(brokenCatalogue{d.Store}, library.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer broken.Close()
	path := filepath.Join(t.TempDir(), "prices.csv")
	if err := os.WriteFile(path, []byte("a\n1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := ingest.Source{Ref: herb.Ref{Namespace: "shop", Name: "prices"}, Path: path}
	var b bytes.Buffer
	log := slog.New(slog.NewTextHandler(&b, nil))
	f := &follower{data: d, log: log, sources: map[string]ingest.Source{"item": s}}

	d.Library = broken
	if _, err := d.publishOne(t.Context(), s, log); err == nil {
		t.Error("a publish that panics succeeds")
	}
	if f.changed(t.Context(), watch.Item{Name: "item"}) {
		t.Error("a bug is retried")
	}
	if n := strings.Count(b.String(), "brokenCatalogue.Datasets"); n != 2 {
		t.Errorf("%d stacks in the log, want 2:\n%s", n, &b)
	}
	wrong, err := d.Store.SourceErrors(t.Context())
	if err != nil || len(wrong) != 1 || !strings.Contains(wrong[0].Message, "please report it") {
		t.Errorf("errors of sources: %v, %v", wrong, err)
	}
	d.Library = whole
	if _, err := d.publishOne(t.Context(), s, log); err != nil {
		t.Error(err)
	}
}
