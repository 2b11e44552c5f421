package versions_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"herbarium/internal/versions/versionstest"
)

// Environment of the process that TestPublish_survivesKill kills: the folder it publishes into, and
// the folder of objects, which may be empty.
const (
	killedDir    = "HERBARIUM_TEST_PUBLISH_INTO"
	killedBucket = "HERBARIUM_TEST_UPLOAD_INTO"
)

// TestPublish_endlessly is that process: it publishes versions with one more record each and prints
// when one is live.
func TestPublish_endlessly(t *testing.T) {
	dir := childDir(t, killedDir, "TestPublish_survivesKill")
	opts := versionstest.Options{Dir: dir}
	if objects := os.Getenv(killedBucket); objects != "" {
		b := versionstest.NewBucket(t, time.Now)
		b.Dir, opts.Blobs = objects, b
	}
	l := versionstest.OpenLibrary(t, versionstest.OpenDB(t, dir), opts)
	from := 0
	if d, err := l.Describe(t.Context(), ref); err == nil {
		from = d.Records
	}
	for n := from + 1; ; n++ {
		p := versionstest.WithSource(n)
		p.Consents = nil
		if _, err := l.Publish(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		fmt.Printf("live %d\n", n)
	}
}

// childDir returns the folder of a process that another test starts. In other processes, it skips
// the test.
func childDir(t *testing.T, variable, parent string) string {
	t.Helper()
	dir, ok := os.LookupEnv(variable)
	if !ok {
		t.Skip("runs only as a process that " + parent + " starts")
	}
	return dir
}

// TestPublish_survivesKill kills a publisher repeatedly, each time a little later. The version it
// reported as live, or the next one, is live and complete, and leftovers are swept.
func TestPublish_survivesKill(t *testing.T) {
	t.Parallel()
	s := versionstest.NewSharedDir(t)
	live := 0
	for round := range 12 {
		reported := killWhilePublishing(t, s.Dir, "", time.Duration(round)*7*time.Millisecond)
		live = max(live, reported)
		l := s.Open(t)
		snap := versionstest.Acquire(t, l)
		if snap.Records < live || snap.Records > live+1 || versionstest.Total(t, snap) != snap.Records {
			t.Fatalf("version %s with %d records is live, listing %d; %d was reported", snap.Version, snap.Records,
				versionstest.Total(t, snap), live)
		}
		live = snap.Records
		if err := versionstest.Sweep(t.Context(), l); err != nil {
			t.Error(err)
		}
		history, err := l.History(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		if files := s.Files(t); len(files) != 2*len(history) || len(leftSources(t, s.Dir)) != len(history) {
			t.Errorf("files %v are left of the versions %v", files, history)
		}
		if content, _, err := readSource(t.Context(), l, ""); content != versionstest.SourceContent {
			t.Errorf("the source is %q, %v", content, err)
		}
	}
}

// TestPublish_survivesKillWithBlobs does the same with a publisher that uploads. Another node lists
// the live version, every version has its object, and orphaned uploads are collected.
func TestPublish_survivesKillWithBlobs(t *testing.T) {
	t.Parallel()
	s := versionstest.NewSharedDir(t)
	c := &versionstest.Cluster{DB: s.DB, Bucket: versionstest.NewBucket(t, time.Now)}
	live := 0
	for round := range 8 {
		live = max(live, killWhilePublishing(t, s.Dir, c.Bucket.Dir, time.Duration(round)*7*time.Millisecond))
		c.WantWhole(t)
		snap := versionstest.Acquire(t, c.Node(t, nil).Node)
		if snap.Records < live || snap.Records > live+1 || versionstest.Total(t, snap) != snap.Records {
			t.Fatalf("version %s with %d records is live, listing %d; %d was reported", snap.Version, snap.Records,
				versionstest.Total(t, snap), live)
		}
		live = snap.Records
	}
	for days := range 4 {
		s.Now = func() time.Time { return time.Now().Add(time.Duration(days) * 25 * time.Hour) }
		n := c.Node(t, func(o *versionstest.Options) { o.Dir, o.Now = s.Dir, s.Now })
		if err := errors.Join(n.Collect(t.Context()), versionstest.Sweep(t.Context(), n.Node)); err != nil {
			t.Error(err)
		}
	}
	versions, err := s.DB.Versions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if objects := c.Bucket.Versions(t); !slices.Equal(versions, objects) || len(s.Files(t)) != len(versions) {
		t.Errorf("objects %v and files %v are left of the versions %v", objects, s.Files(t), versions)
	}
	if sources := leftSources(t, c.Bucket.Dir); len(sources) != len(versions) {
		t.Errorf("sources %v are left of the versions %v", sources, versions)
	}
}

// killWhilePublishing starts a publisher, kills it some time after its first version, and returns
// the last version that it reported as live.
func killWhilePublishing(t *testing.T, dir, objects string, after time.Duration) (last int) {
	t.Helper()
	ctx, kill := context.WithCancel(t.Context())
	defer kill()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestPublish_endlessly$")
	// it cannot remove its own
	cmd.Env = append(os.Environ(), killedDir+"="+dir, killedBucket+"="+objects, "TMPDIR="+t.TempDir())
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		word, ok := strings.CutPrefix(lines.Text(), "live ")
		if !ok {
			t.Logf("the publisher printed %q", lines.Text())
			continue
		}
		if last == 0 {
			time.AfterFunc(after, kill)
		}
		last, err = strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := cmd.Wait(); err == nil || err.Error() != "signal: killed" {
		t.Fatalf("the publisher ended before it was killed: %v", err)
	}
	if last == 0 {
		t.Fatal("the publisher published nothing")
	}
	return last
}
