//go:build linux

package systemtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"herbarium/internal/must"
	"herbarium/internal/store"
)

// laterIndex names the indexes of buildLater.
const laterIndex = "f6-r2"

// laterProgram is the program that buildLater returns; path is empty until it is built.
var laterProgram struct {
	mu   sync.Mutex
	path string
}

// buildLater returns this program with the numbers of a later one: its segments have another format
// and other text rules. It is built once, beside the program. Its packages are not optimized, which
// takes half of the time.
func buildLater(t *testing.T) (path string) {
	t.Helper()
	laterProgram.mu.Lock()
	defer laterProgram.mu.Unlock()
	if laterProgram.path != "" {
		return laterProgram.path
	}
	root, err := filepath.Abs("../..")
	must.NoError(t, err)
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for file, change := range map[string][2]string{
		"internal/text/rules.go":                   {`const rules = "1, `, `const rules = "2, raised by a test, `},
		"internal/segment/internal/file/format.go": {"const FormatVersion = 5\n", "const FormatVersion = 6\n"},
	} {
		file = filepath.Join(root, filepath.FromSlash(file))
		content, err := os.ReadFile(file)
		must.NoError(t, err)
		changed := strings.Replace(string(content), change[0], change[1], 1)
		if changed == string(content) {
			t.Fatalf("%s has no %q", file, change[0])
		}
		overlay.Replace[file] = write(t, changed, t.TempDir(), filepath.Base(file))
	}
	content, err := json.Marshal(overlay)
	must.NoError(t, err)
	built := buildProgram(t, root, "-gcflags=herbarium/...=-N -l", "-overlay",
		write(t, string(content), t.TempDir(), "overlay.json"))
	path = program + "-later"
	must.NoError(t, os.Rename(built, path))
	laterProgram.path = path
	return path
}

// rebuildsStarted returns how many indexes a server has rebuilt or is rebuilding.
func rebuildsStarted(n *node) int {
	return strings.Count(n.Output(), `"rebuilding index of another release"`)
}

// TestReleases runs this program and a later one, whose segments have other indexes, on the same
// data.
func TestReleases(t *testing.T) {
	t.Parallel()
	later := buildLater(t)
	i := newFolder(t)
	r := createInstallation(t, i)
	stored := i.files(t)
	again := func(t *testing.T) *installation {
		t.Helper()
		i := newFolder(t)
		i.fill(t, stored, "")
		return i
	}
	t.Run("forward and back", func(t *testing.T) {
		t.Parallel()
		testForwardAndBack(t, again(t), later, r)
	})
	t.Run("upgrade beforehand", func(t *testing.T) {
		t.Parallel()
		testUpgradeBeforehand(t, again(t), later, r)
	})
	t.Run("one cluster", func(t *testing.T) {
		t.Parallel()
		testReleasesInCluster(t, later)
	})
}

// createInstallation creates datasets, versions, plants and keys with this program, and returns its
// responses.
func createInstallation(t *testing.T, i *installation) (r recording) {
	t.Helper()
	files := recordInstallation(t, i, true)
	must.NoError(t, json.Unmarshal(files[recordingFile], &r))
	return r
}

// checkEqual sends the recorded requests and expects the same responses. The entity tags of
// filtered listings and single records contain the text rules, because those decide what is found.
func (r recording) checkEqual(t *testing.T, n *node) {
	t.Helper()
	for _, want := range r.Responses {
		got := n.recordResponse(want.Path, r.Key)
		if strings.Contains(want.Path, "?") || strings.Contains(want.Path, "/data/") {
			got.Tag = want.Tag
		}
		if got != want {
			t.Errorf("GET %s on %s: %v\nbefore: %v", want.Path, n.URL, got, want)
			return // others would fail for the same reason
		}
	}
}

// expectKept expects that files are as they were.
func expectKept(t *testing.T, before, now map[string][]byte) {
	t.Helper()
	for name, content := range before {
		if !bytes.Equal(now[name], content) {
			t.Errorf("%s has changed: %d bytes, and there were %d", name, len(now[name]), len(content))
		}
	}
}

