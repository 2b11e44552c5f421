package cli_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestPublish_exclude leaves out a total by a rule of a descriptor, and in the next file without a
// descriptor, by the command and over HTTP. Readers do not see the rule.
func TestPublish_exclude(t *testing.T) {
	t.Parallel()
	here := newEnvironment(t)
	local := here.serve(t)
	remote, there := publishTo(t, "shop")
	for name, way := range map[string]struct {
		environment
		*server
		args []string
	}{"command": {here, local, nil}, "--to": {there, remote, []string{"--to", remote.url}}} {
		publish := func(path string, args ...string) (int, string) {
			code, out, errOut := way.run(t, append(append([]string{"publish", path, "--as", "shop/sales"}, args...),
				way.args...)...)
			return code, out + errOut
		}
		file := write(t, "shop/sales.csv", "name,sold\nAda,3\nBob,4\nCy,5\nTotal,12\n")
		descriptor := filepath.Join(filepath.Dir(file), "datapackage.json")
		rule := func(rule string) {
			put(t, descriptor, `{"name":"shop","resources":[{"name":"sales","path":"sales.csv","herbarium":{"exclude":`+
				rule+`}}]}`)
		}
		rule(`{"nmae":["Total"]}`)
		if code, out := publish(descriptor); code == 0 ||
			!strings.Contains(out, `exclude: no such column "nmae"; did you mean "name"? columns: name, sold`) {
			t.Errorf("%s, an unknown column: exit code %d\n%s", name, code, out)
		}
		rule(`{"name":["Total","Sum"]}`)
		code, out := publish(descriptor)
		for _, want := range []string{"3 records", `1 row left out by exclude: name is "Total"`,
			`exclude leaves out no row: no row has "Sum" in name`} {
			if code != 0 || !strings.Contains(out, want) {
				t.Errorf("%s: exit code %d, no %q in\n%s", name, code, want, out)
			}
		}
		put(t, file, "name,sold\nAda,3\nBob,4\nCy,5\nDee,8\nTotal,20\n")
		next := write(t, "next/sales.csv", "name,sold\nAda,3\nBob,4\nCy,5\nDee,8\nTotal,20\n")
		if code, out := publish(next); code != 0 || !strings.Contains(out, "4 records") ||
			!strings.Contains(out, `1 row left out by exclude: name is "Total"`) {
			t.Errorf("%s, the next file: exit code %d\n%s", name, code, out)
		}
		for _, path := range []string{"/data", "", "/versions", "/descriptor"} {
			if _, body := way.get(t, "/api/v1/shop/sales"+path); strings.Contains(body, "Total") ||
				strings.Contains(body, "exclu") && path != "" {
				t.Errorf("%s: %s shows the rule: %s", name, path, body)
			}
		}
		rule(`{"name":["Sum"]}`)
		if code, out := publish(descriptor); code != 3 ||
			!strings.Contains(out, `rows become public that the live version leaves out by the values of column "name"`) {
			t.Errorf("%s, another rule: exit code %d\n%s", name, code, out)
		}
	}
}
