package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"herbarium/internal/must"
)

func TestMigrate(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	e.must(t, "publish", garden)
	e.must(t, "keys", "create", "--name", "ci", "--scope", "plants:write")
	from, to := e["HERBARIUM_DATA"], filepath.Join(t.TempDir(), "new", "data")
	out := e.must(t, "migrate", "--from", from, "--to", to)
	for _, want := range []string{"migrated 0 plants, 1 key, ", "new: 0 plants, 1 key, ",
		"hash of source and target: sha256:"} {
		if !strings.Contains(out, want) {
			t.Errorf("it says\n%swithout %q", out, want)
		}
	}
	e.fails(t, 3, "the target has data (0 plants, 1 key, 1 dataset)", "migrate", "--from", from, "--to", to)
	e.prints(t, "source and target are equal: 0 plants, 1 key,", "migrate", "--from", from, "--to", to, "--check")
	e.must(t, "keys", "create", "--name", "alien", "--scope", "data:read", "--data", to)
	e.fails(t, 3, "(alien) is in the target but not in the source", "migrate", "--from", from, "--to", to, "--check")
}

func TestMigrate_invalid(t *testing.T) {
	t.Parallel()
	const database, secret = "postgres://user:hunter2@127.0.0.1:1/x?connect_timeout=1", "hunter2"
	files := "file://" + filepath.ToSlash(t.TempDir())
	for _, tt := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"nothing", nil, 2, "--from and --to"},
		{"no target", []string{"--from", "a"}, 2, "--from and --to"},
		{"the same", []string{"--from", "a/../b", "--to", "./b"}, 2, "the same place"},
		{"no source", []string{"--from", "missing", "--to", "b"}, 1, `"missing" is not a data folder`},
		{"blobs without a database", []string{"--from", "a", "--to", "b", "--blobs", files}, 2,
			"both places are folders"},
		{"blobs of a folder", []string{"--from", "a", "--to", "b", "--from-blobs", files}, 2, "is a data folder"},
		{"database without blobs", []string{"--from", "a", "--to", database}, 2, "add --blobs"},
		{"whose blobs", []string{"--from", database + "1", "--to", database, "--blobs", files}, 2,
			"--from-blobs and --to-blobs"},
		{"unknown object store", []string{"--from", database, "--to", "b", "--blobs", "ftp://x"}, 2, "ftp"},
		{"no answer", []string{"--from", database, "--to", "b", "--blobs", files}, 1, "source: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := newEnvironment(t)
			code, _, errOut := e.run(t, append([]string{"migrate"}, tt.args...)...)
			if code != tt.code || !strings.Contains(errOut, tt.want) {
				t.Errorf("the exit code is %d and it says\n%swant %d and %q", code, errOut, tt.code, tt.want)
			}
			if strings.Contains(errOut, secret) {
				t.Errorf("the password is shown:\n%s", errOut)
			}
		})
	}
	t.Cleanup(func() { // when all of them have ended
		for _, name := range []string{"a", "b", "missing"} {
			if _, err := os.Stat(name); err == nil {
				t.Errorf("%s was made", name)
			}
		}
	})
}

