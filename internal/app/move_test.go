package app

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
	"herbarium/internal/herb"
)

// mustMove moves and returns what was moved.
func mustMove(t *testing.T, from, to Place, o MoveOptions) Moved {
	t.Helper()
	m, err := Move(t.Context(), from, to, o)
	must(t, err)
	if len(m.Behind) > 0 {
		t.Errorf("behind in %v", m.Behind)
	}
	return m
}

// wantAlike checks that two places list the same.
func wantAlike(t *testing.T, a, b Place) {
	t.Helper()
	if diff := cmp.Diff(a.listing(t), b.listing(t)); diff != "" {
		t.Errorf("(-%s +%s)\n%s", a, b, diff)
	}
}

// TestMove_thereAndBack moves a folder to a cluster and back to another folder, with so many plants that indexes are built
// anew and several batches are read.
func TestMove_thereAndBack(t *testing.T) {
	t.Parallel()
	g := newGarden(t, atOnce+100)
	to, back := newCluster(t), Place{Folder: filepath.Join(t.TempDir(), "new", "data")}
	var phases []string
	m := mustMove(t, g.Place, to, MoveOptions{Progress: func(p Progress) {
		if len(phases) == 0 || phases[len(phases)-1] != p.Phase {
			phases = append(phases, p.Phase)
		}
	}})
	if diff := cmp.Diff([]string{phaseCompare, phaseFiles, phaseCatalogue, phasePlants, phaseVerify}, phases); diff != "" {
		t.Errorf("phases (-want +got):\n%s", diff)
	}
	want := Moved{
		Plants: g.plants, Retries: len(g.retried), Keys: 3, Datasets: 2, Versions: 4, NewPlants: g.plants, NewKeys: 3, NewFiles: 4,
		Bytes: m.Bytes, Hash: m.Hash,
	}
	if diff := cmp.Diff(want, m); diff != "" || m.Bytes == 0 || !strings.HasPrefix(m.Hash, "sha256:") {
		t.Errorf("moved %+v (-want +got):\n%s", m, diff)
	}
	wantAlike(t, g.Place, to)
	again := mustMove(t, g.Place, to, MoveOptions{})
	if again.NewPlants+again.NewKeys+again.NewFiles > 0 || again.Hash != m.Hash {
		t.Errorf("moved again: %+v", again)
	}
	if returned := mustMove(t, to, back, MoveOptions{}); returned.Hash != m.Hash {
		t.Errorf("back: %+v; the hash was %s", returned, m.Hash)
	}
	wantAlike(t, g.Place, back)
	mustMove(t, g.Place, back, MoveOptions{Check: true})
	for _, p := range []Place{to, back} {
		g.works(t, p)
		p.use(t, func(d *Data) { // the versions that are not live are there as well
			_, err := d.Library.Rollback(t.Context(), trees, "")
			must(t, err)
			snap, err := d.Library.Acquire(t.Context(), trees)
			must(t, err)
			defer snap.Release()
			v, err := d.Library.Version(t.Context(), trees, "")
			must(t, err)
			if snap.Records != 1 || v.File == nil {
				t.Errorf("%s: rolled back to %d records, file %v", p, snap.Records, v.File)
			}
		})
	}
}

