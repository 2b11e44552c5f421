package discover_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/ingest/discover"
	"herbarium/internal/ingest/source"
)

// TestDiscover_Shared reads all tables of files that are opened once. A copy has no name once it is open, so that nothing is left by
// a killed process. A table that is read again is read on its own.
func TestDiscover_Shared(t *testing.T) {
	t.Parallel()
	dir := layout(t, "book.xlsx="+workbook(t, "B", "a b;1 2", "S", "a b;1 2", "Y", "a b;1 2"))
	database(t, filepath.Join(dir, "many.db"), `CREATE TABLE beds (a, b)`, `INSERT INTO beds VALUES (1, 2)`,
		`CREATE TABLE zoo (a, b)`, `INSERT INTO zoo VALUES (1, 2)`, `CREATE TABLE ants (a, b)`, `INSERT INTO ants VALUES (1, 2)`)
	temp := t.TempDir()
	list := func(src source.Source) {
		t.Helper()
		table, err := ingest.Inspect(t.Context(), src, ingest.Options{Temp: temp})
		if err != nil {
			t.Fatal(err)
		}
		defer table.Close()
		for r, err := range table.Records(t.Context()) {
			if diff := cmp.Diff(herb.Record{"1", "2"}, r); err != nil || diff != "" {
				t.Errorf("%s: error %v (-want +got):\n%s", src.Label(), err, diff)
			}
		}
		if entries, err := os.ReadDir(temp); err != nil || len(entries) > 0 {
			t.Errorf("%s: %d named files, error %v", src.Label(), len(entries), err)
		}
	}
	finder := discover.New(discover.Options{Formats: ingest.Formats()})
	for i, src := range finder.Discover(t.Context(), []string{dir}).Sources {
		if i == 1 { // a watcher searches again meanwhile
			src = finder.Discover(t.Context(), []string{dir}).Sources[i]
		}
		list(src)
		src.Release()
	}
	for _, src := range finder.Discover(t.Context(), []string{dir}).Sources { // each for itself
		list(src)
	}
}
