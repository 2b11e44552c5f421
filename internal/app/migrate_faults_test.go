package app

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/migrate"
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
	migrate.Store
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
	migrate.Objects
	*faults
}

func (o faultyObjects) Put(ctx context.Context, name, path string, progress func(done, total int64)) error {
	return o.around(func() error { return o.Objects.Put(ctx, name, path, progress) })
}

// TestMigrate_interrupted interrupts a move at each of its writes, and does it again.
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
					_, err := migrateWith(t.Context(), g.Place, to, func(_, to *migrate.Installation) {
						to.Store, to.Files.Objects = faultyStore{to.Store, f}, faultyObjects{to.Files.Objects, f}
					})
					if !errors.Is(err, errFault) {
						t.Fatalf("write %d: %v", at, err)
					}
					if c := contentOf(t, to); len(c.datasets) > 0 && c.plants < g.plants {
						t.Errorf("at write %d datasets are listed and plants are missing", at)
					}
					mustMigrate(t, g.Place, to, MigrateOptions{})
					if at == writes {
						wantAlike(t, g.Place, to)
						g.works(t, to)
					}
				}
			})
		}
	}
}

// movedFrom and movedTo are set in the process that TestMigrate_survivesKill kills.
const movedFrom, movedTo = "HERBARIUM_TEST_MOVE_FROM", "HERBARIUM_TEST_MOVE_TO"

// TestMigrate_once is that process.
func TestMigrate_once(t *testing.T) {
	from, ok := os.LookupEnv(movedFrom)
	if !ok {
		t.Skip("runs only as a process that TestMigrate_survivesKill starts")
	}
	began := false
	mustMigrate(t, Place{Folder: from}, Place{Folder: os.Getenv(movedTo)}, MigrateOptions{Progress: func(Progress) {
		if !began {
			fmt.Println("began")
			began = true
		}
	}})
}

// TestMigrate_survivesKill kills a move again and again, each time a little later, and ends it then.
func TestMigrate_survivesKill(t *testing.T) {
	t.Parallel()
	g, to := newGarden(t, 2100), Place{Folder: t.TempDir()}
	for round := range 8 {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestMigrate_once$", "-test.v")
		cmd.Env = append(os.Environ(), movedFrom+"="+g.Folder, movedTo+"="+to.Folder)
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		kill := func() { _ = cmd.Process.Kill() } // it may have ended
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if lines.Text() == "began" {
				time.AfterFunc(time.Duration(round)*15*time.Millisecond, kill)
			}
		}
		_ = cmd.Wait() // it was killed, or was faster
	}
	mustMigrate(t, g.Place, to, MigrateOptions{})
	wantAlike(t, g.Place, to)
	g.works(t, to)
}
