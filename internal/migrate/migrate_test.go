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
		Plants: g.plants, IdempotencyKeys: len(g.retried), Keys: 3, AuditEntries: m.AuditEntries, Datasets: 2, Versions: 4, Sources: 1, NewPlants: g.plants, NewKeys: 3, NewFiles: 5,
		Bytes: m.Bytes, Hash: m.Hash,
	}
	if diff := cmp.Diff(want, m); diff != "" || m.Bytes == 0 || !strings.HasPrefix(m.Hash, "sha256:") {
		t.Errorf("result %+v (-want +got):\n%s", m, diff)
	}
	wantAlike(t, g.Place, to)
	again := mustMigrate(t, g.Place, to, Options{})
	if again.NewPlants+again.NewKeys+again.NewFiles > 0 || again.Hash != m.Hash {
		t.Errorf("migrated again: %+v", again)
	}
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

// TestMigrate_catchesUp migrates a source, changes everything that can change in it, and migrates
// it again.
func TestMigrate_catchesUp(t *testing.T) {
	t.Parallel()
	for name, target := range map[string]func(*testing.T) Place{
		"cluster": newCluster,
		"folder":  func(t *testing.T) Place { return Place{Folder: t.TempDir()} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, to := newGarden(t, 50), target(t)
			mustMigrate(t, g.Place, to, Options{})
			g.use(t, func(d *app.Data) {
				g.create(t, d, 70)
				publish(t, d, trees, 4) // which drops the first version
				publish(t, d, herbs, 20)
				_, err := d.Versions.Rollback(t.Context(), herbs, "")
				must.NoError(t, err)
				id, _ := access.ID(g.active)
				must.NoError(t, d.Store.RevokeKey(t.Context(), id, time.Now()))
				secret, key := access.Mint("new", herb.AllScopes(), time.Now(), time.Time{})
				must.NoError(t, d.Store.AddKey(t.Context(), key))
				g.active, g.revoked = secret, g.active
			})
			if _, err := Migrate(t.Context(), g.Place, to, Options{Check: true}); herb.CodeOf(err) != herb.CodeRejected {
				t.Errorf("comparing: %v", err)
			}
			m := mustMigrate(t, g.Place, to, Options{})
			if m.NewPlants != 70 || m.NewKeys != 1 || m.NewFiles != 3 {
				t.Errorf("result %+v", m)
			}
			mustMigrate(t, g.Place, to, Options{Check: true})
			wantAlike(t, g.Place, to)
			g.works(t, to)
		})
	}
}

// TestMigrate_removed migrates a dataset again that was removed from the target, so that its files
// are retired.
func TestMigrate_removed(t *testing.T) {
	t.Parallel()
	g, to := newGarden(t, 3), newCluster(t)
	mustMigrate(t, g.Place, to, Options{})
	to.use(t, func(d *app.Data) { must.NoError(t, d.Versions.Remove(t.Context(), trees, "")) })
	mustMigrate(t, g.Place, to, Options{})
	wantAlike(t, g.Place, to)
	to.use(t, func(d *app.Data) {
		if retired, err := d.Store.(Store).Retired(t.Context()); err != nil || len(retired) > 0 {
			t.Errorf("retired: %v (%v)", retired, err)
		}
	})
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
	mustMigrate(t, g.Place, to, Options{})
	wantAlike(t, g.Place, to)
	g.works(t, to)
}

// TestMigrate_rejected changes a target in various ways: nothing may be written, and the error must
// name the difference.
func TestMigrate_rejected(t *testing.T) {
	t.Parallel()
	version := func(t *testing.T, d *app.Data, ref herb.Ref) herb.Dataset {
		v, err := d.Versions.Version(t.Context(), ref, "")
		must.NoError(t, err)
		return v
	}
	for _, tt := range []struct {
		name   string
		change func(t *testing.T, g *garden, to Place, d *app.Data)
		want   string
	}{
		{"more plants", func(t *testing.T, g *garden, to Place, d *app.Data) { (&garden{plants: 99}).create(t, d, 21) }, "the target has 31 plants, the source 30"},
		{"another plant", func(t *testing.T, g *garden, to Place, d *app.Data) { (&garden{plants: 99}).create(t, d, 1) }, "plant 11: "},
		{"another key", func(t *testing.T, g *garden, to Place, d *app.Data) {
			_, k := access.Mint("alien", herb.AllScopes(), time.Now(), time.Time{})
			must.NoError(t, d.Store.AddKey(t.Context(), k))
		}, "(alien) is in the target but not in the source"},
		{"revoked", func(t *testing.T, g *garden, to Place, d *app.Data) {
			id, _ := access.ID(g.active)
			must.NoError(t, d.Store.RevokeKey(t.Context(), id, time.Now()))
		}, `"revoked":true}… in the target`},
		{"another dataset", func(t *testing.T, g *garden, to Place, d *app.Data) {
			publish(t, d, herb.Ref{Namespace: "a", Name: "z"}, 1)
		}, "dataset a/z is in the target but not in the source"},
		{"another version", func(t *testing.T, g *garden, to Place, d *app.Data) { publish(t, d, herbs, 2) }, "dataset kitchen/herbs has the versions"},
		{"other words", func(t *testing.T, g *garden, to Place, d *app.Data) {
			v := version(t, d, herbs)
			v.Description = "changed"
			_, err := d.Store.AddVersion(t.Context(), v, v.Version, herb.Keep{Versions: 3}, time.Now())
			must.NoError(t, err)
		}, `"description":"changed"`},
		{"another file", func(t *testing.T, g *garden, to Place, d *app.Data) {
			path := filepath.Join(to.Folder, store.VersionsDir, version(t, d, herbs).Version+".segment")
			must.NoError(t, os.WriteFile(path, []byte("changed"), 0o600))
		}, "the target has a different file: got 7 bytes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g, to := newGarden(t, 10), Place{Folder: t.TempDir()}
			mustMigrate(t, g.Place, to, Options{})
			g.use(t, func(d *app.Data) { g.create(t, d, 20) })
			to.use(t, func(d *app.Data) { tt.change(t, g, to, d) })
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
	if _, err := Migrate(t.Context(), Place{Folder: t.TempDir()}, to, Options{}); herb.CodeOf(err) != herb.CodeNotFound {
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
