package cli_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"herbarium/internal/must"
)

// TestWebhooks adds, tests, lists and removes webhooks, and lists their deliveries. No output but
// that of add has a secret.
func TestWebhooks(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	status := http.StatusOK
	endpoint := httptest.NewServer(
		http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
	t.Cleanup(endpoint.Close)
	e.must(t, "publish", write(t, "a.csv", "x,y\n1,2\n"), "--as", "shop/prices")
	e.must(t, "publish", write(t, "b.csv", "x\n1\n"), "--as", "shop/staff", "--access", "key")
	url := endpoint.URL + "/hook?token=hush"
	e.fails(t, 2, "--dataset is required", "webhooks", "add", url)
	e.fails(t, 2, "does not name datasets", "webhooks", "add", url, "--dataset", "shop")
	e.fails(t, 2, "must begin with https://; --allow-private permits it", "webhooks", "add", url, "--dataset", "*")
	e.fails(t, 2, "the address 127.0.0.1 is not public; --allow-private permits it", "webhooks", "add",
		"https://127.0.0.1/", "--dataset", "*")
	e.fails(t, 2, "shop/staff requires a key; add --protected", "webhooks", "add", url, "--dataset",
		"shop/*,shop/staff", "--allow-private")
	e.fails(t, 1, "no such webhook", "webhooks", "remove", "none")
	e.must(t, "webhooks", "deliveries")

	var added struct{ Secret, ID string }
	must.NoError(t, json.Unmarshal(
		[]byte(e.must(t, "webhooks", "add", url, "--dataset", "shop/*", "--allow-private", "--json")), &added))
	secret := strings.TrimSpace(e.must(t, "webhooks", "add", url, "--dataset", "shop/staff", "--protected",
		"--allow-private"))
	if len(added.ID) != 10 || !strings.HasPrefix(added.Secret, "whsec_") || !strings.HasPrefix(secret, "whsec_") ||
		secret == added.Secret {
		t.Errorf("added %+v, %s", added, secret)
	}
	e.prints(t, "delivered: status 200", "webhooks", "test", added.ID)
	status = http.StatusTeapot
	e.fails(t, 1, "not delivered: status 418", "webhooks", "test", added.ID)

	e.must(t, "publish", write(t, "a.csv", "x,y\n1,2\n3,4\n"), "--as", "shop/prices")
	e.fails(t, 3, "", "publish", write(t, "a.csv", "x\n1\n"), "--as", "shop/prices")
	e.must(t, "publish", write(t, "a.csv", "x\n1\n"), "--as", "shop/prices", "--check", "--allow-breaking")
	e.fails(t, 1, "", "publish", write(t, "a.csv", "x,y\n1,2,3\n"), "--as", "shop/prices")
	e.must(t, "publish", write(t, "b.csv", "x\n2\n"), "--as", "shop/staff")
	e.must(t, "datasets", "rollback", "shop/prices")
	e.must(t, "datasets", "remove", "shop/prices", "--yes")
	var types []string
	for line := range strings.Lines(e.must(t, "webhooks", "deliveries", added.ID, "--json")) {
		var d struct{ Type, State string }
		must.NoError(t, json.Unmarshal([]byte(line), &d))
		types = append(types, d.Type+" "+d.State)
	}
	if got := strings.Join(types,
		", "); got != "dataset.published pending, dataset.rejected pending, dataset.failed pending, "+
		"dataset.rolled_back pending, dataset.removed pending" {
		t.Errorf("deliveries: %s", got)
	}
	if table := e.must(t, "webhooks", "deliveries"); strings.Count(table, "\n") != 7 ||
		!strings.HasPrefix(table, "TIME ") {
		t.Errorf("deliveries:\n%s", table)
	}
	e.prints(t, "5 events will be sent", "webhooks", "resend", added.ID)
	e.fails(t, 1, "no such event", "webhooks", "resend", added.ID, "--event", "msg_none")
	e.fails(t, 2, "invalid --limit", "webhooks", "deliveries", "--limit", "0")
	archive, target := filepath.Join(t.TempDir(), "backup.tar"), filepath.Join(t.TempDir(), "data")
	for where, args := range map[string][]string{
		"not in the backup": {"backup", archive}, "not copied": {"migrate", "--from", e["HERBARIUM_DATA"],
			"--to", target},
	} {
		if _, _, errOut := e.run(t, args...); !strings.Contains(errOut, where+": 2 webhooks; add webhooks again") {
			t.Errorf("%v prints\n%s", args, errOut)
		}
	}
	if _, out, errOut := e.run(t, "restore", "--check", archive, "--json"); !strings.Contains(out,
		`"left_out":{"webhooks":2}`) || !strings.Contains(errOut, "2 webhooks") {
		t.Errorf("restore --check prints\n%s%s", out, errOut)
	}
	e.must(t, "webhooks", "remove", added.ID)
	for _, args := range [][]string{{"webhooks", "list"}, {"webhooks", "list", "--json"},
		{"webhooks", "deliveries", "--json"}, {"audit"}} {
		out := e.must(t, args...)
		if strings.Contains(out, "hush") || strings.Contains(out, "whsec_") ||
			strings.Contains(out, strings.TrimPrefix(secret, "whsec_")) {
			t.Errorf("%v prints a secret:\n%s", args, out)
		}
	}
	e.prints(t, "shop/staff", "webhooks", "list")
	e.prints(t, "datasets shop/*, protected false", "audit")
	if list := e.must(t, "webhooks", "list"); strings.Contains(list, added.ID) {
		t.Errorf("a removed webhook is listed:\n%s", list)
	}
}
