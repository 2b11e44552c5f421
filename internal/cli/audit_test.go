package cli_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/must"
)

// TestAudit checks that changes of keys and datasets are listed with their actor, origin and
// result, and without values.
func TestAudit(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	e.must(t, "publish", write(t, "a.csv", "x,y\n1,2\n"), "--as", "shop/prices")
	secret := strings.TrimSpace(e.must(t, "keys", "create", "--name", "ci", "--scope", "data:read"))
	e.must(t, "keys", "revoke", "ci")
	e.must(t, "publish", write(t, "a.csv", "x,y\n1,3\n"), "--as", "shop/prices")
	if code, _, _ := e.run(t, "publish", write(t, "a.csv", "x\nhush\n"), "--as", "shop/prices"); code != 3 {
		t.Errorf("a breaking change: exit code %d", code)
	}
	e.run(t, "publish", write(t, "a.csv", "x,y\n1,9\n"), "--as", "shop/prices", "--check")
	e.must(t, "datasets", "rollback", "shop/prices")
	e.run(t, "datasets", "rollback", "shop/prices", "--version", "nothing")
	e.must(t, "datasets", "remove", "shop/prices", "--yes")
	e.must(t, "backup", filepath.Join(t.TempDir(), "backup.tar"))

	var got []string
	out := e.must(t, "audit", "--json")
	for line := range strings.Lines(out) {
		var entry herb.AuditEntry
		must.NoError(t, json.Unmarshal([]byte(line), &entry))
		if entry.Actor == "" || entry.Actor == "unknown" || !strings.HasSuffix(entry.Origin, "command line") ||
			entry.Time.IsZero() {
			t.Errorf("actor, origin or time is missing in %s", line)
		}
		got = append(got, string(entry.Action)+" "+string(entry.Result))
	}
	want := "dataset.publish ok, key.create ok, key.revoke ok, dataset.publish ok, dataset.publish rejected, " +
		"dataset.rollback ok, dataset.rollback failed, dataset.remove ok, backup.create ok"
	if strings.Join(got, ", ") != want {
		t.Errorf("got %s\nwant %s", strings.Join(got, ", "), want)
	}
	if strings.Contains(out, secret) || strings.Contains(out, "hush") {
		t.Errorf("a secret or a value is in\n%s", out)
	}
	table := e.must(t, "audit", "--dataset", "shop/prices", "--limit", "2", "--since", "1h")
	if n := strings.Count(table, "\n"); n != 3 || !strings.HasPrefix(table, "TIME ") ||
		!strings.Contains(table, "dataset.remove") {
		t.Errorf("got\n%s", table)
	}
	for _, args := range [][]string{{"--since", "yesterday"}, {"--dataset", "prices"}, {"--limit", "-1"}, {"more"}} {
		if code, _, errOut := e.run(t, append([]string{"audit"}, args...)...); code != 2 {
			t.Errorf("%v: exit code %d\n%s", args, code, errOut)
		}
	}
}

// TestAudit_server checks that what a server publishes from its files is recorded as such.
func TestAudit_server(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	file := write(t, "prices.csv", "x\n1\n")
	e.serve(t, file)
	out := e.must(t, "audit", "--json")
	var entry herb.AuditEntry
	if err := json.Unmarshal([]byte(out), &entry); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if entry.Actor != "server" || entry.Origin != file || entry.Action != herb.AuditPublished {
		t.Errorf("got %s", out)
	}
}
