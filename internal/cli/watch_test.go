package cli_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// until polls until a condition holds.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !holds(); {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not after 30 seconds", what)
		}
	}
}

func put(t *testing.T, path, content string) {
	t.Helper()
	must(t, os.WriteFile(path, []byte(content), 0o600))
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
	must(t, os.Rename(next, file))
	until(t, "a file renamed into place", totals("prices", 3))
	until(t, "the source error is cleared", func() bool {
		_, _, errOut := e.run(t, "datasets")
		return !strings.Contains(errOut, "not published")
	})

	must(t, os.Remove(file))
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
