package discover_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/ingest/discover"
	"herbarium/internal/ingest/rowstest"
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
	outside := rowstest.Folder(t, "secret.csv=a\n1\n", "ns/more.csv=a\n2\n",
		`dp/datapackage.json={"resources":[{"path":"x.csv"}]}`, "dp/x.csv")
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
		{"a file of a descriptor", outside + "/secret.csv", "x.csv",
			[]string{`datapackage.json={"resources":[{"path":"x.csv"}]}`}},
		{"a file of a descriptor, inside what was named", "../secret.csv", "sub/x.csv",
			[]string{`sub/datapackage.json={"resources":[{"path":"x.csv"}]}`, "secret.csv"}},
		{"the schema of a descriptor", outside + "/secret.csv", "s.json",
			[]string{`datapackage.json={"resources":[{"path":"y.csv","schema":"s.json"}]}`, "y.csv"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := rowstest.Folder(t, append([]string{"keep/k.csv"}, c.files...)...)
			link(t, outside+"/secret.csv", filepath.Join(dir, "step"))
			if c.target != "step" {
				if err := os.Remove(filepath.Join(dir, "step")); err != nil {
					t.Fatal(err)
				}
			}
			link(t, c.target, filepath.Join(dir, c.path))
			set := find(t, dir)
			if err := set.Err(); err == nil || !strings.Contains(err.Error(), "leads out of the folder") ||
				!strings.Contains(err.Error(), filepath.Base(c.path)) {
				t.Errorf("got error %v", err)
			}
			for _, s := range set.Sources {
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
	dir := rowstest.Folder(t, "data/real.txt=a,b\n1,2\n3,4\n", "pub/x.csv=a\n2\n")
	link(t, "../data/real.txt", filepath.Join(dir, "pub/y.csv"))
	link(t, dir, filepath.Join(t.TempDir(), "named"))
	set := find(t, dir)
	if diff := cmp.Diff([]string{"data/real data/real.txt", "pub/x pub/x.csv", "pub/y pub/y.csv"},
		refs(dir, set.Sources)); diff != "" || set.Err() != nil {
		t.Fatalf("error %v (-want +got):\n%s", set.Err(), diff)
	}
	if rows, err := listing(t, set.Sources[2]); err != nil || len(rows) != 3 {
		t.Errorf("%v, %v", rows, err)
	}
	named := filepath.Join(t.TempDir(), "named.csv")
	link(t, filepath.Join(dir, "pub/x.csv"), named)
	if set := find(t, named); set.Err() != nil || len(set.Sources) != 1 {
		t.Errorf("a link that is named: %+v", set)
	}
}

// TestInspect_SwappedLink replaces a file by a link after it was found: what is read is checked
// when it is opened.
func TestInspect_SwappedLink(t *testing.T) {
	t.Parallel()
	outside := rowstest.Folder(t, "secret.csv=a\n1\n", "ns/x.csv=a\n1\n")
	secret := filepath.Join(t.TempDir(), "secret.db")
	database(t, secret, `CREATE TABLE t (a)`)
	for _, c := range []struct{ name, file, replaced, target string }{
		{"a file", "ns/x.csv", "ns/x.csv", outside + "/secret.csv"},
		{"a folder", "ns/x.csv", "ns", outside + "/ns"},
		{"a database", "ns/x.db", "ns/x.db", secret},
		{"a file of a descriptor", "dp/x.csv", "dp/x.csv", outside + "/secret.csv"},
		{"the folder of a descriptor", "dp/x.csv", "dp", outside + "/ns"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := rowstest.Folder(t, "ns/x.csv", `dp/datapackage.json={"resources":[{"path":"x.csv"}]}`, "dp/x.csv")
			if strings.HasSuffix(c.file, ".db") {
				b, err := os.ReadFile(secret)
				if err != nil {
					t.Fatal(err)
				}
				rowstest.WriteFile(t, dir, c.file, string(b))
				if err := os.Remove(filepath.Join(dir, "ns/x.csv")); err != nil {
					t.Fatal(err)
				}
			}
			set := find(t, dir)
			if err := set.Err(); err != nil {
				t.Fatal(err)
			}
			if err := os.RemoveAll(filepath.Join(dir, c.replaced)); err != nil {
				t.Fatal(err)
			}
			link(t, c.target, filepath.Join(dir, c.replaced))
			tried := 0
			for _, s := range set.Sources {
				if s.Path != filepath.Join(dir, c.file) {
					continue
				}
				tried++
				_, inspected := ingest.Inspect(t.Context(), s, ingest.Options{})
				if herb.CodeOf(inspected) != herb.CodeInvalid ||
					!strings.Contains(fmt.Sprint(inspected), "leads out of the folder") {
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
	dir := rowstest.Folder(t, "pub/x.csv", "herbarium-data/herbarium.csv", "herbarium-data/versions/v.csv")
	data := filepath.Join(dir, "herbarium-data")
	link(t, "herbarium-data", filepath.Join(dir, "alias"))
	link(t, "../herbarium-data/herbarium.csv", filepath.Join(dir, "pub/stolen.csv"))
	outer := filepath.Join(t.TempDir(), "elsewhere")
	link(t, data, outer)
	f := discover.New(discover.Options{Formats: ingest.Formats(), Data: outer})
	set := f.Discover(t.Context(), []string{dir})
	if diff := cmp.Diff([]string{"pub/x pub/x.csv"}, refs(dir, set.Sources)); diff != "" {
		t.Errorf("sources (-want +got):\n%s", diff)
	}
	if len(set.Skipped) != 2 || set.Skipped[1].Path != data ||
		!strings.Contains(set.Skipped[1].Reason, "data folder of the program") {
		t.Errorf("skipped: %q", set.Skipped)
	}
	checkMessages(t, []string{"pub/stolen.csv is in the data folder of the program"}, messages(dir, set.Errors))
	for _, path := range []string{
		data, data + "/herbarium.csv", data + "/versions", data + "/../herbarium-data/versions/v.csv", dir + "/alias",
		dir + "/alias/herbarium.csv",
		outer, outer + "/herbarium.csv", dir + "/pub/stolen.csv", data + "/herbarium.csv#part",
	} {
		set := f.Discover(t.Context(), []string{path})
		if err := set.Err(); len(set.Sources) > 0 || herb.CodeOf(err) != herb.CodeInvalid ||
			!strings.Contains(err.Error(), "is in the data folder of the program") {
			t.Errorf("%s: got %+v", path, set)
		}
		if _, err := f.As(t.Context(), path, herb.Ref{Namespace: "a", Name: "b"}); herb.CodeOf(
			err) != herb.CodeInvalid || !strings.Contains(err.Error(), "is in the data folder of the program") {
			t.Errorf("%s as a/b: got error %v", path, err)
		}
	}
}

// TestDiscover_Database reads a database in a folder.
func TestDiscover_Database(t *testing.T) {
	t.Parallel()
	dir := rowstest.Folder(t)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	database(t, filepath.Join(dir, "x.db"), `CREATE TABLE t (a)`, `INSERT INTO t VALUES (1), (2)`)
	set := find(t, dir)
	if set.Err() != nil || len(set.Sources) != 1 || set.Sources[0].Root == "" {
		t.Fatalf("got %+v", set)
	}
	if rows, err := listing(t, set.Sources[0]); err != nil || len(rows) != 3 {
		t.Errorf("got %q, error %v", rows, err)
	}
}
