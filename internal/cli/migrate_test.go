package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMigrate(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	e.must(t, "publish", garden)
	e.must(t, "keys", "create", "--name", "ci", "--scope", "plants:write")
	from, to := e["HERBARIUM_DATA"], filepath.Join(t.TempDir(), "new", "data")
	out := e.must(t, "migrate", "--from", from, "--to", to)
	for _, want := range []string{"migrated 0 plants, 1 key, ", "new: 0 plants, 1 key, ", "hash of source and target: sha256:"} {
		if !strings.Contains(out, want) {
			t.Errorf("it says\n%swithout %q", out, want)
		}
	}
	if out := e.must(t, "migrate", "--from", from, "--to", to); !strings.Contains(out, "new: 0 plants, 0 keys, 0 files") {
		t.Errorf("the second time it says\n%s", out)
	}
	if out := e.must(t, "migrate", "--from", from, "--to", to, "--check"); !strings.Contains(out, "source and target are equal: 0 plants, 1 key,") {
		t.Errorf("comparing says\n%s", out)
	}
	e.must(t, "keys", "create", "--name", "alien", "--scope", "data:read", "--data", to)
	for _, flags := range [][]string{nil, {"--check"}} {
		code, _, errOut := e.run(t, append([]string{"migrate", "--from", from, "--to", to}, flags...)...)
		if code != 3 || !strings.Contains(errOut, "(alien) is in the target but not in the source") {
			t.Errorf("with %v the exit code is %d and it says\n%s", flags, code, errOut)
		}
	}
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
		{"blobs without a database", []string{"--from", "a", "--to", "b", "--blobs", files}, 2, "both places are folders"},
		{"blobs of a folder", []string{"--from", "a", "--to", "b", "--from-blobs", files}, 2, "is a data folder"},
		{"database without blobs", []string{"--from", "a", "--to", database}, 2, "add --blobs"},
		{"whose blobs", []string{"--from", database + "1", "--to", database, "--blobs", files}, 2, "--from-blobs and --to-blobs"},
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