func TestBackupAndRestore(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	e.must(t, "publish", garden)
	e.must(t, "keys", "create", "--name", "ci", "--scope", "plants:write")
	from, file, folder := e["HERBARIUM_DATA"], filepath.Join(t.TempDir(), "backup.tar"),
		filepath.Join(t.TempDir(), "new", "backup")+"/"
	for _, backup := range []string{file, folder} {
		e.prints(t, "backed up 0 plants, 1 key, ", "backup", backup)
		e.prints(t, "the backup is complete: 0 plants, 1 key, ", "restore", "--check", backup)
		to := filepath.Join(t.TempDir(), "data")
		e.prints(t, "new: 0 plants, 1 key, 1 file, ", "restore", backup, "--data", to)
		e.must(t, "migrate", "--check", "--from", from, "--to", to)
		code, _, errOut := e.run(t, "restore", backup, "--data", to)
		if code != 3 || !strings.Contains(errOut,
			"has data; restore into another folder, or replace it with --replace") {
			t.Errorf("a folder with data: the exit code is %d; restore prints\n%s", code, errOut)
		}
		e.must(t, "keys", "create", "--name", "alien", "--scope", "data:read", "--data", to)
		e.must(t, "restore", backup, "--data", to, "--replace")
		e.must(t, "migrate", "--check", "--from", from, "--to", to)
	}

	var printed struct {
		Path        string
		Keys, Bytes int
		Audit       int `json:"audit_entries"`
	}
	must.NoError(t, json.Unmarshal([]byte(e.must(t, "restore", "--check", "--json", file)), &printed))
	// publish, key and the backup itself
	if printed.Path != file || printed.Keys != 1 || printed.Bytes == 0 || printed.Audit != 3 {
		t.Errorf("restore --json prints %+v", printed)
	}
	e.fails(t, 3, "garden/catalog exists; remove it", "restore", file, "--dataset", "garden/catalog")
	e.fails(t, 2, "omit them with --dataset", "restore", file, "--dataset", "garden/catalog", "--check")
	e.fails(t, 2, "needs a file or a folder", "restore", "-", "--dataset", "garden/catalog")
	e.must(t, "datasets", "remove", "garden/catalog", "--yes")
	e.prints(t, "restored garden/catalog with 1 version (", "restore", file, "--dataset", "garden/catalog")
	e.prints(t, "garden/catalog", "datasets", "list")
	code, archive, errOut := e.run(t, "backup", "-")
	if code != 0 || !strings.Contains(errOut, "backed up 0 plants, 1 key, ") {
		t.Errorf("backup -: the exit code is %d; it prints\n%s", code, errOut)
	}
	streamed := filepath.Join(t.TempDir(), "streamed.tar")
	must.NoError(t, os.WriteFile(streamed, []byte(archive), 0o600))
	e.must(t, "restore", "--check", streamed)
}

