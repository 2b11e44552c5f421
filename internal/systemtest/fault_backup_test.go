//go:build linux

package systemtest

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"herbarium/internal/must"
	"herbarium/internal/programtest"
)

// TestBackup backs up a server while clients create plants and another process publishes, and
// restores the backups: each has everything that was acknowledged before it started.
func TestBackup(t *testing.T) {
	t.Parallel()
	node := startNumbers(t, "")
	data := node.data
	var acknowledged atomic.Int64
	stop := make(chan struct{})
	var writers sync.WaitGroup
	for client := range 2 {
		writers.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				plant := fmt.Sprintf(`{"id":%d,"name":"Plant %d"}`, n*2+client+1, n)
				if r, err := post(t.Context(), node.URL, token, plant); err != nil || r.Status != http.StatusOK {
					t.Errorf("creating %s: status %d, %v: %s", plant, r.Status, err, r.Body)
					return
				}
				acknowledged.Add(1)
			}
		})
	}
	for n := range 3 {
		file := filepath.Join(t.TempDir(), "backup.tar")
		publishNumbers(t, data, 10+n)
		before := acknowledged.Load()
		published := make(chan struct{})
		go func() {
			defer close(published)
			out, code, err := programtest.Run(t.Context(), program,
				[]string{"HERBARIUM_DATA=" + data, "HERBARIUM_KEEP=1"},
				"publish", "--as", numbers, writeNumbers(t, 20+n))
			if err != nil || code != 0 {
				t.Errorf("publish: exit code %d, %v\n%s", code, err, out)
			}
		}()
		run(t, data, "backup", file)
		<-published
		restored := t.TempDir()
		out := run(t, restored, "restore", file)
		count, _, _ := strings.Cut(strings.TrimPrefix(out, "restored "), " plants")
		if plants, err := strconv.ParseInt(strings.ReplaceAll(count, ",", ""), 10, 64); err != nil || plants < before {
			t.Errorf("backup %d: restored %q plants; %d were acknowledged before (%v)", n, count, before, err)
		}
		listed := run(t, restored, "export", numbers, "--format", "csv")
		if records := strings.Count(listed, "\n") - 1; records != 10+n && records != 20+n {
			t.Errorf("backup %d: the dataset has %d records", n, records)
		}
	}
	close(stop)
	writers.Wait()
}

// TestBackup_fullDisk backs up to a full disk, and restores to one. It simulates the full disk by a
// limit on the size of files.
func TestBackup_fullDisk(t *testing.T) {
	t.Parallel()
	data, file := t.TempDir(), filepath.Join(t.TempDir(), "backup.tar")
	publishNumbers(t, data, 20_000)
	limited := func(kilobytes int, args ...string) error {
		line := append([]string{"-c", fmt.Sprintf(`ulimit -f %d && exec "$0" "$@"`, kilobytes*2), program}, args...)
		out, err := exec.CommandContext(t.Context(), "sh", line...).CombinedOutput()
		t.Logf("%s", out)
		return err
	}
	if limited(100, "backup", file, "--data", data) == nil {
		t.Error("a backup without space succeeds")
	}
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	must.NoError(t, err)
	defer full.Close()
	cmd := exec.CommandContext(t.Context(), program, "backup", "-", "--data", data)
	cmd.Stdout = full
	if cmd.Run() == nil {
		t.Error("a backup to a full device succeeds")
	}
	if left, err := os.ReadDir(filepath.Dir(file)); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
	run(t, data, "backup", file)
	restored := t.TempDir()
	if limited(100, "restore", file, "--data", restored) == nil {
		t.Error("a restore without space succeeds")
	}
	if left, err := os.ReadDir(restored); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
	run(t, restored, "restore", file)
}
