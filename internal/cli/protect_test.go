package cli_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"herbarium/internal/must"
)

// people is a descriptor that protects people.csv, under a name that is not that of its folder.
const people = `{"name":"vault","resources":[{"name":"people","path":"people.csv","herbarium":{"access":"key"}}]}`

func TestPublish_protected(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	file := write(t, "hr/people.csv", "mail\nalice@example.org\n")
	descriptor := filepath.Join(filepath.Dir(file), "datapackage.json")
	put(t, descriptor, people)
	e.must(t, "publish", descriptor)
	put(t, file, "mail\nalice@example.org\nbob@example.org\n")
	access := func() string {
		for line := range strings.Lines(e.must(t, "datasets")) {
			if f := strings.Fields(line); f[0] == "vault/people" {
				return f[3]
			}
		}
		return "none"
	}
	e.must(t, "publish", file, "--as", "vault/people")
	if access() != "key" {
		t.Fatalf("without a descriptor, access is %s", access())
	}
	for _, args := range [][]string{
		{"publish", file, "--as", "vault/people", "--access", "open"},
		{"publish", file, "--as", "vault/people", "--access", "open", "--check"},
		{"publish", file, "--as", "vault/people", "--access", "open", "--allow-breaking", "--force"},
		{"publish", file, "--as", "other/name"},
		{"publish", file},
	} {
		code, out, errOut := e.run(t, args...)
		if code != 3 || !strings.Contains(errOut, "use --allow-exposure\n") {
			t.Errorf("herbarium %s: exit code %d\n%s%s", strings.Join(args, " "), code, out, errOut)
		}
		if access() != "key" {
			t.Fatalf("herbarium %s: access is %s", strings.Join(args, " "), access())
		}
	}
	e.must(t, "publish", file, "--as", "vault/people", "--access", "open", "--allow-exposure")
	if access() != "open" {
		t.Errorf("access is %s", access())
	}
	e.must(t, "publish", file, "--as", "vault/people", "--access", "key")
	if access() != "key" {
		t.Errorf("access is %s", access())
	}
	if code, _, errOut := e.run(t, "datasets", "rollback", "vault/people"); code != 3 || access() != "key" ||
		!strings.Contains(errOut, "use --allow-exposure\n") {
		t.Errorf("rollback to an open version: exit code %d, access is %s\n%s", code, access(), errOut)
	}
	e.must(t, "datasets", "rollback", "vault/people", "--allow-exposure")
	if access() != "open" {
		t.Errorf("after the rollback, access is %s", access())
	}
}

// TestServe_watchDescriptorRemoved removes a descriptor while a server follows its folder. Neither
// the dataset that it protected nor one with the name that the file has by itself becomes public,
// not after a restart either.
func TestServe_watchDescriptorRemoved(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	file := write(t, "hr/people.csv", "mail\nalice@example.org\n")
	folder := filepath.Dir(file)
	descriptor := filepath.Join(folder, "datapackage.json")
	put(t, descriptor, people)
	s := e.serve(t, "--watch", folder)
	protected := func() {
		t.Helper()
		if status, body := s.get(t, "/api/v1/vault/people/data"); status != http.StatusUnauthorized {
			t.Errorf("vault/people: %d %s", status, body)
		}
		if status, body := s.get(t, "/api/v1/hr/people/data"); status != http.StatusNotFound {
			t.Errorf("hr/people: %d %s", status, body)
		}
		for _, path := range []string{"/", "/openapi.json", "/catalog.jsonld", "/api/v1/vault/people",
			"/datasets/vault/people/versions"} {
			if _, body := s.get(t, path); strings.Contains(body, "alice") || strings.Contains(body, folder) {
				t.Errorf("%s shows a value or a path", path)
			}
		}
	}
	protected()
	must.NoError(t, os.Remove(descriptor))
	until(t, "the file without its descriptor is rejected",
		func() bool { return strings.Contains(s.log.String(), "which requires a key") })
	protected()
	s.stop()
	s = e.serve(t, "--watch", folder)
	protected()
}

// TestServe_rejectedProtected starts a server with a protected source that has a duplicate primary
// key: only the log and the command quote the value.
func TestServe_rejectedProtected(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	file := write(t, "vault/people.csv", "mail\nalice@example.org\nbob@example.org\nalice@example.org\n")
	descriptor := filepath.Join(filepath.Dir(file), "datapackage.json")
	put(t, descriptor, `{"name":"vault","resources":[{"name":"people","path":"people.csv","schema":{"fields":[{"name":"mail"}],"primaryKey":"mail"},
		"herbarium":{"access":"key","expectations":[{"query":"mail=bob@example.org","first":{"mail":"carol@example.org"}}]}}]}`)
	s := e.serve(t, descriptor)
	if _, _, errOut := e.run(t, "datasets"); !strings.Contains(errOut, "alice@example.org") ||
		!strings.Contains(s.log.String(), "alice@example.org") {
		t.Errorf("the reason is not reported:\n%s\n%s", errOut, s.log)
	}
	for _, path := range []string{"/", "/openapi.json", "/catalog.jsonld", "/api/v1", "/api/v1/vault/people",
		"/datasets/vault/people", "/readyz"} {
		if _, body := s.get(t, path); strings.Contains(body, "@example.org") {
			t.Errorf("%s quotes a value", path)
		}
	}
}
