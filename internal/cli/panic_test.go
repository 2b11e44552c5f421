package cli_test

import (
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestServe_virtualTables serves a database that has nothing but a virtual table, which no reader of tables expects.
func TestServe_virtualTables(t *testing.T) {
	t.Parallel()
	shell, err := exec.LookPath("sqlite3")
	if err != nil {
		t.Skip("needs the sqlite3 shell")
	}
	e := newEnvironment(t)
	good := write(t, "shop/prices.csv", "code,price\n1,2\n")
	folder := filepath.Dir(good)
	for _, sql := range []string{"CREATE VIRTUAL TABLE r USING rtree(id, a, b)", "PRAGMA writable_schema = on; DELETE FROM sqlite_schema WHERE name <> 'r'"} {
		if out, err := exec.Command(shell, filepath.Join(folder, "virtual.db"), sql).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	if code, _, told := e.run(t, "publish", filepath.Join(folder, "virtual.db")); code != 1 || !strings.Contains(told, "shop/virtual: ") {
		t.Errorf("publish: exit code %d\n%s", code, told)
	}
	s := e.serve(t, "--watch", folder)
	if status, body := s.get(t, "/api/v1/shop/prices/data"); status != http.StatusOK {
		t.Errorf("%d %s", status, body)
	}
	if !strings.Contains(s.log.String(), "not published") {
		t.Errorf("the log does not say that the database was rejected:\n%s", s.log)
	}
}