// TestMove_catchesUp moves a source, changes all that can change in it, and moves it again.
func TestMove_catchesUp(t *testing.T) {
	t.Parallel()
	for name, target := range map[string]func(*testing.T) Place{
		"cluster": newCluster,
		"folder":  func(t *testing.T) Place { return Place{Folder: t.TempDir()} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, to := newGarden(t, 50), target(t)
			mustMove(t, g.Place, to, MoveOptions{})
			g.use(t, func(d *Data) {
				g.create(t, d, 70)
				publish(t, d, trees, 4) // which drops the first version
				publish(t, d, herbs, 20)
				_, err := d.Library.Rollback(t.Context(), herbs, "")
				must(t, err)
				id, _ := access.ID(g.active)
				must(t, d.Store.RevokeKey(t.Context(), id, time.Now()))
				secret, key := access.Mint("new", herb.AllScopes(), time.Now(), time.Time{})
				must(t, d.Store.AddKey(t.Context(), key))
				g.active, g.revoked = secret, g.active
			})
			if _, err := Move(t.Context(), g.Place, to, MoveOptions{Check: true}); herb.CodeOf(err) != herb.CodeRefused {
				t.Errorf("comparing: %v", err)
			}
			m := mustMove(t, g.Place, to, MoveOptions{})
			if m.NewPlants != 70 || m.NewKeys != 1 || m.NewFiles != 2 {
				t.Errorf("moved %+v", m)
			}
			mustMove(t, g.Place, to, MoveOptions{Check: true})
			wantAlike(t, g.Place, to)
			g.works(t, to)
		})
	}
}

// TestMove_removed moves a dataset again that was moved and then removed from the target, whose files are retired.
func TestMove_removed(t *testing.T) {
	t.Parallel()
	g, to := newGarden(t, 3), newCluster(t)
	mustMove(t, g.Place, to, MoveOptions{})
	to.use(t, func(d *Data) { must(t, d.Library.Remove(t.Context(), trees)) })
	mustMove(t, g.Place, to, MoveOptions{})
	wantAlike(t, g.Place, to)
	to.use(t, func(d *Data) {
		if retired, err := d.Store.(moveStore).Retired(t.Context()); err != nil || len(retired) > 0 {
			t.Errorf("retired: %v (%v)", retired, err)
		}
	})
}

// grower is a source in which a plant is created as soon as the others are read.
type grower struct {
	moveStore
	grow func()
}

func (g *grower) PlantsAfter(ctx context.Context, n, limit int) ([]herb.NewPlant, error) {
	g.grow()
	g.grow = func() {}
	return g.moveStore.PlantsAfter(ctx, n, limit)
}

func TestMove_sourceGrows(t *testing.T) {
	t.Parallel()
	g, to := newGarden(t, 30), Place{Folder: t.TempDir()}
	m, err := move(t.Context(), g.Place, to, MoveOptions{}, func(from, _ *side) {
		from.store = &grower{from.store, func() { g.use(t, func(d *Data) { g.create(t, d, 5) }) }}
	})
	must(t, err)
	if diff := cmp.Diff([]string{"5 plants"}, m.Behind); diff != "" || m.Plants != 30 {
		t.Errorf("moved %d plants, behind (-want +got):\n%s", m.Plants, diff)
	}
	mustMove(t, g.Place, to, MoveOptions{})
	wantAlike(t, g.Place, to)
	g.works(t, to)
}

