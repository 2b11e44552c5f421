package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"herbarium/internal/must"
)

// hidingStaff is a descriptor that exposes two columns of staff.csv, and the rows of one status.
const hidingStaff = `{"name":"hr","resources":[{"name":"staff","path":"staff.csv","herbarium":{"include":{"status":["public"]}},
	"schema":{"fields":[{"name":"name"},{"name":"status"}]}}]}`

// TestPublish_hidden publishes a file elsewhere, without the descriptor of the live version, by the
// command and over HTTP: what was hidden stays hidden, and another descriptor needs consent.
func TestPublish_hidden(t *testing.T) {
	t.Parallel()
	here := newEnvironment(t)
	local := here.serve(t)
	remote, there := publishTo(t, "hr")
	for name, way := range map[string]struct {
		environment
		*server
		args []string
	}{"command": {here, local, nil}, "--to": {there, remote, []string{"--to", remote.url}}} {
		publish := func(path string, args ...string) (int, string) {
			code, out, errOut := way.run(t, append(append([]string{"publish", path, "--as", "hr/staff"}, args...),
				way.args...)...)
			return code, out + errOut
		}
		listing := func() string {
			_, body := way.get(t, "/api/v1/hr/staff/data")
			return body
		}
		file := write(t, "hr/staff.csv", "name,phone,status\nAda,canary-1,public\nBob,canary-2,draft\n")
		descriptor := filepath.Join(filepath.Dir(file), "datapackage.json")
		put(t, descriptor, hidingStaff)
		if code, out := publish(descriptor); code != 0 {
			t.Fatalf("%s: %s", name, out)
		}
		elsewhere := write(t, "other/staff.csv",
			"name,phone,status\nAda,canary-1,public\nBob,canary-2,draft\nCy,canary-3,public\n")
		code, out := publish(elsewhere)
		if got := listing(); code != 0 ||
			!strings.Contains(out, "settings of the live version were kept; publish the file with a descriptor") ||
			!strings.Contains(got, "Cy") || strings.Contains(got, "canary") || strings.Contains(got, "Bob") {
			t.Errorf("%s without a descriptor: exit code %d\n%s\n%s", name, code, out, got)
		}
		put(t, descriptor, strings.Replace(hidingStaff, `{"name":"name"}`, `{"name":"name"},{"name":"phone"}`, 1))
		for _, args := range [][]string{nil, {"--allow-breaking", "--force"}} {
			code, out = publish(descriptor, args...)
			if code != 3 || !strings.Contains(out, `column "phone", which the live version hides, becomes public`) ||
				!strings.Contains(out, "use --allow-exposure\n") ||
				strings.Contains(listing(), "canary") {
				t.Errorf("%s %v: exit code %d\n%s", name, args, code, out)
			}
		}
		code, out = publish(descriptor, "--json")
		if code != 3 || !strings.Contains(out, `"requires":["allow_exposure"]`) ||
			!strings.Contains(out, `"kind":"column_exposed","field":"phone","breaking":true,"exposure":true`) {
			t.Errorf("%s as JSON: exit code %d\n%s", name, code, out)
		}
		code, out = publish(descriptor, "--allow-exposure")
		if code != 0 || !strings.Contains(listing(), "canary-1") {
			t.Errorf("%s with consent: exit code %d\n%s", name, code, out)
		}
	}
}

// TestServe_watchHidden removes and changes a descriptor under a server: it publishes the file with
// the settings of the live version, and rejects what would expose more.
func TestServe_watchHidden(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	file := write(t, "hr/staff.csv", "name,phone,status\nAda,canary-1,public\nBob,canary-2,draft\n")
	descriptor := filepath.Join(filepath.Dir(file), "datapackage.json")
	put(t, descriptor, hidingStaff)
	s := e.serve(t, "--watch", filepath.Dir(file))
	listing := func() string {
		_, body := s.get(t, "/api/v1/hr/staff/data")
		return body
	}
	put(t, descriptor, strings.Replace(hidingStaff, `"include":{"status":["public"]}`, "", 1))
	until(t, "the rejection is logged", func() bool {
		return strings.Contains(s.log.String(), "rows become public that the live version leaves out")
	})
	if !strings.Contains(s.log.String(), "--allow-exposure") || strings.Contains(listing(), "Bob") {
		t.Errorf("rows are public: %s\n%s", listing(), s.log)
	}
	must.NoError(t, os.Remove(descriptor))
	put(t, file, "name,phone,status\nAda,canary-1,public\nBob,canary-2,draft\nCy,canary-3,public\n")
	until(t, "the file is published", func() bool { return strings.Contains(listing(), "Cy") })
	if got := listing(); strings.Contains(got, "canary") || strings.Contains(got, "Bob") {
		t.Errorf("hidden data is public: %s", got)
	}
}