func TestBackup_invalid(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	e.must(t, "publish", garden)
	dir := t.TempDir()
	for _, tt := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"too many", []string{"backup", "a", "b"}, 2, "expected a file, a folder or -"},
		{"nothing to restore", []string{"restore"}, 2, "expected a backup: a file, a folder or -"},
		{"no data", []string{"backup", filepath.Join(dir, "x.tar"), "--data", filepath.Join(dir, "missing")}, 1,
			"is not a data folder"},
		{"no backup", []string{"restore", filepath.Join(dir, "missing.tar"), "--data", dir}, 1,
			"missing.tar: no such file or directory"},
		{"another file", []string{"restore", "--check", garden}, 1, "backup.ndjson: no such file or directory"},
		{"a new folder", []string{"restore", "-", "--data", filepath.Join(dir, "new")}, 1, "backup.ndjson is missing"},
		{"empty input", []string{"restore", "-", "--data", dir}, 1, "backup.ndjson is missing"},
		{"replaced database", []string{"restore", "x", "--replace", "--database", "postgres://x/x", "--blobs",
			"file:///x"}, 2, "--replace is for a data folder"},
	} {
		code, _, errOut := e.run(t, tt.args...)
		if code != tt.code || !strings.Contains(errOut, tt.want) {
			t.Errorf("%s: the exit code is %d, want %d; it prints\n%swithout %q", tt.name, code, tt.code,
				errOut, tt.want)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
}

// TestRestore_keptSource sends a file to a server, backs the server up, and restores the backup and
// a migrated copy: both return the file that was sent.
func TestRestore_keptSource(t *testing.T) {
	t.Parallel()
	const content = "code;price\n007;1.50\n008;2\n"
	e := newEnvironment(t)
	s := e.serve(t)
	e["HERBARIUM_KEY"] = strings.TrimSpace(e.must(t, "keys", "create", "--name", "ci", "--scope", "publish:shop/*"))
	e.must(t, "publish", write(t, "shop/prices.csv", content), "--to", s.url)
	backup := filepath.Join(t.TempDir(), "backup.tar")
	e.prints(t, "1 kept source", "backup", backup)
	restored, migrated := newEnvironment(t), newEnvironment(t)
	restored.prints(t, "1 kept source\n  new: 0 plants, 1 key, 2 files", "restore", backup)
	e.prints(t, "1 kept source", "migrate", "--from", e["HERBARIUM_DATA"], "--to", migrated["HERBARIUM_DATA"])
	for _, other := range []environment{restored, migrated} {
		if status, got := other.serve(t).get(t, "/api/v1/shop/prices/source", "X-API-Key",
			e["HERBARIUM_KEY"]); status != 200 || got != content {
			t.Errorf("the source is %d %q", status, got)
		}
	}
}

// TestMigrate_skipped migrates, backs up and restores with one damaged file: it is named,
// everything else is copied, and the exit code is 1.
func TestMigrate_skipped(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	e.must(t, "publish", write(t, "a.csv", "n\n1\n"), "--as", "shop/a")
	e.must(t, "publish", write(t, "b.csv", "n\n1\n"), "--as", "shop/b")
	e.must(t, "keys", "create", "--name", "ci", "--scope", "plants:write")
	intact := filepath.Join(t.TempDir(), "intact") + "/"
	e.must(t, "backup", intact)
	damageVersion(t, filepath.Join(intact, "segments"), liveVersion(t, e, "shop/b"))
	damageVersion(t, filepath.Join(e["HERBARIUM_DATA"], "versions"), liveVersion(t, e, "shop/b"))
	to, archive := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "b.tar")
	const rest = "0 plants, 1 key, 1 dataset with 1 version"
	for _, tt := range []struct {
		args      []string
		out, json string
	}{
		{[]string{"migrate", "--from", e["HERBARIUM_DATA"], "--to", to}, "migrated " + rest, ""},
		{[]string{"migrate", "--from", e["HERBARIUM_DATA"], "--to", to, "--check"},
			"equal, except for what cannot be read: " + rest, ""},
		{[]string{"backup", archive}, "backed up " + rest, "--json"},
		{[]string{"restore", intact, "--check"}, "the backup is damaged; it can be restored in part: " +
			rest, "--json"},
		{[]string{"restore", intact, "--data", filepath.Join(t.TempDir(), "restored")}, "restored " + rest, ""},
	} {
		code, out, errOut := e.run(t, tt.args...)
		if code != 1 || !strings.Contains(out, tt.out) ||
			!strings.Contains(errOut, "herbarium: shop/b is left out, because its live version ") {
			t.Errorf("%v: exit code %d\n%s%s", tt.args, code, out, errOut)
		}
		if tt.json == "" {
			continue
		}
		code, out, _ = e.run(t, append(tt.args, tt.json)...)
		var printed struct{ Skipped []map[string]string }
		must.NoError(t, json.Unmarshal([]byte(out), &printed))
		if code != 1 || len(printed.Skipped) != 1 || printed.Skipped[0]["dataset"] != "shop/b" ||
			printed.Skipped[0]["omitted"] != "dataset" ||
			printed.Skipped[0]["reason"] == "" || printed.Skipped[0]["version"] == "" {
			t.Errorf("%v: exit code %d\n%s", tt.args, code, out)
		}
	}
	e.prints(t, "the backup is complete: "+rest, "restore", "--check", archive)
}

// liveVersion returns the name of the live version of a dataset.
func liveVersion(t *testing.T, e environment, ref string) string {
	t.Helper()
	for line := range strings.Lines(e.must(t, "datasets", "list", "--json")) {
		var d struct{ Dataset, Namespace, Name, Version string }
		must.NoError(t, json.Unmarshal([]byte(line), &d))
		if d.Dataset == ref || d.Namespace+"/"+d.Name == ref {
			return d.Version
		}
	}
	t.Fatalf("there is no dataset %s", ref)
	return ""
}

// damageVersion truncates the file of a version.
func damageVersion(t *testing.T, folder, version string) {
	t.Helper()
	must.NoError(t, os.Truncate(filepath.Join(folder, version+".segment"), 100))
}
