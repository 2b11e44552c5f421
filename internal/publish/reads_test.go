package publish

import (
	"context"
	"io"
	"log/slog"
	"maps"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/ingest/rowstest"
	"herbarium/internal/must"
	"herbarium/internal/progress"
	"herbarium/internal/store"
	"herbarium/internal/versions"
	"herbarium/internal/versions/versionstest"
)

// countingCatalogue counts the queries of a publish.
type countingCatalogue struct {
	versionstest.Catalogue
	queries map[string]int
}

func (c countingCatalogue) Version(ctx context.Context, ref herb.Ref, version string) (herb.Dataset, error) {
	c.queries["Version"]++
	return c.Catalogue.Version(ctx, ref, version)
}

func (c countingCatalogue) History(ctx context.Context, ref herb.Ref) (store.DatasetVersions, error) {
	c.queries["History"]++
	return c.Catalogue.History(ctx, ref)
}

func (c countingCatalogue) Protected(ctx context.Context) ([]herb.Dataset, error) {
	c.queries["Protected"]++
	return c.Catalogue.Protected(ctx)
}

func (c countingCatalogue) AddVersion(ctx context.Context, d herb.Dataset, live string, keep herb.Keep,
	at time.Time) ([]string, error) {
	c.queries["AddVersion"]++
	return c.Catalogue.AddVersion(ctx, d, live, keep, at)
}

// countingFile counts how many times the byte in its middle is read: once for each pass over it,
// while its start is also read to detect the format.
type countingFile struct {
	*strings.Reader
	passes atomic.Int32
}

func (f *countingFile) ReadAt(b []byte, at int64) (int, error) {
	n, err := f.Reader.ReadAt(b, at)
	if middle := f.Size() / 2; at <= middle && middle < at+int64(n) {
		f.passes.Add(1)
	}
	return n, err
}

// TestPublish_reads counts the queries of the catalogue and the passes over the source.
func TestPublish_reads(t *testing.T) {
	t.Parallel()
	db := openDatabase(t)
	catalogue := countingCatalogue{db, map[string]int{}}
	l := openLibrary(t, catalogue)
	p := &Publisher{Versions: l.Service, Store: db, Log: slog.New(slog.DiscardHandler)}
	lines := func(n int, value string) string { return "name\n" + strings.Repeat(value+"\n", n) }
	const many = 60_000
	small, large, other := lines(many, "fern"), lines(many+1, "fern"), lines(many+1, "rose")
	published := map[string]int{"Version": 3, "Protected": 1, "AddVersion": 1}
	for _, tt := range []struct {
		name      string
		content   string
		opts      Options
		unchanged bool
		queries   map[string]int
		passes    int32
	}{
		{"new", small, Options{}, false, map[string]int{"Version": 1, "Protected": 1, "AddVersion": 1}, 1},
		{"unchanged", small, Options{}, true, map[string]int{"Version": 1}, 1},
		{"of another size", large, Options{}, false, published, 1},
		{"of the same size", other, Options{}, false, published, 2}, // hashed, then read
		{"unchanged and forced", other, Options{PublishOptions: versions.PublishOptions{Force: true}}, false,
			published, 1},
		{"checked", small, Options{PublishOptions: versions.PublishOptions{Check: true}}, false,
			map[string]int{"Version": 3, "Protected": 1}, 1},
		{"changed for a server", small, Options{keepRolledBack: true}, false,
			map[string]int{"Version": 1, "History": 1, "Protected": 1, "AddVersion": 1}, 1},
	} {
		records := 0
		tt.opts.Progress = func(p progress.Progress) { records = max(records, p.Records) }
		publish := func(s ingest.Source) {
			t.Helper()
			r, err := p.Publish(t.Context(), s, tt.opts)
			must.NoError(t, err)
			if (r.Status == versions.StatusUnchanged) != tt.unchanged || (records == 0) != tt.unchanged {
				t.Errorf("%s: %s, %d records read; want unchanged %v", tt.name, r.Status, records, tt.unchanged)
			}
		}
		clear(catalogue.queries)
		publish(ingest.Source{
			Ref:  herb.Ref{Namespace: "shop", Name: "path"},
			Path: rowstest.WriteFile(t, t.TempDir(), "a.csv", tt.content),
		})
		if diff := cmp.Diff(tt.queries, maps.Clone(catalogue.queries)); diff != "" {
			t.Errorf("%s: queries (-want +got):\n%s", tt.name, diff)
		}
		f := &countingFile{Reader: strings.NewReader(tt.content)}
		publish(ingest.Source{
			Ref: herb.Ref{Namespace: "shop", Name: "input"}, Path: "input", Format: "csv",
			Input: io.NewSectionReader(f, 0, f.Size()),
		})
		if got := f.passes.Load(); got != tt.passes {
			t.Errorf("%s: %d passes over the source, want %d", tt.name, got, tt.passes)
		}
	}
}
