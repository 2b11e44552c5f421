package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestBackupAndRestore(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	e.must(t, "publish", garden)
	e.must(t, "keys", "create", "--name", "ci", "--scope", "plants:write")
	from, file, folder := e["HERBARIUM_DATA"], filepath.Join(t.TempDir(), "backup.tar"), filepath.Join(t.TempDir(), "new", "backup")+"/"
	for _, backup := range []string{file, folder} {
		if out := e.must(t, "backup", backup); !strings.Contains(out, "backed up 0 plants, 1 key, ") {
			t.Errorf("backup prints\n%s", out)
		}
		if out := e.must(t, "restore", "--check", backup); !strings.Contains(out, "the backup is complete: 0 plants, 1 key, ") {
			t.Errorf("restore --check prints\n%s", out)
		}
		to := filepath.Join(t.TempDir(), "data")
		if out := e.must(t, "restore", backup, "--data", to); !strings.Contains(out, "restored 0 plants, 1 key, ") {
			t.Errorf("restore prints\n%s", out)
		}
		e.must(t, "migrate", "--check", "--from", from, "--to", to)
		code, _, errOut := e.run(t, "restore", backup, "--data", to)
		if code != 3 || !strings.Contains(errOut, "has data; restore into another folder, or replace it with --replace") {
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
	if err := json.Unmarshal([]byte(e.must(t, "restore", "--check", "--json", file)), &printed); err != nil {
		t.Fatal(err)
	}
	if printed.Path != file || printed.Keys != 1 || printed.Bytes == 0 || printed.Audit != 2 {
		t.Errorf("restore --json prints %+v", printed)
	}
	code, archive, errOut := e.run(t, "backup", "-")
	if code != 0 || !strings.Contains(errOut, "backed up 0 plants, 1 key, ") {
		t.Errorf("backup -: the exit code is %d; it prints\n%s", code, errOut)
	}
	streamed := filepath.Join(t.TempDir(), "streamed.tar")
	if err := os.WriteFile(streamed, []byte(archive), 0o600); err != nil {
		t.Fatal(err)
	}
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
		{"no data", []string{"backup", filepath.Join(dir, "x.tar"), "--data", filepath.Join(dir, "missing")}, 1, "is not a data folder"},
		{"no backup", []string{"restore", filepath.Join(dir, "missing.tar"), "--data", dir}, 1, "missing.tar: no such file or directory"},
		{"another file", []string{"restore", "--check", garden}, 1, "backup.ndjson: no such file or directory"},
		{"empty input", []string{"restore", "-", "--data", dir}, 1, "backup.ndjson is missing"},
		{"replaced database", []string{"restore", "x", "--replace", "--database", "postgres://x/x", "--blobs", "file:///x"}, 2, "--replace is for a data folder"},
	} {
		code, _, errOut := e.run(t, tt.args...)
		if code != tt.code || !strings.Contains(errOut, tt.want) {
			t.Errorf("%s: the exit code is %d, want %d; it prints\n%swithout %q", tt.name, code, tt.code, errOut, tt.want)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
}
