//go:build unix

package clienttest

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"herbarium/internal/must"
	"herbarium/internal/programtest"
)

// ciServer starts a server and returns its address and a key that may publish shop/prices.
func ciServer(t *testing.T) (url, key string) {
	t.Helper()
	settings := []string{"HERBARIUM_DATA=" + filepath.Join(t.TempDir(), "data")}
	server, err := programtest.Start(t.Context(), programtest.Options{Program: program, Settings: settings})
	must.NoError(t, err)
	t.Cleanup(server.Kill)
	return server.URL, createKey(t, settings, "publish:shop/prices")
}

// runShell runs a shell with the program on its path and returns the exit code and the output.
func runShell(t *testing.T, folder string, settings []string, args ...string) (code int, out string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", args...)
	cmd.Dir = folder
	cmd.Env = append(programtest.Environ(settings...), "PATH="+filepath.Dir(program)+":"+os.Getenv("PATH"))
	b, err := cmd.CombinedOutput()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		return failed.ExitCode(), string(b)
	}
	must.NoError(t, err)
	return 0, string(b)
}

// records returns the number of records of shop/prices; -1 if it does not exist.
func records(t *testing.T, url string) int {
	t.Helper()
	resp, err := programtest.Send(t.Context(), http.DefaultClient, http.MethodGet, url+"/api/v1/shop/prices", "")
	must.NoError(t, err)
	if resp.Status == http.StatusNotFound {
		return -1
	}
	var body struct{ Records int }
	must.NoError(t, json.Unmarshal([]byte(resp.Body), &body))
	return body.Records
}

const (
	ciPrices = "code,price\n1,1.50\n2,2\n3,4\n"
	ciBroken = "code,cost\n1,1.50\n"
)

// TestCI_workflow runs the steps of the workflow in examples/ci, except for the installation.
func TestCI_workflow(t *testing.T) {
	t.Parallel()
	url, key := ciServer(t)
	content, err := os.ReadFile("../../examples/ci/publish.yml")
	must.NoError(t, err)
	var workflow struct {
		Jobs map[string]struct {
			Env   map[string]string
			Steps []struct {
				Name, Run string
				Env       map[string]string
			}
		}
	}
	must.NoError(t, yaml.Unmarshal(content, &workflow))
	values := map[string]string{
		"${{ vars.HERBARIUM_URL }}": url, "${{ vars.DATASET }}": "shop/prices", "${{ secrets.HERBARIUM_KEY }}": key,
	}
	folder := t.TempDir()
	must.NoError(t, os.Mkdir(filepath.Join(folder, "data"), 0o755))
	step := func(name string) (int, string) {
		job := workflow.Jobs["publish"]
		for _, s := range job.Steps {
			if s.Name != name {
				continue
			}
			var settings []string
			for _, env := range []map[string]string{job.Env, s.Env} {
				for variable, value := range env {
					settings = append(settings, variable+"="+values[value])
				}
			}
			return runShell(t, folder, settings, "-ec", s.Run)
		}
		t.Fatalf("the workflow has no step %q", name)
		return 0, ""
	}
	for _, c := range []struct {
		content, step, want string
		code, records       int
	}{
		{ciPrices, "Check", "checked shop/prices: 3 records", 0, -1},
		{ciPrices, "Publish", "published shop/prices: 3 records", 0, 3},
		{ciPrices, "Publish", "unchanged shop/prices: 3 records", 0, 3},
		{ciBroken, "Check", "would not be published", 3, 3},
		{ciBroken, "Publish", "not published", 3, 3},
	} {
		writeFile(t, filepath.Join(folder, "data", "prices.csv"), c.content)
		if code, out := step(c.step); code != c.code || !strings.Contains(out, c.want) || records(t, url) != c.records {
			t.Errorf("%s: exit code %d, %d records; want %d, %d and %q in\n%s", c.step, code, records(t, url), c.code,
				c.records, c.want, out)
		}
	}
}

// TestCI_cron runs the script in examples/ci.
func TestCI_cron(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		programtest.SkipWithout(t, "curl", "curl is not installed")
	}
	url, key := ciServer(t)
	content := ciPrices
	source := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if content == "" {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write([]byte(content))
	}))
	defer source.Close()
	script, err := filepath.Abs("../../examples/ci/publish-cron.sh")
	must.NoError(t, err)
	folder, temp := t.TempDir(), t.TempDir()
	keyFile := filepath.Join(folder, "key")
	writeFile(t, keyFile, key+"\n")
	settings := []string{
		"SOURCE_URL=" + source.URL + "/prices.csv?today", "HERBARIUM_URL=" + url, "DATASET=shop/prices",
		"KEY_FILE=" + keyFile, "TMPDIR=" + temp,
	}
	for _, c := range []struct {
		content, want string
		code, records int
	}{
		{"", "404", 22, -1}, // of curl
		{ciPrices, "", 0, 3},
		{ciPrices, "", 0, 3},
		{ciBroken, "herbarium: shop/prices: rejected", 3, 3},
	} {
		content = c.content
		code, out := runShell(t, folder, settings, script)
		if code != c.code || !strings.Contains(out, c.want) || c.code == 0 && out != "" ||
			records(t, url) != c.records {
			t.Errorf("exit code %d, %d records; want %d, %d and %q in %q", code, records(t, url), c.code, c.records,
				c.want, out)
		}
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left in the temporary folder: %v, %v", left, err)
	}
}
