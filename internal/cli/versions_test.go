package cli_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// TestDatasetsLabel names and deletes versions of this machine and of a server.
func TestDatasetsLabel(t *testing.T) {
	t.Parallel()
	b := newBoth(t)
	file := filepath.Join(t.TempDir(), "prices.csv")
	for i, content := range []string{"x\n1\n2\n", "x\n1\n3\n4\n", "x\n1\n3\n4\n5\n"} {
		rewrite(t, file, content)
		args := []string{"--as", "shop/prices", "--message", []string{"Spring", "Summer prices", ""}[i]}
		if code, output := b.publish(t, content, file, args...); code != 0 {
			t.Fatal(output)
		}
	}
	for _, side := range []struct {
		name    string
		e       environment
		server  []string
		running *server
	}{{"local", b.here, nil, b.local}, {"remote", b.there, []string{"--to", b.server.url}, b.server}} {
		history := func() (lines []string) {
			out := side.e.must(t, append([]string{"datasets", "versions", "shop/prices"}, side.server...)...)
			return strings.Split(strings.TrimSpace(out), "\n")[1:]
		}
		if out := side.e.must(t, append([]string{"datasets", "versions", "shop/prices"},
			side.server...)...); !strings.Contains(out, "API CHANGES  RECORD CHANGES") {
			t.Errorf("%s: the head of the history is %q", side.name, out)
		}
		var names []string
		lines := history()
		if !strings.Contains(lines[0], "+1 -0 ~0") || !strings.Contains(lines[1], "+2 -1 ~0") ||
			!strings.Contains(lines[1], "Summer") {
			t.Errorf("%s: the history is %q", side.name, lines)
		}
		for _, line := range lines {
			names = append(names, strings.Fields(line)[0])
		}
		named := strings.NewReplacer("LIVE", names[0], "SECOND", names[1], "FIRST", names[2])
		for _, step := range []struct {
			line, want string
			code       int
		}{
			{"label shop/prices FIRST 2026-Q1", "shop/prices: version FIRST has the label 2026-Q1\n", 0},
			{"label shop/prices 2026-Q1 final", "shop/prices: version FIRST has the label final\n", 0},
			{"label shop/prices SECOND final", "version FIRST of shop/prices has the label", 3},
			{"label shop/prices SECOND a/b", "is not a label", 2},
			{"label shop/prices SECOND", "expected one namespace/dataset, a version and a label", 2},
			{"label shop/prices SECOND x --json",
				`{"namespace":"shop","name":"prices","version":"SECOND","label":"x"}` + "\n", 0},
			{"label shop/prices SECOND x --remove --json",
				`{"namespace":"shop","name":"prices","version":"SECOND","label":"x","removed":true}` + "\n", 0},
			{"label shop/prices FIRST final --remove", "shop/prices: version FIRST does not have the label final\n", 0},
			{"label shop/prices nosuch y", `no version or label "nosuch"`, 1},
			{"label shop/none x y", "no such dataset", 1},
			{"diff shop/prices 2026-Q1", "shop/prices: FIRST → LIVE", 0},
			{"purge shop/prices SECOND", "add --yes", 2},
			{"purge shop/prices LIVE --yes", "is live", 3},
			{"purge shop/prices 2026-Q1 --yes", "a label cannot be withdrawn", 1},
			{"purge shop/prices SECOND --yes", "shop/prices: version SECOND was withdrawn\n", 0},
			{"purge shop/prices SECOND --yes --json",
				`{"namespace":"shop","name":"prices","version":"SECOND","withdrawn":true}` + "\n", 0},
			{"purge shop/none SECOND --yes", "no such dataset", 1},
			{"diff shop/prices SECOND", "was withdrawn on", 1},
		} {
			code, out, errOut := side.e.run(t, append(strings.Fields("datasets "+named.Replace(step.line)),
				side.server...)...)
			if want := named.Replace(step.want); code != step.code || code == 0 && !strings.HasPrefix(out, want) ||
				code != 0 && !strings.Contains(errOut, want) {
				t.Errorf("%s: %s: %d %s%s, want %d %s", side.name, step.line, code, out, errOut, step.code, step.want)
			}
		}
		lines = history()
		if len(lines) != 3 || strings.Contains(lines[0], "+1 -0") || !strings.Contains(lines[1], "2026-Q1") ||
			!strings.HasSuffix(strings.TrimSpace(lines[1]), "Spring") ||
			!strings.HasPrefix(lines[2], names[1]+" was withdrawn on 2") {
			t.Errorf("%s: the history is %q", side.name, lines)
		}
		objects := strings.Split(
			strings.TrimSpace(side.e.must(t, append([]string{"datasets", "history", "shop/prices", "--json"},
				side.server...)...)), "\n")
		var withdrawn struct{ Version, Withdrawn_at string }
		if err := json.Unmarshal([]byte(objects[2]), &withdrawn); err != nil || len(objects) != 3 ||
			withdrawn.Version != names[1] || withdrawn.Withdrawn_at == "" {
			t.Errorf("%s: --json prints %s, %v", side.name, objects, err)
		}
		if status, body := side.running.get(t, "/api/v1/shop/prices/data?_version=2026-Q1"); status != 200 ||
			!strings.Contains(body, `"total":2`) {
			t.Errorf("%s: the labeled version: %d %s", side.name, status, body)
		}
	}
	if code, _, errOut := b.here.run(t, "publish", file, "--message", "two\nlines"); code != 2 ||
		!strings.Contains(errOut, "control characters") {
		t.Errorf("a message of two lines: %d %s", code, errOut)
	}
}

// TestPublish_keep keeps as many versions as the descriptor or the settings say, also when files
// without a descriptor follow.
func TestPublish_keep(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		descriptor, keepFor string
		want                int
	}{{`"keep": 2`, "0", 2}, {`"keep_for": "1h"`, "0", 4}, {`"access": "open"`, "0", 1}, {`"keep_for": 0`, "1h", 1},
		{`"access": "open"`, "1h", 4}} {
		e := newEnvironment(t)
		e["HERBARIUM_KEEP"], e["HERBARIUM_KEEP_FOR"] = "1", tt.keepFor
		folder := filepath.Dir(write(t, "datapackage.json",
			`{"name": "shop", "resources": [{"name": "prices", "path": "prices.csv", "herbarium": {`+
				tt.descriptor+`}}]}`))
		file := filepath.Join(folder, "prices.csv")
		rewrite(t, file, "x\n1\n2\n")
		e.must(t, "publish", filepath.Join(folder, "datapackage.json"))
		for _, content := range []string{"x\n2\n3\n", "x\n3\n4\n", "x\n4\n5\n"} {
			e.must(t, "publish", write(t, "next.csv", content), "--as", "shop/prices")
		}
		if lines := strings.Count(e.must(t, "datasets", "history", "shop/prices"), "\n") - 1; lines != tt.want {
			t.Errorf("%s and keep_for %s: %d versions are kept, want %d", tt.descriptor, tt.keepFor, lines, tt.want)
		}
	}
}