func testForwardAndBack(t *testing.T, i *installation, later string, r recording) {
	published := i.segments(t)
	n := i.with(later).start(t)
	n.expect(http.StatusOK, "/readyz")
	r.checkEqual(t, n)
	requested := len(published) - 1 // no request names the earlier version of sent/prices
	if started := rebuildsStarted(n); started != requested {
		t.Errorf("%d indexes of %d files were rebuilt", started, requested)
	}
	eventually(t, "all indexes are rebuilt", func(ctx context.Context) error {
		_, faults, err := parts(ctx, n)
		if err == nil && faults["indexes"] != "" {
			err = fmt.Errorf("indexes: %s", faults["indexes"])
		}
		return err
	})
	stopNode(t, n)
	both := i.segments(t)
	expectKept(t, published, both)
	rebuilt := 0
	for name := range published {
		if both[store.RebuiltFile(strings.TrimSuffix(name, store.SegmentSuffix), laterIndex)] != nil {
			rebuilt++
		}
	}
	if rebuilt != requested || len(both) != len(published)+requested {
		t.Errorf("%d rebuilt files; want %d: %v", rebuilt, requested, slices.Sorted(maps.Keys(both)))
	}

	n = i.start(t)
	r.checkEqual(t, n)
	if started := rebuildsStarted(n); started > 0 {
		t.Errorf("the earlier program has rebuilt %d indexes", started)
	}
	stopNode(t, n)
	expectKept(t, both, i.segments(t))
	for _, c := range r.Commands {
		if out := i.list(t, append(c.Args, "--json")...); slices.Contains(c.Args, "history") && out != c.Out {
			t.Errorf("the history is %s instead of %s", out, c.Out)
		}
	}

	n = i.with(later).start(t)
	r.checkEqual(t, n)
	if started := rebuildsStarted(n); started > 0 {
		t.Errorf("the later program has rebuilt %d indexes again", started)
	}
	r.publishAndRollBack(t, n, i.with(later))
}

func testUpgradeBeforehand(t *testing.T, i *installation, later string, r recording) {
	running := i.start(t)
	var u struct{ Versions, Rebuilt, Failed int }
	for round, want := range []bool{true, false} {
		must.NoError(t, json.Unmarshal([]byte(i.with(later).run(t, "upgrade", "--kept", "--json")), &u))
		if u.Failed > 0 || (u.Rebuilt == u.Versions) != want || u.Versions < 10 {
			t.Errorf("round %d: %+v", round, u)
		}
	}
	r.checkEqual(t, running)
	n := i.with(later).start(t)
	if _, faults, err := parts(t.Context(), n); err != nil || faults["indexes"] != "" {
		t.Errorf("after an upgrade: %v, %v", faults, err)
	}
	r.checkEqual(t, n)
	r.checkEqual(t, running)
	for _, server := range []*node{n, running} {
		if started := rebuildsStarted(server); started > 0 {
			t.Errorf("%s has rebuilt %d indexes after the upgrade", server.URL, started)
		}
	}
}

func testReleasesInCluster(t *testing.T, later string) {
	i := newServices(t).newShared(t)
	r := createInstallation(t, i)
	published := i.segments(t)
	today := i.newNode(t).start(t)
	i.newNode(t).with(later).run(t, "upgrade")
	upgraded := i.segments(t)
	next := i.newNode(t).with(later).start(t)
	nodes := []*node{today, next}
	r.checkEqual(t, today)
	r.checkEqual(t, next)
	if started := rebuildsStarted(next); started > 4 { // the versions that are not live
		t.Errorf("a node has rebuilt %d indexes although they are in the object store", started)
	}

	var readers clients
	readers.run(t, func(ctx context.Context) bool {
		for _, n := range nodes {
			_, err := list(context.WithoutCancel(ctx), n.URL, "garden/prices", "per_page=100&sort=id")
			if err != nil {
				t.Errorf("a listing failed on a ready node: %v", err)
				return false
			}
		}
		return true
	})
	for round := range 3 {
		for who, n := range nodes {
			content := fmt.Sprintf("id,name,price\r\n1,from %d,%d\r\n", who, round)
			n.mustPut("garden/prices", r.Key, content)
			for _, other := range nodes {
				other.eventuallyExports("garden/prices", content)
			}
		}
	}
	readers.end()
	if readers.count.Load() == 0 {
		t.Error("nothing was listed meanwhile")
	}
	for _, n := range nodes {
		stopNode(t, n)
	}
	now := i.segments(t)
	expectKept(t, published, now)
	expectKept(t, upgraded, now)
}
