package cli_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"herbarium/internal/must"
	"herbarium/internal/programtest"
)

// until waits until a condition holds.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	must.NoError(t, programtest.Eventually(t.Context(), func(context.Context) error {
		if !holds() {
			return errors.New(what)
		}
		return nil
	}))
}

func put(t *testing.T, path, content string) {
	t.Helper()
	must.NoError(t, os.WriteFile(path, []byte(content), 0o600))
}

func TestServe_watch(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	file := write(t, "shop/prices.csv", "code,price\n1,2\n")
	folder := filepath.Dir(file)
	s := e.serve(t, "--watch", folder)
	totals := func(name string, want int) func() bool {
		return func() bool {
			status, body := s.get(t, "/api/v1/shop/"+name+"/data")
			return status == http.StatusOK && strings.Contains(body, `"total":`+string(rune('0'+want))+`,`)
		}
	}
	if !totals("prices", 1)() {
		t.Fatal("the file is not published at the start")
	}
	put(t, file, "code,price\n1,2\n2,3\n")
	until(t, "a change in place", totals("prices", 2))

	put(t, filepath.Join(folder, ".stock.csv.swp"), "no\n")
	put(t, filepath.Join(folder, "stock.csv"), "a\n1\n2\n3\n")
	until(t, "a new file", totals("stock", 3))

	put(t, file, "code,price\n1,2,3\n") // one value too many
	until(t, "a bad file is logged", func() bool { return strings.Contains(s.log.String(), "line 2") })
	until(t, "a bad file is reported by the datasets command", func() bool {
		_, _, errOut := e.run(t, "datasets")
		return strings.Contains(errOut, "shop/prices: not published since") && strings.Contains(errOut, "line 2")
	})
	if _, page := s.get(t, "/"); strings.Contains(page, "rejected") || strings.Contains(page, "line 2") {
		t.Errorf("the front page shows the rejected file to the public:\n%s", page)
	}
	if !totals("prices", 2)() {
		t.Error("a bad file changed what is listed")
	}
	put(t, filepath.Join(folder, "stock.csv"), "a\n1\n2\n3\n4\n")
	until(t, "another file beside a bad one", totals("stock", 4))

	next := filepath.Join(folder, "prices.csv.tmp")
	put(t, next, "code,price\n1,2\n2,3\n3,4\n")
	must.NoError(t, os.Rename(next, file))
	until(t, "a file renamed into place", totals("prices", 3))
	until(t, "the source error is cleared", func() bool {
		_, _, errOut := e.run(t, "datasets")
		return !strings.Contains(errOut, "not published")
	})

	must.NoError(t, os.Remove(file))
	until(t, "a removed file is logged", func() bool { return strings.Contains(s.log.String(), "is gone") })
	if !totals("prices", 3)() {
		t.Error("the dataset was removed with its file")
	}

	put(t, filepath.Join(folder, "datapackage.json"), "{")
	until(t, "a bad descriptor is reported", func() bool {
		_, _, errOut := e.run(t, "datasets")
		return strings.Contains(errOut, "datapackage.json")
	})
	put(t, filepath.Join(folder, "datapackage.json"),
		`{"name":"shop","resources":[{"name":"stock","path":"stock.csv","title":"What is left"}]}`)
	until(t, "a change of the settings", func() bool {
		_, body := s.get(t, "/api/v1/shop/stock")
		return strings.Contains(body, "What is left")
	})
}

func TestServe_watchNothing(t *testing.T) {
	t.Parallel()
	newEnvironment(t).fails(t, 2, "--watch needs", "serve", "--watch")
}

