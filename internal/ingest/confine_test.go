package ingest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
)

func link(t *testing.T, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		t.Skipf("this system makes no links: %v", err)
	}
}

// TestDiscover_Escape puts links out of a folder into it.
func TestDiscover_Escape(t *testing.T) {
	t.Parallel()
	outside := layout(t, "secret.csv=a\n1\n", "ns/more.csv=a\n2\n", `dp/datapackage.json={"resources":[{"path":"x.csv"}]}`, "dp/x.csv")
	for _, c := range []struct {
		name, target, path string
		files              []string
	}{
		{"a file by its absolute path", outside + "/secret.csv", "x.csv", nil},
		{"a file by its relative path", "../" + filepath.Base(outside) + "/secret.csv", "x.csv", nil},
		{"a folder", outside + "/ns", "ns", nil},
		{"a file of no known format", outside + "/secret.csv", "x", nil},
		{"through a link in the folder", "step", "x.csv", nil},
		{"a descriptor", outside + "/dp/datapackage.json", "datapackage.json", nil},
		{"a file of a descriptor", outside + "/secret.csv", "x.csv", []string{`datapackage.json={"resources":[{"path":"x.csv"}]}`}},
		{"a file of a descriptor, inside what was named", "../secret.csv", "sub/x.csv", []string{`sub/datapackage.json={"resources":[{"path":"x.csv"}]}`, "secret.csv"}},
		{"the schema of a descriptor", outside + "/secret.csv", "s.json", []string{`datapackage.json={"resources":[{"path":"y.csv","schema":"s.json"}]}`, "y.csv"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := layout(t, append([]string{"keep/k.csv"}, c.files...)...)
			link(t, outside+"/secret.csv", filepath.Join(dir, "step"))
			if c.target != "step" {
				if err := os.Remove(filepath.Join(dir, "step")); err != nil {
					t.Fatal(err)
				}
			}
			link(t, c.target, filepath.Join(dir, c.path))
			sources, err := ingest.Discover([]string{dir})
			if err == nil || !strings.Contains(err.Error(), "leads out of the folder") || !strings.Contains(err.Error(), filepath.Base(c.path)) {
				t.Errorf("got error %v", err)
			}
			for _, s := range sources {
				if s.Ref.Name != "k" && s.Ref.Name != "secret" {
					t.Errorf("%s is published from %s", s.Ref, s.Path)
				}
			}
		})
	}
}

// TestDiscover_InnerLinks follows links that stay in the folder, and a link that the user named.
func TestDiscover_InnerLinks(t *testing.T) {
	t.Parallel()
	dir := layout(t, "data/real.txt=a\n1\n", "pub/x.csv=a\n2\n")
	link(t, "../data/real.txt", filepath.Join(dir, "pub/y.csv"))
	link(t, dir, filepath.Join(t.TempDir(), "named"))
	sources, err := ingest.Discover([]string{dir})
	if diff := cmp.Diff([]string{"pub/x pub/x.csv", "pub/y pub/y.csv"}, found(dir, sources)); diff != "" || err != nil {
		t.Fatalf("error %v (-want +got):\n%s", err, diff)
	}
	if rows, err := listing(t, sources[1]); err != nil || len(rows) != 2 {
		t.Errorf("%v, %v", rows, err)
	}
	named := filepath.Join(t.TempDir(), "named.csv")
	link(t, filepath.Join(dir, "pub/x.csv"), named)
	if sources, err := ingest.Discover([]string{named}); err != nil || len(sources) != 1 {
		t.Errorf("a link that is named: %v, %v", sources, err)
	}
}

