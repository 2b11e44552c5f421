package migrate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/store"
)

var errFault = errors.New("interrupted")

// faults fail one of the writes to a target, before it is done or right after.
type faults struct {
	at    int
	after bool
	n     int
}

func (f *faults) around(do func() error) error {
	f.n++
	if f.n != f.at {
		return do()
	}
	if f.after {
		return errors.Join(do(), errFault)
	}
	return errFault
}

type faultyStore struct {
	Store
	*faults
}

func (s faultyStore) CreatePlants(ctx context.Context, creations []store.Creation) (out []store.Outcome, err error) {
	return out, s.around(func() error {
		out, err = s.Store.CreatePlants(ctx, creations)
		return err
	})
}

func (s faultyStore) AddIdempotencyKeys(ctx context.Context, records []store.IdempotencyRecord) error {
	return s.around(func() error { return s.Store.AddIdempotencyKeys(ctx, records) })
}

func (s faultyStore) AddKeys(ctx context.Context, keys []herb.Key) error {
	return s.around(func() error { return s.Store.AddKeys(ctx, keys) })
}

func (s faultyStore) ReplaceVersions(ctx context.Context, d store.DatasetVersions, had []string, at time.Time) error {
	return s.around(func() error { return s.Store.ReplaceVersions(ctx, d, had, at) })
}

type faultyObjects struct {
	Objects
	*faults
}

func (o faultyObjects) Put(ctx context.Context, name, path string, progress func(done, total int64)) error {
	return o.around(func() error { return o.Objects.Put(ctx, name, path, progress) })
}

// TestMigrate_interrupted interrupts a migration at each of its writes. It runs again if only files
// were written, and else asks for an empty target.
func TestMigrate_interrupted(t *testing.T) {
	t.Parallel()
	for name, target := range map[string]func(*testing.T) Place{
		"cluster": newCluster,
		"folder":  func(t *testing.T) Place { return Place{Folder: t.TempDir()} },
	} {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/after=%t", name, after), func(t *testing.T) {
				t.Parallel()
				g := newGarden(t, 40)
				const writes = 4 + 1 + 1 + 1 + 2 // files, keys, plants, idempotency keys, datasets
				for at := 1; at <= writes; at++ {
					f, to := &faults{at: at, after: after}, target(t)
					_, err := migrateWith(t.Context(), g.Place, to, func(_, to *Installation) {
						to.Store, to.Objects = faultyStore{to.Store, f}, faultyObjects{to.Objects, f}
					})
					if !errors.Is(err, errFault) {
						t.Fatalf("write %d: %v", at, err)
					}
					if c := contentOf(t, to); len(c.datasets) > 0 && c.plants < g.plants {
						t.Errorf("at write %d datasets are listed and plants are missing", at)
					}
					if !contentOf(t, to).isEmpty() {
						_, err := Migrate(t.Context(), g.Place, to, Options{})
						if herb.CodeOf(err) != herb.CodeRejected ||
							!strings.Contains(err.Error(), "If an interrupted run has left it") {
							t.Errorf("again after write %d: %v", at, err)
						}
						continue
					}
					mustMigrate(t, g.Place, to, Options{})
					wantAlike(t, g.Place, to)
				}
			})
		}
	}
}

// lostStore fails to count plants once all keys were added.
type lostStore struct {
	Store
	lost bool
}

func (s *lostStore) AddKeys(ctx context.Context, keys []herb.Key) error {
	s.lost = true
	return s.Store.AddKeys(ctx, keys)
}

func (s *lostStore) ReadPlants(ctx context.Context, n, limit int) (store.PlantPage, error) {
	if s.lost {
		return store.PlantPage{}, errFault
	}
	return s.Store.ReadPlants(ctx, n, limit)
}

// TestMigrate_lost loses the target before plants are created. The error does not name another
// process as the cause.
func TestMigrate_lost(t *testing.T) {
	t.Parallel()
	_, err := migrateWith(t.Context(), newGarden(t, 5).Place, Place{Folder: t.TempDir()}, func(_, to *Installation) {
		to.Store = &lostStore{Store: to.Store}
	})
	if !errors.Is(err, errFault) || strings.Contains(err.Error(), "another process") {
		t.Errorf("the error is %v", err)
	}
}

// corruptStore changes what is written to a target.
type corruptStore struct {
	Store
	plants          func([]store.Creation)
	idempotencyKeys func([]store.IdempotencyRecord)
	keys            func([]herb.Key)
	versions        func([]herb.Dataset)
}

func (s corruptStore) CreatePlants(ctx context.Context, creations []store.Creation) ([]store.Outcome, error) {
	if s.plants != nil {
		s.plants(creations)
	}
	return s.Store.CreatePlants(ctx, creations)
}

func (s corruptStore) AddIdempotencyKeys(ctx context.Context, records []store.IdempotencyRecord) error {
	if s.idempotencyKeys != nil {
		s.idempotencyKeys(records)
	}
	return s.Store.AddIdempotencyKeys(ctx, records)
}

func (s corruptStore) AddKeys(ctx context.Context, keys []herb.Key) error {
	if s.keys != nil {
		s.keys(keys)
	}
	return s.Store.AddKeys(ctx, keys)
}

func (s corruptStore) ReplaceVersions(ctx context.Context, d store.DatasetVersions, had []string, at time.Time) error {
	if s.versions != nil {
		d.Versions = slices.Clone(d.Versions)
		s.versions(d.Versions)
	}
	return s.Store.ReplaceVersions(ctx, d, had, at)
}

// corruptObjects stores something else under every name.
type corruptObjects struct {
	Objects
	path string
}

