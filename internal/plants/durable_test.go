package plants_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"herbarium/internal/plants"
	"herbarium/internal/store"
	"herbarium/internal/store/sqlite"
)

// creatorVariable names the environment variable with the path of the database for the process that
// is killed.
const creatorVariable = "HERBARIUM_TEST_CREATOR"

// TestCreator is that process: it creates plants until it is killed and prints the ID of each
// created one.
func TestCreator(t *testing.T) {
	path := os.Getenv(creatorVariable)
	if path == "" {
		t.Skip("runs only as a process that TestService_survivesKill starts")
	}
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := plants.New(db, plants.Options{})
	go func() { _ = s.Run(context.Background()) }()
	var wg sync.WaitGroup
	for caller := range int64(16) {
		wg.Go(func() {
			for id := caller; ; id += 16 {
				o, err := s.Create(context.Background(),
					store.Creation{Plant: plant(id, "Fern "+strconv.FormatInt(id, 10))})
				if err != nil || o.Err != nil {
					t.Errorf("plant %d: %v, %v", id, err, o.Err)
					return
				}
				fmt.Printf("created %d\n", id)
			}
		})
	}
	wg.Wait()
}

// TestService_survivesKill kills a process while it creates plants. Every acknowledged plant must
// exist.
func TestService_survivesKill(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "herbarium.db")
	creator := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestCreator$", "-test.count=1")
	creator.Env = append(os.Environ(), creatorVariable+"="+path)
	out, err := creator.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	creator.Stderr = os.Stderr
	if err := creator.Start(); err != nil {
		t.Fatal(err)
	}
	acknowledged := map[string]bool{}
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			break // the process is dead; an incomplete line does not count
		}
		if id, ok := strings.CutPrefix(strings.TrimSpace(line), "created "); ok {
			acknowledged[id] = true
		}
		if len(acknowledged) == 300 {
			if err := creator.Process.Kill(); err != nil {
				t.Error(err)
			}
		}
	}
	if err := creator.Wait(); err == nil || err.Error() != "signal: killed" {
		t.Errorf("the process ended before it was killed: %v", err)
	}
	if len(acknowledged) < 300 {
		t.Fatalf("only %d plants were created", len(acknowledged))
	}

	db, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	stored, err := db.ReadPlants(t.Context(), 0, 1_000_000)
	if err != nil || len(stored.Plants) != stored.Total {
		t.Fatalf("read %d of %d plants, %v", len(stored.Plants), stored.Total, err)
	}
	for _, p := range stored.Plants {
		delete(acknowledged, strconv.FormatInt(p.ID, 10))
	}
	if len(acknowledged) > 0 {
		t.Errorf("plants were acknowledged and are lost: %v", acknowledged)
	}
}
