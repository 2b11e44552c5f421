package cli_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // opens the database as another program would

	"herbarium/internal/cli"
	"herbarium/internal/must"
)

// examine runs herbarium doctor and returns its exit code and the findings by check, each as
// "status detail; remedy".
func (e environment) examine(t *testing.T, args ...string) (code int, found map[string]string) {
	t.Helper()
	code, out, _ := e.run(t, append([]string{"doctor", "--json"}, args...)...)
	found = map[string]string{}
	for line := range strings.Lines(out) {
		var f struct{ Status, Check, Detail, Remedy string }
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		if (f.Status == "ok") != (f.Remedy == "") {
			t.Errorf("a finding says what to do only if something must be done: %s", line)
		}
		found[f.Check] += f.Status + " " + f.Detail + "; " + f.Remedy + "\n"
	}
	return code, found
}

// failingOnce is a writer whose first write fails.
type failingOnce struct{ failed bool }

// Write implements io.Writer.
func (w *failingOnce) Write(p []byte) (int, error) {
	if !w.failed {
		w.failed = true
		return 0, errors.New("broken pipe")
	}
	return len(p), nil
}

// TestDoctor_output checks that a finding that cannot be printed is an error, even if later ones
// can.
func TestDoctor_output(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	e.must(t, "publish", write(t, "a.csv", "x\n1\n"), "--as", "shop/a")
	for _, args := range [][]string{{"doctor"}, {"doctor", "--json"}} {
		var errOut strings.Builder
		code := cli.Run(t.Context(), args, cli.Terminal{Out: &failingOnce{}, Err: &errOut, Env: e.lookup})
		if code != 1 || !strings.Contains(errOut.String(), "broken pipe") {
			t.Errorf("%v: exit code %d\n%s", args, code, errOut.String())
		}
	}
}

func TestDoctor(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	e.must(t, "publish", write(t, "a.csv", "x\n1\n"), "--as", "shop/a")
	check := func(t *testing.T, code int, found map[string]string, check, want string) {
		t.Helper()
		if !strings.Contains(found[check], want) {
			t.Errorf("%s: got %swant %q", check, found[check], want)
		}
		if failed := strings.Contains(strings.Join(values(found), ""), "fail "); (code == 1) != failed || code > 1 {
			t.Errorf("exit code %d for %v", code, found)
		}
	}
	code, found := e.examine(t)
	for name, want := range map[string]string{
		"settings": "ok ", "data folder": "ok ", "database": "ok SQLite, intact, schema version",
		"catalogue":       "ok 1 published dataset",
		"published files": "ok 1 live version ", "object store": "ok not used", "address": "ok ", "clock": "ok ",
		"version": "ok herbarium ",
	} {
		check(t, code, found, name, want)
	}
	e.prints(t, "ok   database         SQLite", "doctor")
	folder := e["HERBARIUM_DATA"]
	if left, err := filepath.Glob(filepath.Join(folder, "doctor-*")); err != nil || len(left) > 0 {
		t.Errorf("probes are left: %v, error %v", left, err)
	}

	code, found = e.examine(t, "--keep", "1", "--admin-addr", "0.0.0.0:0", "--public-url", "http://example.org")
	for _, want := range []string{"warn admin_addr", "warn keep", "warn public_url"} {
		check(t, code, found, "settings", want)
	}
	must.NoError(t, os.Chmod(folder, 0o755))
	code, found = e.examine(t)
	check(t, code, found, "data folder", "warn "+folder+" has mode 0755")
	must.NoError(t, os.Chmod(folder, 0o700))

	segments, err := filepath.Glob(filepath.Join(folder, "versions", "*.segment"))
	if err != nil || len(segments) != 1 {
		t.Fatalf("found %v, error %v", segments, err)
	}
	intact, err := os.ReadFile(segments[0])
	must.NoError(t, err)
	must.NoError(t, os.WriteFile(segments[0], intact[:len(intact)-1], 0o600))
	code, found = e.examine(t)
	check(t, code, found, "published files", "fail 1 of 1 live versions cannot be opened: shop/a: ")
	flipped := slices.Clone(intact)
	flipped[len(flipped)/2] ^= 1
	must.NoError(t, os.WriteFile(segments[0], flipped, 0o600))
	code, found = e.examine(t)
	check(t, code, found, "published files", "; publish the files of these datasets, also if they have not changed")
	must.NoError(t, os.Remove(segments[0]))
	code, found = e.examine(t)
	check(t, code, found, "published files", "fail 1 of 1 live versions cannot be opened: shop/a: ")

	db, err := sql.Open("sqlite", filepath.Join(folder, "herbarium.db"))
	must.NoError(t, err)
	defer db.Close()
	for _, c := range []struct{ statement, status string }{
		{"UPDATE schema_version SET version = 0", "warn SQLite with schema version 0"},
		{"UPDATE schema_version SET version = 999, needs = 999", "fail the database has schema version 999"},
	} {
		if _, err := db.ExecContext(t.Context(), c.statement); err != nil {
			t.Fatal(err)
		}
		code, found = e.examine(t)
		check(t, code, found, "database", c.status)
	}
}

// TestDoctor_damagedDatabase overwrites the middle of the database.
func TestDoctor_damagedDatabase(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	e.must(t, "publish", write(t, "a.csv", "x\n1\n"), "--as", "shop/a")
	path := filepath.Join(e["HERBARIUM_DATA"], "herbarium.db")
	content, err := os.ReadFile(path)
	must.NoError(t, err)
	for i := len(content) / 4; i < len(content); i++ {
		content[i] = 0xA5
	}
	must.NoError(t, os.WriteFile(path, content, 0o600))
	if code, found := e.examine(t); code != 1 || !strings.HasPrefix(found["database"], "fail ") {
		t.Errorf("exit code %d, found %v", code, found)
	}
}

// TestDoctor_address checks addresses that are in use by a server and by another program.
func TestDoctor_address(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	s := e.serve(t)
	addr := strings.TrimPrefix(s.url, "http://")
	if code, found := e.examine(t, "--addr", addr); code != 0 ||
		!strings.HasPrefix(found["address"], "ok a server is running on "+addr) {
		t.Errorf("exit code %d, found %v", code, found)
	}
	other, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	must.NoError(t, err)
	defer other.Close()
	go func() { // it closes every connection
		for {
			c, err := other.Accept()
			if err != nil {
				return
			}
			c.Close()
		}
	}()
	taken := other.Addr().String()
	code, found := e.examine(t, "--addr", taken, "--admin-addr", taken)
	for _, check := range []string{"address", "admin address"} {
		if code != 1 || !strings.HasPrefix(found[check], "fail "+taken+" is in use by another program") {
			t.Errorf("exit code %d, found %v", code, found)
		}
	}
}

func values(m map[string]string) (all []string) {
	for _, v := range m {
		all = append(all, v)
	}
	return all
}