func (o corruptObjects) Put(ctx context.Context, name, _ string, progress func(done, total int64)) error {
	return o.Objects.Put(ctx, name, o.path, progress)
}

// TestMigrate_verifies changes data on its way to the target: the migration must fail and name it.
func TestMigrate_verifies(t *testing.T) {
	t.Parallel()
	other := filepath.Join(t.TempDir(), "other")
	must.NoError(t, os.WriteFile(other, []byte("other"), 0o600))
	for _, tt := range []struct {
		name    string
		corrupt func(to *Installation)
		code    herb.Code
		want    string
	}{
		{"plant", func(to *Installation) {
			to.Store = corruptStore{Store: to.Store, plants: func(c []store.Creation) { c[6].Plant.Name += "!" }}
		}, herb.CodeRejected, "plant 7: "},
		{"plant ID twice", func(to *Installation) {
			to.Store = corruptStore{Store: to.Store, plants: func(c []store.Creation) { c[6].Plant.ID = c[5].Plant.ID }}
		}, herb.CodeRejected, "plant 7 cannot be created"},
		{"order of plants", func(to *Installation) {
			to.Store = corruptStore{Store: to.Store, plants: func(c []store.Creation) { c[2], c[3] = c[3], c[2] }}
		}, herb.CodeRejected, "plant 3: "},
		{"idempotency key", func(to *Installation) {
			to.Store = corruptStore{
				Store: to.Store, idempotencyKeys: func(r []store.IdempotencyRecord) { r[0].Plant++ }}
		}, herb.CodeRejected, `idempotency key "key-1" of credential "ann": `},
		{"key", func(to *Installation) {
			to.Store = corruptStore{Store: to.Store, keys: func(k []herb.Key) { k[0].Hash[5]++ }}
		}, herb.CodeRejected, "key "},
		{"version", func(to *Installation) {
			to.Store = corruptStore{Store: to.Store, versions: func(v []herb.Dataset) { v[0].Records++ }}
		}, herb.CodeRejected, "dataset garden/trees: "},
		{"recorded hash of a file", func(to *Installation) {
			to.Store = corruptStore{
				Store: to.Store, versions: func(v []herb.Dataset) { v[0].File = &herb.File{Size: 1} }}
		}, herb.CodeRejected, "segment "},
		{"file", func(to *Installation) {
			to.Objects = corruptObjects{to.Objects, other}
		}, herb.CodeRejected, "the file read back from the target differs: got 5 bytes"},
		{"another process creates a plant", func(to *Installation) {
			db := to.Store
			to.Store = corruptStore{Store: db, keys: func([]herb.Key) {
				_, err := db.CreatePlants(t.Context(),
					[]store.Creation{{Plant: herb.NewPlant{ID: 1, Plant: herb.Plant{Name: "Alien"}}}})
				must.NoError(t, err)
			}}
		}, herb.CodeUnavailable, "another process writes to the target"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g, to := newGarden(t, 10), Place{Folder: t.TempDir()}
			_, err := migrateWith(t.Context(), g.Place, to, func(_, to *Installation) { tt.corrupt(to) })
			if herb.CodeOf(err) != tt.code || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("the error is %v; want code %s and %q", err, tt.code, tt.want)
			}
		})
	}
}

// TestMigrate_checkDetects changes a target after a migration: a check must name the difference.
func TestMigrate_checkDetects(t *testing.T) {
	t.Parallel()
	fileOf := func(t *testing.T, p Place, pattern string) string {
		files, err := filepath.Glob(filepath.Join(p.Folder, store.VersionsDir, pattern))
		must.NoError(t, err)
		return files[0]
	}
	segments := func(t *testing.T, p Place) string { return fileOf(t, p, "*.segment") }
	for _, tt := range []struct {
		name   string
		change func(t *testing.T, to Place)
		want   string
	}{
		{"plant", func(t *testing.T, to Place) { to.exec(t, "UPDATE plants SET name = 'x' WHERE seq = 2") },
			"plant 2: "},
		{"tag that was not given",
			func(t *testing.T, to Place) { to.exec(t, "UPDATE plants SET tag_given = 1 WHERE seq = 1") }, "plant 1: "},
		{"idempotency key", func(t *testing.T, to Place) { to.exec(t, "DELETE FROM retries WHERE key = 'key-4'") },
			`idempotency key "key-4"`},
		{"file of the target", func(t *testing.T, to Place) { must.NoError(t, os.Truncate(segments(t, to), 99)) },
			"target: segment "},
		{"missing file", func(t *testing.T, to Place) { must.NoError(t, os.Remove(segments(t, to))) },
			"is in the source but not in the target"},
		{"source of the target",
			func(t *testing.T, to Place) { must.NoError(t, os.Truncate(fileOf(t, to, "*.source"), 20)) },
			"target: source "},
		{"missing source", func(t *testing.T, to Place) { must.NoError(t, os.Remove(fileOf(t, to, "*.source"))) },
			"is in the source but not in the target"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g, to := newGarden(t, 10), Place{Folder: t.TempDir()}
			mustMigrate(t, g.Place, to, Options{})
			tt.change(t, to)
			_, err := Migrate(t.Context(), g.Place, to, Options{Check: true})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("the error is %v; want one that contains %q", err, tt.want)
			}
		})
	}
}

// exec runs a statement in the database of a folder.
func (p Place) exec(t *testing.T, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(p.Folder, store.DatabaseFile))
	must.NoError(t, err)
	defer func() { must.NoError(t, db.Close()) }()
	_, err = db.ExecContext(t.Context(), statement)
	must.NoError(t, err)
}
