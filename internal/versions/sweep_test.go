package versions_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/progress"
	"herbarium/internal/segment"
	"herbarium/internal/store"
	"herbarium/internal/versions"
	"herbarium/internal/versions/versionstest"
)

// pausedDir and pausedPhase are set in the process that TestSweep_killed kills: the folder it
// publishes into, and the phase in which it stops.
const (
	pausedDir   = "HERBARIUM_TEST_PAUSE_IN"
	pausedPhase = "HERBARIUM_TEST_PAUSE_AT"
)

func TestSweep(t *testing.T) {
	t.Parallel()
	s := versionstest.NewSharedDir(t)
	l := s.Open(t)
	d := versionstest.Publish(t, l, 1)
	for _, name := range []string{".1.segment.part", "20200101T000000Z-leftover.segment",
		d.Version + ".segment.0a1b.tmp", "notes.txt"} {
		if err := os.WriteFile(filepath.Join(s.Dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	lock, err := store.LockVersions(s.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := versionstest.Sweep(t.Context(), l); err != nil || len(s.Files(t)) != 4 {
		t.Errorf("while a process writes: %v; left %v, want all", err, s.Files(t))
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	if err := versionstest.Sweep(t.Context(), l); err != nil {
		t.Error(err)
	}
	if left := s.Files(t); len(left) != 1 || left[0] != d.Version+".segment" {
		t.Errorf("left %v; want the live version alone", left)
	}
	if _, err := os.Stat(filepath.Join(s.Dir, "notes.txt")); err != nil {
		t.Errorf("a file that is none of ours is gone: %v", err)
	}
}

// TestPublish_paused is that process.
func TestPublish_paused(t *testing.T) {
	dir := childDir(t, pausedDir, "TestSweep_killed")
	_, err := versionstest.OpenLibrary(t, versionstest.OpenDB(t, dir),
		versionstest.Options{Dir: dir}).Publish(t.Context(), versions.Publication{
		Dataset: herb.Dataset{Ref: ref, Fields: fields}, Records: versionstest.Numbers(3, nil),
		Progress: progress.New(func(p progress.Progress) {
			if p.Phase == os.Getenv(pausedPhase) {
				fmt.Println("paused")
				time.Sleep(time.Hour) // without a timer, the runtime may report a deadlock and end the process
			}
		}),
	})
	t.Fatalf("the publish has ended: %v", err)
}

// TestSweep_killed sweeps while another process publishes, regardless of the age of its files, and
// after that process was killed, again regardless of their age.
func TestSweep_killed(t *testing.T) {
	t.Parallel()
	for _, phase := range []string{versions.PhaseIndexing, segment.PhaseSorting, versions.PhaseChecking} {
		t.Run(phase, func(t *testing.T) {
			t.Parallel()
			s := versionstest.NewSharedDir(t)
			l := s.Open(t)
			versionstest.Publish(t, l, 1)
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestPublish_paused$")
			cmd.Env = append(os.Environ(), pausedDir+"="+s.Dir, pausedPhase+"="+phase)
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			for lines := bufio.NewScanner(out); lines.Scan() && lines.Text() != "paused"; {
				t.Logf("the publisher printed %q", lines.Text())
			}
			s.Now = func() time.Time { return time.Now().Add(48 * time.Hour) }
			if err := l.Sweep(t.Context()); err != nil {
				t.Error(err)
			}
			if files := s.Files(t); len(files) != 2 {
				t.Errorf("files %v are left of a running publish", files)
			}
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); err == nil || err.Error() != "signal: killed" {
				t.Errorf("the publisher ended before it was killed: %v", err)
			}
			s.Now = time.Now
			if err := versionstest.Sweep(t.Context(), l); err != nil {
				t.Error(err)
			}
			if files := s.Files(t); len(files) != 1 {
				t.Errorf("files %v are left of a killed publish", files)
			}
			if retired, err := s.DB.Retired(t.Context()); err != nil || len(retired) != 0 {
				t.Errorf("retired versions %v, %v", retired, err)
			}
			if n := versionstest.Total(t, versionstest.Acquire(t, l)); n != 1 {
				t.Errorf("%d records are listed", n)
			}
			versionstest.Publish(t, l, 2)
		})
	}
}

// TestSweep_during sweeps in the same process while a publish runs.
func TestSweep_during(t *testing.T) {
	t.Parallel()
	s := versionstest.NewSharedDir(t)
	l := s.Open(t)
	s.Now = func() time.Time { return time.Now().Add(48 * time.Hour) }
	swept := map[string]bool{}
	_, err := l.Publish(t.Context(), versions.Publication{
		Dataset: herb.Dataset{Ref: ref, Fields: fields}, Records: versionstest.Numbers(3, nil),
		Progress: progress.New(func(p progress.Progress) {
			if swept[p.Phase] {
				return
			}
			swept[p.Phase] = true
			if err := l.Sweep(t.Context()); err != nil {
				t.Error(err)
			}
		}),
	})
	if err != nil || len(swept) != 3 {
		t.Fatalf("swept in %v: %v", swept, err)
	}
	if err := l.Collect(t.Context()); err != nil {
		t.Errorf("collecting without an object store: %v", err)
	}
	if n := versionstest.Total(t, versionstest.Acquire(t, l)); n != 3 {
		t.Errorf("%d records are listed", n)
	}
}

// TestPublish_noDirectory publishes while the directory of the versions is missing, as after its
// disk was unmounted.
func TestPublish_noDirectory(t *testing.T) {
	t.Parallel()
	s := versionstest.NewSharedDir(t)
	dir := filepath.Join(t.TempDir(), "versions")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	l := versionstest.OpenLibrary(t, s.DB, versionstest.Options{Dir: dir})
	versionstest.Publish(t, l, 1)
	if n := versionstest.Total(t, versionstest.Acquire(t, l)); n != 1 {
		t.Fatalf("%d records are listed", n)
	}
	if err := os.Rename(dir, dir+"-away"); err != nil {
		t.Fatal(err)
	}
	_, err := l.Publish(t.Context(), versions.Publication{Dataset: herb.Dataset{Ref: ref, Fields: fields},
		Records: versionstest.Numbers(3, nil)})
	if err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("the error does not name the directory: %v", err)
	}
	if n := versionstest.Total(t, versionstest.Acquire(t, l)); n != 1 {
		t.Errorf("%d records are listed", n)
	}
	if err := os.Rename(dir+"-away", dir); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 2 { // the version and the notification file
		t.Errorf("left: %v, %v", entries, err)
	}
	versionstest.Publish(t, l, 2)
}