// TestServe_watchDescriptor adds a descriptor that lists one of two files: the other one is
// reported as skipped until it is listed.
func TestServe_watchDescriptor(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	file := write(t, "shop/prices.csv", "code,price\n1,2\n")
	folder := filepath.Dir(file)
	put(t, filepath.Join(folder, "stock.csv"), "a\n1\n")
	e["HERBARIUM_PATHS"], e["HERBARIUM_WATCH"], e["HERBARIUM_ADMIN_ADDR"] = folder, "true", "127.0.0.1:0"
	s := e.serve(t)
	descriptor := filepath.Join(folder, "datapackage.yaml")
	put(t, descriptor, "name: shop\nresources: [{name: stock, path: stock.csv, title: Shelf}]\n")
	const reason = "does not list it; add it to its resources"
	until(t, "the other file is reported", func() bool {
		_, _, errOut := e.run(t, "datasets")
		return strings.Contains(errOut, "shop/prices: "+file+" skipped since ") && strings.Contains(errOut, reason)
	})
	log := s.log.String()
	if !strings.Contains(log, "file skipped; its dataset is not updated") || !strings.Contains(log, reason) ||
		strings.Contains(log, "is gone") {
		t.Errorf("the log is\n%s", log)
	}
	if out := e.must(t, "datasets", "--json"); !strings.Contains(out, `"skipped":"`+descriptor) ||
		strings.Contains(out, `"error"`) {
		t.Errorf("datasets --json prints\n%s", out)
	}
	e.prints(t, "warn sources          shop/prices from "+file+" is skipped: ", "doctor")
	if _, body := s.get(t, "/readyz"); !strings.Contains(body, `"sources":"ok"`) {
		t.Errorf("a skipped file is a failure: %s", body)
	}
	put(t, descriptor, "name: shop\nresources: [{name: stock, path: stock.csv}, {name: prices, path: prices.csv}]\n")
	until(t, "the file is listed", func() bool {
		_, _, errOut := e.run(t, "datasets")
		return !strings.Contains(errOut, "skipped")
	})
}

// TestServe_sourceFailed checks where machines find out that a source could not be published.
func TestServe_sourceFailed(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	file := write(t, "shop/prices.csv", "code,price\n1,2\n")
	put(t, filepath.Join(filepath.Dir(file), "new.csv"), "a,b\n1,Secretive,3\n")
	e.must(t, "publish", file)
	put(t, file, "code,price\n1,2,3\n")
	config := filepath.Join(t.TempDir(), "herbarium.yaml")
	put(t, config, "paths:\n  - "+filepath.Dir(file)+"\nadmin_addr: 127.0.0.1:0\n")
	s := e.serve(t, "--config", config)
	e.fails(t, 4, "herbarium: 2 sources could not be published", "datasets")
	code, out, _ := e.run(t, "datasets", "--json")
	if code != 4 {
		t.Errorf("datasets --json: exit code %d", code)
	}
	for _, want := range []string{`"name":"prices"`, `"source":"` + file + `","error":"`,
		`{"namespace":"shop","name":"new","source":"`} {
		if !strings.Contains(out, want) {
			t.Errorf("no %s in\n%s", want, out)
		}
	}
	var body string
	until(t, "/readyz has details", func() bool {
		_, body = s.get(t, "/readyz")
		return strings.Contains(body, "2 sources could not be published")
	})
	if strings.Contains(body, "prices") || strings.Contains(body, "Secretive") {
		t.Errorf("/readyz is public and shows %s", body)
	}
	code, out, _ = e.run(t, "doctor")
	if code != 4 || !strings.Contains(out, "fail sources          shop/new from ") {
		t.Errorf("doctor: exit code %d\n%s", code, out)
	}
	admin := regexp.MustCompile(`http://\S+/metrics`).FindString(s.log.String())
	if status, _ := s.get(t, "/api/v1/shop/prices/data?api_key=herb_mistyped"); status != http.StatusOK {
		t.Errorf("status %d", status)
	}
	response, err := http.Get(admin)
	must.NoError(t, err)
	defer response.Body.Close()
	metrics, err := io.ReadAll(response.Body)
	must.NoError(t, err)
	for _, want := range []string{`herbarium_source_failed{dataset="shop/prices"} 1`,
		`herbarium_source_failed{dataset="shop/new"} 1`,
		`herbarium_dataset_bytes{dataset="shop/prices"} `, `herbarium_stored_bytes{folder="versions"} `} {
		if !strings.Contains(string(metrics), want) {
			t.Errorf("no %s in the metrics", want)
		}
	}
	e.fails(t, 1, "no failed source", "datasets", "dismiss", "shop/other")
	e.must(t, "datasets", "dismiss", file)
	e.must(t, "datasets", "dismiss", "shop/new")
	if _, _, errOut := e.run(t, "datasets"); errOut != "" {
		t.Errorf("dismissed failures are listed:\n%s", errOut)
	}
}
