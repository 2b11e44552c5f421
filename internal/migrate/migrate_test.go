package migrate

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/access"
	"herbarium/internal/app"
	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/progress"
	"herbarium/internal/store"
)

// mustMigrate migrates a source that does not change meanwhile.
func mustMigrate(t *testing.T, from, to Place, o Options) Result {
	t.Helper()
	m, err := Migrate(t.Context(), from, to, o)
	must.NoError(t, err)
	if len(m.Changed) > 0 {
		t.Errorf("the source has changed: %v", m.Changed)
	}
	return m
}

// wantAlike checks that listings of two places are equal.
func wantAlike(t *testing.T, a, b Place) {
	t.Helper()
	if diff := cmp.Diff(a.listing(t), b.listing(t)); diff != "" {
		t.Errorf("(-%s +%s)\n%s", a, b, diff)
	}
}

// filesReported returns a function that checks the progress of copying files: it counts the bytes
// of all of them, so that the remaining time can be estimated.
func filesReported(t *testing.T) func(progress.Progress) {
	t.Helper()
	var last progress.Progress
	t.Cleanup(func() {
		if last.Done == 0 || last.Done != last.Total {
			t.Errorf("%d of %d bytes of files were reported at the end", last.Done, last.Total)
		}
	})
	return func(p progress.Progress) {
		if p.Phase != PhaseSegments {
			return
		}
		if last.Phase != "" && (p.Done < last.Done || p.Total != last.Total) {
			t.Errorf("%d of %d bytes follow %d of %d", p.Done, p.Total, last.Done, last.Total)
		}
		last = p
	}
}

// TestMigrate_thereAndBack migrates a folder to a cluster and back to another folder, with several
// pages of plants.
func TestMigrate_thereAndBack(t *testing.T) {
	t.Parallel()
	g := newGarden(t, 2_100)
	to, back := newCluster(t), Place{Folder: filepath.Join(t.TempDir(), "new", "data")}
	var phases []string
	files := filesReported(t)
	m := mustMigrate(t, g.Place, to, Options{Progress: func(p progress.Progress) {
		files(p)
		if len(phases) == 0 || phases[len(phases)-1] != p.Phase {
			phases = append(phases, p.Phase)
		}
	}})
	if diff := cmp.Diff([]string{PhaseCompare, PhaseSegments, PhaseLoad, PhaseVerify}, phases); diff != "" {
		t.Errorf("phases (-want +got):\n%s", diff)
	}
	want := Result{
		Plants: g.plants, IdempotencyKeys: len(g.retried), Keys: 3, AuditEntries: m.AuditEntries, Datasets: 2,
		Versions: 4, Sources: 1, NewPlants: g.plants, NewKeys: 3, NewFiles: 5,
		Bytes: m.Bytes, Hash: m.Hash,
	}
	if diff := cmp.Diff(want, m); diff != "" || m.Bytes == 0 || !strings.HasPrefix(m.Hash, "sha256:") {
		t.Errorf("result %+v (-want +got):\n%s", m, diff)
	}
	wantAlike(t, g.Place, to)
	if returned := mustMigrate(t, to, back, Options{}); returned.Hash != m.Hash {
		t.Errorf("back: %+v; the hash was %s", returned, m.Hash)
	}
	wantAlike(t, g.Place, back)
	mustMigrate(t, g.Place, back, Options{Check: true})
	for _, p := range []Place{to, back} {
		g.works(t, p)
		p.use(t, func(d *app.Data) { // the versions that are not live are there as well
			_, err := d.Versions.Rollback(t.Context(), trees, "")
			must.NoError(t, err)
			snap, err := d.Library.Acquire(t.Context(), trees)
			must.NoError(t, err)
			defer snap.Release()
			v, err := d.Versions.Version(t.Context(), trees, "")
			must.NoError(t, err)
			if snap.Records != 1 || v.File == nil {
				t.Errorf("%s: rolled back to %d records, file %v", p, snap.Records, v.File)
			}
		})
	}
}

// growingStore runs grow after the plants were counted.
type growingStore struct {
	Store
	grow func()
}

func (g *growingStore) ReadPlants(ctx context.Context, n, limit int) (store.PlantPage, error) {
	page, err := g.Store.ReadPlants(ctx, n, limit)
	g.grow()
	g.grow = func() {}
	return page, err
}

func TestMigrate_sourceGrows(t *testing.T) {
	t.Parallel()
	g, to := newGarden(t, 30), Place{Folder: t.TempDir()}
	m, err := migrateWith(t.Context(), g.Place, to, func(from, _ *Installation) {
		from.Store = &growingStore{from.Store, func() { g.use(t, func(d *app.Data) { g.create(t, d, 5) }) }}
	})
	must.NoError(t, err)
	if diff := cmp.Diff([]string{"5 plants"}, m.Changed); diff != "" || m.Plants != 30 {
		t.Errorf("migrated %d plants, changed (-want +got):\n%s", m.Plants, diff)
	}
}

