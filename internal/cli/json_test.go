package cli_test

import (
	"encoding/json"
	"strings"
	"testing"

	"herbarium/internal/access"
	"herbarium/internal/app"
)

// TestJSON checks that --json prints objects, one per line, with the documented members.
func TestJSON(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	e.must(t, "publish", write(t, "prices.csv", "x\n1\n"), "--as", "shop/prices")
	e.must(t, "publish", write(t, "prices.csv", "x\n2\n"), "--as", "shop/prices")
	version := strings.Fields(strings.Split(e.must(t, "datasets", "history", "shop/prices"), "\n")[2])[0]
	for _, c := range []struct {
		line  string
		lines int
		want  []string // members of the first object
	}{
		{"version", 1, []string{"version", "go", "os", "arch"}},
		{"config", len(new(app.DefaultConfig()).Settings()) + 1, []string{"key", "value", "origin"}},
		{"datasets", 2, []string{"namespace", "name", "records", "version", "fields"}},
		{"datasets list", 2, []string{"namespace", "name", "records", "version", "fields"}},
		{"datasets show shop/prices", 1, []string{"namespace", "name", "records", "version", "fields"}},
		{"datasets history shop/prices", 2, []string{"version", "published_at", "records", "live"}},
		{"datasets diff shop/prices " + version, 3, []string{"from", "to", "added", "removed", "changed", "fields"}},
		{"explain shop/prices x=2", 1, []string{"total", "steps"}},
		{"datasets rollback shop/prices", 1, []string{"namespace", "name", "version"}},
		{"keys create --name ci --scope data:read --expires 30d", 1,
			[]string{"key", "id", "name", "scopes", "expires"}},
		{"keys list", 1, []string{"id", "name", "status", "scopes"}},
		{"audit", 4, []string{"time", "action", "subject", "result"}},
		{"datasets remove shop/prices --yes", 1, []string{"namespace", "name", "removed"}},
	} {
		out := e.must(t, append(strings.Fields(c.line), "--json")...)
		lines := strings.Split(strings.TrimSpace(out), "\n")
		if len(lines) != c.lines {
			t.Errorf("%s --json prints %d lines, want %d\n%s", c.line, len(lines), c.lines, out)
		}
		for i, line := range lines {
			var object map[string]any
			if err := json.Unmarshal([]byte(line), &object); err != nil {
				t.Errorf("%s --json: %v in %s", c.line, err, line)
			}
			for _, name := range c.want {
				if _, ok := object[name]; !ok && i == 0 {
					t.Errorf("%s --json has no member %s: %s", c.line, name, line)
				}
			}
			if secret, _ := object["key"].(string); strings.HasPrefix(c.line, "keys create") {
				if id, ok := access.ID(secret); !ok || id != object["id"] {
					t.Errorf("the key %q is not valid: %s", secret, line)
				}
			}
		}
	}
}