// TestInspect_SwappedLink replaces a file by a link after it was found: what is read is checked when it is opened.
func TestInspect_SwappedLink(t *testing.T) {
	t.Parallel()
	outside := layout(t, "secret.csv=a\n1\n", "ns/x.csv=a\n1\n")
	secret := database(t, "secret.db", `CREATE TABLE t (a)`)
	for _, c := range []struct{ name, file, replaced, target string }{
		{"a file", "ns/x.csv", "ns/x.csv", outside + "/secret.csv"},
		{"a folder", "ns/x.csv", "ns", outside + "/ns"},
		{"a database", "ns/x.db", "ns/x.db", secret},
		{"a file of a descriptor", "dp/x.csv", "dp/x.csv", outside + "/secret.csv"},
		{"the folder of a descriptor", "dp/x.csv", "dp", outside + "/ns"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := layout(t, "ns/x.csv", `dp/datapackage.json={"resources":[{"path":"x.csv"}]}`, "dp/x.csv")
			if strings.HasSuffix(c.file, ".db") {
				b, err := os.ReadFile(secret)
				if err != nil {
					t.Fatal(err)
				}
				writeFile(t, dir, c.file, string(b))
				if err := os.Remove(filepath.Join(dir, "ns/x.csv")); err != nil {
					t.Fatal(err)
				}
			}
			sources, err := ingest.Discover([]string{dir})
			if err != nil {
				t.Fatal(err)
			}
			if err := os.RemoveAll(filepath.Join(dir, c.replaced)); err != nil {
				t.Fatal(err)
			}
			link(t, c.target, filepath.Join(dir, c.replaced))
			tried := 0
			for _, s := range sources {
				if s.Path != filepath.Join(dir, c.file) {
					continue
				}
				tried++
				_, inspected := ingest.Inspect(t.Context(), s, ingest.Options{})
				if herb.CodeOf(inspected) != herb.CodeInvalid || !strings.Contains(fmt.Sprint(inspected), "leads out of the folder") {
					t.Errorf("got error %v", inspected)
				}
			}
			if tried != 1 {
				t.Errorf("%d sources were tried", tried)
			}
		})
	}
}

// TestFinder_DataFolder never accepts the data folder, however it is reached.
func TestFinder_DataFolder(t *testing.T) {
	t.Parallel()
	dir := layout(t, "pub/x.csv", "herbarium-data/herbarium.csv", "herbarium-data/versions/v.csv")
	data := filepath.Join(dir, "herbarium-data")
	link(t, "herbarium-data", filepath.Join(dir, "alias"))
	link(t, "../herbarium-data/herbarium.csv", filepath.Join(dir, "pub/stolen.csv"))
	outer := filepath.Join(t.TempDir(), "elsewhere")
	link(t, data, outer)
	f := ingest.Finder{Data: outer}
	sources, err := f.Discover([]string{dir})
	if diff := cmp.Diff([]string{"pub/x pub/x.csv"}, found(dir, sources)); diff != "" {
		t.Errorf("sources (-want +got):\n%s", diff)
	}
	skipped, failed := ingest.SplitSkipped(err)
	if len(skipped) != 2 || !strings.Contains(skipped[1], "herbarium-data is the data folder of the program (--data), which is never published") {
		t.Errorf("skipped: %q", skipped)
	}
	if len(failed) != 1 || !strings.Contains(failed[0].Error(), "pub/stolen.csv is in the data folder of the program") {
		t.Errorf("failed: %v", failed)
	}
	for _, path := range []string{
		data, data + "/herbarium.csv", data + "/versions", data + "/../herbarium-data/versions/v.csv", dir + "/alias", dir + "/alias/herbarium.csv",
		outer, outer + "/herbarium.csv", dir + "/pub/stolen.csv", data + "/herbarium.csv#part",
	} {
		sources, err := f.Discover([]string{path})
		if len(sources) > 0 || herb.CodeOf(err) != herb.CodeInvalid || !strings.Contains(err.Error(), "is in the data folder of the program") {
			t.Errorf("%s: got %v and error %v", path, sources, err)
		}
		if _, err := f.As(path, herb.Ref{Namespace: "a", Name: "b"}); herb.CodeOf(err) != herb.CodeInvalid || !strings.Contains(err.Error(), "is in the data folder of the program") {
			t.Errorf("%s as a/b: got error %v", path, err)
		}
	}
}

// TestSQLite_InFolder reads databases that were found in a folder, one with a write-ahead log, and leaves nothing behind.
func TestSQLite_InFolder(t *testing.T) {
	t.Parallel()
	path := database(t, "x.db", `CREATE TABLE t (a)`, `INSERT INTO t VALUES (1), (2)`)
	sources, err := ingest.Discover([]string{filepath.Dir(path)})
	if err != nil || len(sources) != 1 || sources[0].Root == "" {
		t.Fatalf("got %+v, error %v", sources, err)
	}
	if rows, err := listing(t, sources[0]); err != nil || len(rows) != 3 {
		t.Errorf("got %q, error %v", rows, err)
	}
}
