package migrate

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/app"
	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/store"
)

// TestRestoreDataset restores one dataset of an archive and of a folder: after it was removed,
// while a server uses the data, and in a cluster with other data.
func TestRestoreDataset(t *testing.T) {
	t.Parallel()
	g, cluster := newGarden(t, 3), newCluster(t)
	archive, folder := filepath.Join(t.TempDir(), "backup.tar"), filepath.Join(t.TempDir(), "backup")+"/"
	for _, path := range []string{archive, folder} {
		_, err := Backup(t.Context(), g.Place, path, nil, "test", Options{})
		must.NoError(t, err)
	}
	before := g.listing(t)
	rejected := func(place Place, ref herb.Ref, want herb.Code) {
		t.Helper()
		if _, err := RestoreDataset(t.Context(), archive, place, ref, Options{}); herb.CodeOf(err) != want {
			t.Errorf("restoring %s: %v, want %s", ref, err, want)
		}
	}
	rejected(g.Place, trees, herb.CodeRejected)
	rejected(g.Place, herb.Ref{Namespace: "garden", Name: "none"}, herb.CodeNotFound)
	rejected(Place{Folder: t.TempDir()}, trees, herb.CodeNotFound)
	for _, path := range []string{archive, folder} {
		for ref, want := range map[herb.Ref]Result{trees: {Datasets: 1, Versions: 3, NewFiles: 3},
			herbs: {Datasets: 1, Versions: 1, Sources: 1, NewFiles: 2}} {
			g.use(t, func(d *app.Data) {
				must.NoError(t, d.Versions.Remove(t.Context(), ref, ""))
				r, err := RestoreDataset(t.Context(), path, g.Place, ref, Options{Progress: filesReported(t)})
				must.NoError(t, err)
				want.Bytes = r.Bytes
				if diff := cmp.Diff(want, r); diff != "" || r.Bytes == 0 {
					t.Errorf("%s (-want +got)\n%s", ref, diff)
				}
				must.NoError(t, d.Versions.Sweep(t.Context()))
			})
			if diff := cmp.Diff(before, g.listing(t)); diff != "" {
				t.Errorf("%s (-before +after):\n%s", ref, diff)
			}
		}
	}
	last := g.auditEntries(t)
	if e := last[len(last)-1]; e.Action != herb.AuditRestored ||
		!strings.HasPrefix(e.Detail, "1 version of the backup of ") &&
			!strings.HasPrefix(e.Detail, "3 versions of the backup of ") {
		t.Errorf("the audit log ends with %+v", e)
	}

	cluster.use(t, func(d *app.Data) { publish(t, d, herb.Ref{Namespace: "other", Name: "data"}, 1) })
	_, err := RestoreDataset(t.Context(), archive, cluster, trees, Options{})
	must.NoError(t, err)
	if got := cluster.listing(t); !slices.Contains(got, "garden/trees?search=wort: 2") {
		t.Errorf("the cluster lists %q", got)
	}
}

// TestRestoreDataset_incomplete restores a dataset of which a version cannot be read or was
// withdrawn.
func TestRestoreDataset_incomplete(t *testing.T) {
	t.Parallel()
	g := newGarden(t, 3)
	folder := filepath.Join(t.TempDir(), "backup") + "/"
	_, err := Backup(t.Context(), g.Place, folder, nil, "test", Options{})
	must.NoError(t, err)
	var names []string
	g.use(t, func(d *app.Data) {
		history, err := d.Versions.History(t.Context(), trees)
		must.NoError(t, err)
		for _, v := range history {
			names = append(names, v.Version)
		}
		must.NoError(t, d.Versions.Withdraw(t.Context(), trees, names[2]))
		must.NoError(t, d.Versions.Remove(t.Context(), trees, ""))
	})
	damaged := func(version string) { // the versions are newest first; the second one is live
		must.NoError(t, os.Truncate(filepath.Join(folder, segmentsDir, store.SegmentFile(version)), 100))
	}
	damaged(names[0])
	r, err := RestoreDataset(t.Context(), folder, g.Place, trees, Options{})
	if err != nil || r.Versions != 1 || len(r.Skipped) != 1 || r.Skipped[0].Version != names[0] {
		t.Errorf("restored %+v, error %v", r, err)
	}
	g.use(t, func(d *app.Data) { must.NoError(t, d.Versions.Remove(t.Context(), trees, "")) })
	damaged(names[1])
	if _, err := RestoreDataset(t.Context(), folder, g.Place, trees, Options{}); herb.CodeOf(err) != herb.CodeInvalid {
		t.Errorf("a damaged live version: %v", err)
	}
}
