package app

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"testing"
	"time"

	"herbarium/internal/herb"
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
	moveStore
	*faults
}

func (s faultyStore) AddPlants(ctx context.Context, n, count int, plants iter.Seq2[[]herb.NewPlant, error]) error {
	return s.around(func() error { return s.moveStore.AddPlants(ctx, n, count, plants) })
}

func (s faultyStore) AddRetries(ctx context.Context, r []store.UsedRetry) error {
	return s.around(func() error { return s.moveStore.AddRetries(ctx, r) })
}

func (s faultyStore) AddKeys(ctx context.Context, keys []herb.Key) error {
	return s.around(func() error { return s.moveStore.AddKeys(ctx, keys) })
}

func (s faultyStore) SetChronicle(ctx context.Context, c store.Chronicle, had []string, at time.Time) error {
	return s.around(func() error { return s.moveStore.SetChronicle(ctx, c, had, at) })
}

type faultyFiles struct {
	moveFiles
	*faults
}

func (s faultyFiles) take(ctx context.Context, name string, want herb.File, from moveFiles, told func(int64)) error {
	return s.around(func() error { return s.moveFiles.take(ctx, name, want, from, told) })
}

// TestMove_interrupted interrupts a move at each of its writes, and does it again.
func TestMove_interrupted(t *testing.T) {
	t.Parallel()
	for name, target := range map[string]func(*testing.T) Place{
		"cluster": newCluster,
		"folder":  func(t *testing.T) Place { return Place{Folder: t.TempDir()} },
	} {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/after=%t", name, after), func(t *testing.T) {
				t.Parallel()
				g := newGarden(t, 40)
				const writes = 4 + 1 + 1 + 1 + 2 // files, keys, plants, retry keys, datasets
				for at := 1; at <= writes; at++ {
					f, to := &faults{at: at, after: after}, target(t)
					_, err := move(t.Context(), g.Place, to, MoveOptions{}, func(_, to *side) {
						to.store, to.files = faultyStore{to.store, f}, faultyFiles{to.files, f}
					})
					if !errors.Is(err, errFault) {
						t.Fatalf("write %d: %v", at, err)
					}
					if i := inventoryOf(t, to); len(i.catalogue) > 0 && i.plants < g.plants {
						t.Errorf("at write %d datasets are listed and plants are missing", at)
					}
					mustMove(t, g.Place, to, MoveOptions{})
					if at == writes {
						wantAlike(t, g.Place, to)
						g.works(t, to)
					}
				}
			})
		}
	}
}

// movedFrom and movedTo are set in the process that TestMove_survivesKill kills.
const movedFrom, movedTo = "HERBARIUM_TEST_MOVE_FROM", "HERBARIUM_TEST_MOVE_TO"

// TestMove_once is that process.
func TestMove_once(t *testing.T) {
	from, ok := os.LookupEnv(movedFrom)
	if !ok {
		t.Skip("runs only as a process that TestMove_survivesKill starts")
	}
	began := false
	mustMove(t, Place{Folder: from}, Place{Folder: os.Getenv(movedTo)}, MoveOptions{Progress: func(Progress) {
		if !began {
			fmt.Println("began")
			began = true
		}
	}})
}

// TestMove_survivesKill kills a move again and again, each time a little later, and ends it then.
func TestMove_survivesKill(t *testing.T) {
	t.Parallel()
	g, to := newGarden(t, 2100), Place{Folder: t.TempDir()}
	for round := range 8 {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestMove_once$", "-test.v")
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
	mustMove(t, g.Place, to, MoveOptions{})
	wantAlike(t, g.Place, to)
	g.works(t, to)
}
