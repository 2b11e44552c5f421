package cli_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"herbarium/internal/must"
)

// setIndex gives the file of a version an index of another release.
func setIndex(t *testing.T, e environment, version string) {
	t.Helper()
	path := filepath.Join(e["HERBARIUM_DATA"], "versions", version+".segment")
	content, err := os.ReadFile(path)
	must.NoError(t, err)
	content[8] = 1 // the format version, which no checksum covers
	must.NoError(t, os.WriteFile(path, content, 0o600))
}

// TestUpgrade rebuilds indexes of another release.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	publish := func(name, content string) string {
		e.must(t, "publish", write(t, name+".csv", content), "--as", "shop/"+name)
		return liveVersion(t, e, "shop/"+name)
	}
	kept := publish("a", "n\n1\n")
	live, damaged := publish("a", "n\n1\n2\n"), publish("b", "n\n1\n")
	for _, version := range []string{kept, live, damaged} {
		setIndex(t, e, version)
	}
	upgrade := func(wantCode, versions, rebuilt, failed int, flags ...string) {
		t.Helper()
		code, out, errOut := e.run(t, append([]string{"upgrade", "--json"}, flags...)...)
		var got struct{ Versions, Rebuilt, Failed int }
		must.NoError(t, json.Unmarshal([]byte(out), &got))
		if code != wantCode || got.Versions != versions || got.Rebuilt != rebuilt || got.Failed != failed {
			t.Errorf("upgrade %v: exit code %d, %+v\n%s", flags, code, got, errOut)
		}
		if failed > 0 && !strings.Contains(errOut, "herbarium: shop/b: ") {
			t.Errorf("upgrade does not name the dataset:\n%s", errOut)
		}
	}
	rebuilt := func(version string) bool {
		files, err := filepath.Glob(filepath.Join(e["HERBARIUM_DATA"], "versions", version+".f*.rebuilt"))
		must.NoError(t, err)
		return len(files) == 1
	}
	damageVersion(t, filepath.Join(e["HERBARIUM_DATA"], "versions"), damaged)
	upgrade(1, 2, 1, 1)
	if !rebuilt(live) || rebuilt(kept) || rebuilt(damaged) {
		t.Error("upgrade must rebuild the live versions that can be read, and no others")
	}
	e.must(t, "datasets", "remove", "shop/b", "--yes")
	upgrade(0, 1, 0, 0)
	upgrade(0, 2, 1, 0, "--kept")
	if !rebuilt(kept) {
		t.Error("upgrade --kept did not rebuild the kept version")
	}
	e.prints(t, "2 versions checked, 0 rebuilt", "upgrade", "--kept")
	e.prints(t, "2", "export", "shop/a")
	if got := liveVersion(t, e, "shop/a"); got != live {
		t.Errorf("the live version was %s and is %s", live, got)
	}
}

// TestDoctor_index checks that doctor warns about an index of another release, and that a damaged
// rebuilt index is no reason to publish again.
func TestDoctor_index(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	e.must(t, "publish", write(t, "a.csv", "n\n1\n"), "--as", "shop/a")
	version := liveVersion(t, e, "shop/a")
	setIndex(t, e, version)
	const warning = "1 of 1 live versions have the index of another release"
	examine := func(what string, warns bool) {
		t.Helper()
		code, found := e.examine(t)
		if all := strings.Join(slices.Collect(maps.Values(found)), ""); code != 0 ||
			strings.Contains(all, warning) != warns {
			t.Errorf("%s: exit code %d\n%s", what, code, all)
		}
	}
	examine("before the upgrade", true)
	e.must(t, "upgrade")
	examine("after the upgrade", false)
	files, err := filepath.Glob(filepath.Join(e["HERBARIUM_DATA"], "versions", version+".f*.rebuilt"))
	must.NoError(t, err)
	must.NoError(t, os.Truncate(files[0], 100))
	examine("a damaged rebuilt index", true)
}