// TestMove_refused changes a target in all ways; then nothing is moved and the difference is named.
func TestMove_refused(t *testing.T) {
	t.Parallel()
	version := func(t *testing.T, d *Data, ref herb.Ref) herb.Dataset {
		v, err := d.Library.Version(t.Context(), ref, "")
		must(t, err)
		return v
	}
	for _, tt := range []struct {
		name   string
		change func(t *testing.T, g *garden, to Place, d *Data)
		want   string
	}{
		{"more plants", func(t *testing.T, g *garden, to Place, d *Data) { (&garden{plants: 99}).create(t, d, 21) }, "the target has 31 plants, the source 30"},
		{"another plant", func(t *testing.T, g *garden, to Place, d *Data) { (&garden{plants: 99}).create(t, d, 1) }, "plant 11: (id "},
		{"another key", func(t *testing.T, g *garden, to Place, d *Data) {
			_, k := access.Mint("alien", herb.AllScopes(), time.Now(), time.Time{})
			must(t, d.Store.AddKey(t.Context(), k))
		}, "(alien), the source has not"},
		{"revoked", func(t *testing.T, g *garden, to Place, d *Data) {
			id, _ := access.ID(g.active)
			must(t, d.Store.RevokeKey(t.Context(), id, time.Now()))
		}, "it is revoked in the target and not in the source"},
		{"another dataset", func(t *testing.T, g *garden, to Place, d *Data) {
			publish(t, d, herb.Ref{Namespace: "a", Name: "z"}, 1)
		}, "the target has dataset a/z, the source has not"},
		{"another version", func(t *testing.T, g *garden, to Place, d *Data) { publish(t, d, herbs, 2) }, "of dataset kitchen/herbs is in the target and not"},
		{"other words", func(t *testing.T, g *garden, to Place, d *Data) {
			v := version(t, d, herbs)
			v.Description = "changed"
			must(t, d.Store.AddVersion(t.Context(), v, v.Version))
		}, `"Description":"changed"`},
		{"another file", func(t *testing.T, g *garden, to Place, d *Data) {
			path := filepath.Join(to.Folder, versionsDir, fileName(version(t, d, herbs).Version))
			must(t, os.WriteFile(path, []byte("changed"), 0o600))
		}, "the target has another one: it has 7 bytes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g, to := newGarden(t, 10), Place{Folder: t.TempDir()}
			mustMove(t, g.Place, to, MoveOptions{})
			g.use(t, func(d *Data) { g.create(t, d, 20) })
			to.use(t, func(d *Data) { tt.change(t, g, to, d) })
			before := inventoryOf(t, to)
			_, err := Move(t.Context(), g.Place, to, MoveOptions{})
			if herb.CodeOf(err) != herb.CodeRefused || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("the error is %v; want one that says %q", err, tt.want)
			}
			if diff := cmp.Diff(before, inventoryOf(t, to), cmp.AllowUnexported(inventory{})); diff != "" {
				t.Errorf("the target has changed (-before +after):\n%s", diff)
			}
		})
	}
}

// inventoryOf takes down what a place has.
func inventoryOf(t *testing.T, p Place) (i inventory) {
	t.Helper()
	s, err := openSide(t.Context(), p, true)
	must(t, err)
	defer func() { must(t, s.close()) }()
	i, err = take(t.Context(), s.store)
	must(t, err)
	return i
}

// TestMove_check compares with a target that is not there, and one that is empty, and makes nothing.
func TestMove_check(t *testing.T) {
	t.Parallel()
	g, to := newGarden(t, 3), Place{Folder: filepath.Join(t.TempDir(), "data")}
	if _, err := Move(t.Context(), g.Place, to, MoveOptions{Check: true}); herb.CodeOf(err) != herb.CodeNotFound {
		t.Errorf("no folder: %v", err)
	}
	if _, err := os.Stat(to.Folder); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder was made: %v", err)
	}
	to.use(t, func(*Data) {})
	if _, err := Move(t.Context(), g.Place, to, MoveOptions{Check: true}); herb.CodeOf(err) != herb.CodeRefused {
		t.Errorf("an empty folder: %v", err)
	}
	if i := inventoryOf(t, to); i.plants+len(i.keys)+len(i.catalogue) > 0 {
		t.Errorf("there is something: %+v", i)
	}
	if _, err := Move(t.Context(), Place{Folder: t.TempDir()}, to, MoveOptions{}); herb.CodeOf(err) != herb.CodeNotFound {
		t.Errorf("no source: %v", err)
	}
}

// TestMove_damaged has a source whose files are not as they were.
func TestMove_damaged(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		damage func(path string) error
		want   string
	}{
		"missing": {os.Remove, "the source has none"},
		"cut":     {func(path string) error { return os.Truncate(path, 50) }, "the segment is cut off"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, to := newGarden(t, 3), Place{Folder: t.TempDir()}
			files, err := filepath.Glob(filepath.Join(g.Folder, versionsDir, "*.segment"))
			must(t, err)
			must(t, tt.damage(files[0]))
			if _, err := Move(t.Context(), g.Place, to, MoveOptions{}); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("the error is %v; want one that says %q", err, tt.want)
			}
			if i := inventoryOf(t, to); i.plants+len(i.keys)+len(i.catalogue) > 0 {
				t.Errorf("there is something: %+v", i)
			}
		})
	}
}