// TestMigrate_rejected migrates into targets that have data: nothing may be written.
func TestMigrate_rejected(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		fill func(t *testing.T, d *app.Data)
		want string
	}{
		{"plant", func(t *testing.T, d *app.Data) { (&garden{}).create(t, d, 1) },
			"the target has data (1 plant, 0 keys, 0 datasets)"},
		{"key", func(t *testing.T, d *app.Data) {
			_, k := access.Mint("alien", herb.AllScopes(), time.Now(), time.Time{})
			must.NoError(t, d.Store.AddKey(t.Context(), k))
		}, "0 plants, 1 key, 0 datasets"},
		{"dataset", func(t *testing.T, d *app.Data) { publish(t, d, herb.Ref{Namespace: "a", Name: "z"}, 1) },
			"0 plants, 0 keys, 1 dataset"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g, to := newGarden(t, 10), Place{Folder: t.TempDir()}
			to.use(t, func(d *app.Data) { tt.fill(t, d) })
			before := contentOf(t, to)
			_, err := Migrate(t.Context(), g.Place, to, Options{})
			if herb.CodeOf(err) != herb.CodeRejected || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("the error is %v; want one that contains %q", err, tt.want)
			}
			if diff := cmp.Diff(before, contentOf(t, to), cmp.AllowUnexported(content{})); diff != "" {
				t.Errorf("the target has changed (-before +after):\n%s", diff)
			}
		})
	}
}

// TestMigrate_removed migrates into a target whose datasets were removed: servers must not delete
// the files of the versions, which it had before.
func TestMigrate_removed(t *testing.T) {
	t.Parallel()
	from, to := Place{Folder: t.TempDir()}, newCluster(t)
	from.use(t, func(d *app.Data) { publish(t, d, trees, 3) })
	mustMigrate(t, from, to, Options{})
	to.use(t, func(d *app.Data) { must.NoError(t, d.Versions.Remove(t.Context(), trees, "")) })
	mustMigrate(t, from, to, Options{})
	wantAlike(t, from, to)
	to.use(t, func(d *app.Data) {
		retired, err := d.Store.(interface {
			Retired(ctx context.Context) ([]store.Retired, error)
		}).Retired(t.Context())
		if err != nil || len(retired) > 0 {
			t.Errorf("retired: %v (%v)", retired, err)
		}
	})
}

// content summarizes the data of a place.
type content struct {
	plants   int
	keys     []herb.Key
	datasets []store.DatasetVersions
}

func contentOf(t *testing.T, p Place) (c content) {
	t.Helper()
	var o Installation
	must.NoError(t, o.openPlace(t.Context(), p, true, Options{}))
	defer func() { must.NoError(t, o.close()) }()
	page, err := o.Store.ReadPlants(t.Context(), 0, 0)
	must.NoError(t, err)
	c.plants = page.Total
	c.keys, err = o.Store.Keys(t.Context())
	must.NoError(t, err)
	c.datasets, err = o.Store.AllVersions(t.Context())
	must.NoError(t, err)
	return c
}

func (c content) isEmpty() bool { return c.plants+len(c.keys)+len(c.datasets) == 0 }

// TestMigrate_check compares with a target that does not exist, and with an empty one, and creates
// nothing.
func TestMigrate_check(t *testing.T) {
	t.Parallel()
	g, to := newGarden(t, 3), Place{Folder: filepath.Join(t.TempDir(), "data")}
	if _, err := Migrate(t.Context(), g.Place, to, Options{Check: true}); herb.CodeOf(err) != herb.CodeNotFound {
		t.Errorf("no folder: %v", err)
	}
	if _, err := os.Stat(to.Folder); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder was made: %v", err)
	}
	to.use(t, func(*app.Data) {})
	if _, err := Migrate(t.Context(), g.Place, to, Options{Check: true}); herb.CodeOf(err) != herb.CodeRejected {
		t.Errorf("an empty folder: %v", err)
	}
	if c := contentOf(t, to); !c.isEmpty() {
		t.Errorf("the target has %+v", c)
	}
	if _, err := Migrate(t.Context(), Place{Folder: t.TempDir()}, to,
		Options{}); herb.CodeOf(err) != herb.CodeNotFound {
		t.Errorf("no source: %v", err)
	}
}

// sweepingObjects sweeps the target after each file that is copied to it.
type sweepingObjects struct {
	Objects
	sweep func()
}

func (o sweepingObjects) Put(ctx context.Context, name, path string, progress func(done, total int64)) error {
	defer o.sweep()
	return o.Objects.Put(ctx, name, path, progress)
}

// TestMigrate_sweep migrates into a data folder while a server removes leftovers there.
func TestMigrate_sweep(t *testing.T) {
	t.Parallel()
	g, to := newGarden(t, 3), Place{Folder: t.TempDir()}
	_, err := migrateWith(t.Context(), g.Place, to, func(_, target *Installation) {
		target.Objects = sweepingObjects{target.Objects, func() {
			to.use(t, func(d *app.Data) { must.NoError(t, d.Versions.Sweep(t.Context())) })
		}}
	})
	must.NoError(t, err)
	wantAlike(t, g.Place, to)
	g.works(t, to)
}
