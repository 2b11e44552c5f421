package discover_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/ingest/descriptor"
	"herbarium/internal/ingest/discover"
	"herbarium/internal/ingest/rowstest"
)

func TestDiscover(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 101)
	tests := []struct {
		name     string
		files    []string
		paths    []string // in the folder; none: the folder itself
		want     []string
		problems []string // parts of the messages
	}{
		{
			name:  "a file",
			files: []string{"Garden/Catalog.csv"}, paths: []string{"Garden/Catalog.csv"},
			want: []string{"garden/catalog Garden/Catalog.csv"},
		}, {
			name: "names are made fit for addresses",
			files: []string{"Été à Paris/Plantes & Fleurs (2024).tsv", "x/a_b.c-d.v2.json", "x/--Straße__.jsonl",
				"x/Ærø.ndjson"},
			want: []string{
				"ete-a-paris/plantes-fleurs-2024 Été à Paris/Plantes & Fleurs (2024).tsv",
				"x/a_b.c-d.v2 x/a_b.c-d.v2.json",
				"x/aero x/Ærø.ndjson", "x/strasse x/--Straße__.jsonl",
			},
		}, {
			name:  "a folder and its subfolders",
			files: []string{"b.csv", "a.json", "sub/c.csv", "sub/deep/d.csv", "other/e.CSV"},
			want: []string{"deep/d sub/deep/d.csv", "other/e other/e.CSV", "root/a a.json", "root/b b.csv",
				"sub/c sub/c.csv"},
		}, {
			name: "what is not meant is passed over in a folder",
			files: []string{
				"a.csv", "readme.md", ".hidden.csv", ".git/x.csv", "b.csv~", "~b.csv", "c.csv.tmp", ".a.csv.swp",
				"noextension", "x.tmp/y.csv",
			},
			want: []string{"root/a a.csv"},
		}, {
			name: "and rejected when it is named",
			files: []string{"a.csv", "page.txt=<!DOCTYPE html>", "old.xls=\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1",
				"plants.lz4=\x04\x22\x4D\x18", ".hidden.csv", "~b.csv", "c.csv.tmp"},
			paths: []string{"page.txt", "old.xls", "plants.lz4", "a.csv", ".hidden.csv", "~b.csv", "c.csv.tmp",
				"none.csv"},
			want: []string{"root/a a.csv"},
			problems: []string{
				"page.txt: the file is a web page",
				"old.xls: the file is a legacy Office file",
				"plants.lz4: the file is compressed with lz4",
				".hidden.csv is a hidden or temporary file",
				"~b.csv is a hidden or temporary file",
				"c.csv.tmp is a hidden or temporary file",
				"none.csv: no such file or directory",
			},
		}, {
			name: "what is named is read by its content",
			files: []string{"Bars.txt=a|b\n1|2\n", "noextension", "lines.dat.gz=" + gzipped(t, "{\"a\":1}\n"),
				"empty.log="},
			paths: []string{"Bars.txt", "noextension", "lines.dat.gz", "empty.log"},
			want: []string{"root/bars Bars.txt", "root/empty empty.log", "root/lines lines.dat.gz",
				"root/noextension noextension"},
		}, {
			name:  "names in other scripts, and long ones",
			files: []string{"植物.csv", "植物園/a.csv", "Отчёт 2020.csv", long + ".csv", "ok.csv", "§.csv"},
			want: []string{"root/ok ok.csv", "root/otchet-2020 Отчёт 2020.csv", "root/u690du7269 植物.csv",
				"root/" + long[:91] + "-c675a2e6 " + long + ".csv",
				"u690du7269u5712/a 植物園/a.csv"},
			problems: []string{"§.csv: "},
		}, {
			name:  "two of the same name",
			files: []string{"a.csv", "A.json", "b.csv", "x/sub/c.csv", "y/sub/c.csv"},
			want:  []string{"root/b b.csv"},
			problems: []string{
				"A.json and a.csv would both be published as root/a",
				"x/sub/c.csv and y/sub/c.csv would both be published as sub/c",
			},
		}, {
			name:  "the same file twice",
			files: []string{"sub/a.csv"}, paths: []string{"sub/a.csv", "sub", "sub/../sub/a.csv"},
			want: []string{"sub/a sub/a.csv"},
		}, {
			name:     "the name of the plants is taken",
			files:    []string{"store/plants.csv", "store/pots.csv"},
			want:     []string{"store/pots store/pots.csv"},
			problems: []string{"store/plants.csv: store/plants"},
		}, {
			name: "a descriptor speaks for its folder",
			files: []string{
				`pkg/datapackage.json={"name":"garden","resources":[{"name":"beds","path":"data/b.csv"}]}`,
				"pkg/data/b.csv", "pkg/other.csv", "a.csv",
			},
			want: []string{"garden/beds pkg/data/b.csv", "root/a a.csv"},
		}, {
			name: "a descriptor that is named",
			files: []string{
				"pkg/datapackage.yml=resources: [{path: b.csv}]", "pkg/b.csv", "pkg/other.csv",
			},
			paths: []string{"pkg/datapackage.yml"},
			want:  []string{"pkg/b pkg/b.csv"},
		}, {
			name:     "two descriptors",
			files:    []string{`datapackage.json={}`, "datapackage.yaml={}"},
			problems: []string{"root has more than one descriptor"},
		}, {
			name: "an empty folder", files: []string{"sub/readme.md"}, paths: []string{"sub"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := rowstest.Folder(t, tt.files...)
			var paths []string
			for _, p := range tt.paths {
				paths = append(paths, dir+"/"+p)
			}
			if paths == nil {
				paths = []string{dir}
			}
			set := find(t, paths...)
			if diff := cmp.Diff(tt.want, refs(dir, set.Sources)); diff != "" {
				t.Errorf("sources (-want +got):\n%s", diff)
			}
			checkMessages(t, tt.problems, messages(dir, set.Errors))
		})
	}
}

// checkMessages checks that each message contains the part that is expected.
func checkMessages(t *testing.T, want, got []string) {
	t.Helper()
	if len(want) != len(got) {
		t.Errorf("got %d messages %q, want %d", len(got), got, len(want))
		return
	}
	for i := range want {
		if !strings.Contains(got[i], want[i]) {
			t.Errorf("got message %q, want %q in it", got[i], want[i])
		}
	}
}

func TestDiscover_RelativePaths(t *testing.T) {
	dir := rowstest.Folder(t, "My Garden/catalog.csv", "My Garden/sub/b.csv")
	t.Chdir(filepath.Join(dir, "My Garden"))
	for _, tt := range []struct {
		path string
		want []string
	}{
		{"catalog.csv", []string{"my-garden/catalog catalog.csv"}},
		{"./catalog.csv", []string{"my-garden/catalog catalog.csv"}},
		{".", []string{"my-garden/catalog catalog.csv", "sub/b sub/b.csv"}},
		{"sub", []string{"sub/b sub/b.csv"}},
		{"../My Garden/sub/", []string{"sub/b ../My Garden/sub/b.csv"}},
	} {
		set := find(t, tt.path)
		if err := set.Err(); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, refs(dir, set.Sources)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.path, diff)
		}
	}
	if find(t, "").Err() == nil {
		t.Error("an empty path is accepted")
	}
}

func TestDiscover_Links(t *testing.T) {
	t.Parallel()
	dir := rowstest.Folder(t, "a/x.csv", "b/y.csv", "b/real.data")
	for _, link := range [][2]string{
		{"..", "a/up"}, {".", "a/self"}, {"../b", "a/b2"}, {"../a", "b/a2"}, {"real.data", "b/linked.csv"},
		{"nowhere.csv", "b/gone.csv"},
		{"nowhere", "b/gone"},
	} {
		if err := os.Symlink(link[0], filepath.Join(dir, link[1])); err != nil {
			t.Skipf("this system makes no links: %v", err)
		}
	}
	set := find(t, dir)
	want := []string{
		"a/x a/x.csv", "a2/x b/a2/x.csv", "b/linked b/linked.csv", "b/y b/y.csv", "b2/linked a/b2/linked.csv",
		"b2/y a/b2/y.csv",
	}
	if diff := cmp.Diff(want, refs(dir, set.Sources)); diff != "" {
		t.Errorf("sources (-want +got):\n%s", diff)
	}
	checkMessages(t, []string{"a/b2/gone.csv: ", "b/gone.csv: "}, messages(dir, set.Errors))
}

func TestDiscover_Device(t *testing.T) {
	t.Parallel()
	dir := rowstest.Folder(t, "a.csv")
	device := filepath.Join(dir, "null.csv")
	if err := os.Symlink(os.DevNull, device); err != nil {
		t.Skipf("this system makes no links: %v", err)
	}
	set := find(t, dir)
	checkMessages(t, []string{"null.csv: leads out of the folder"}, messages(dir, set.Errors))
	if len(set.Sources) != 1 {
		t.Errorf("a device in a folder: got %+v", set)
	}
	for _, err := range []error{
		find(t, device).Err(),
		func() error {
			_, err := ingest.Inspect(t.Context(), ingest.Source{Path: device}, ingest.Options{})
			return err
		}(),
	} {
		if err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("a device that is named: got error %v", err)
		}
	}
}

func TestAs(t *testing.T) {
	t.Parallel()
	dir := rowstest.Folder(t, "植物.csv", "x.txt", "x.pdf=%PDF-1.7", `many.json={"a":[{"x":1}],"b":[{"x":1}]}`,
		`one/datapackage.json={"resources":[{"path":"a.csv","title":"A"}]}`, "one/a.csv", "two/a.csv", "two/b.csv")
	ref := herb.Ref{Namespace: "my", Name: "own"}
	f := discover.New(discover.Options{Formats: ingest.Formats()})
	for _, tt := range []struct {
		path, want, problem string
		ref                 herb.Ref
	}{
		{path: "植物.csv", ref: ref, want: "my/own 植物.csv"},
		{path: "one", ref: ref, want: "my/own one/a.csv"},
		{path: "one/datapackage.json", ref: ref, want: "my/own one/a.csv"},
		{path: "x.txt", ref: ref, want: "my/own x.txt"},
		{path: "many.json", ref: ref, problem: "many.json has 2 tables; name one of them, such as many.json#a: a, b"},
		{path: "many.json#b", ref: ref, want: "my/own many.json#b"},
		{path: "two", ref: ref, problem: "two contains 2 datasets"},
		{path: "none.csv", ref: ref, problem: "none.csv: no such file"},
		{path: "x.pdf", ref: ref, problem: "x.pdf: the file is a PDF document"},
		{path: "植物.csv", ref: herb.PlantsRef, problem: "植物.csv: store/plants"},
	} {
		s, err := f.As(t.Context(), dir+"/"+tt.path, tt.ref)
		if tt.problem != "" {
			if err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), dir+"/", ""), tt.problem) {
				t.Errorf("%s: got error %v, want %s", tt.path, err, tt.problem)
			}
		} else if got := refs(dir, []descriptor.Source{s}); err != nil || got[0] != tt.want {
			t.Errorf("%s: got %s and error %v, want %s", tt.path, got[0], err, tt.want)
		}
	}
	if _, err := f.As(t.Context(), dir+"/none", ref); herb.CodeOf(err) != herb.CodeNotFound {
		t.Errorf("a path that does not exist: got %#v", err)
	}
}

// TestDiscover_Folders lists the folders in which changes may lead to other sources: not the data
// folder, but those of the files that a descriptor refers to, even if the file is missing.
func TestDiscover_Folders(t *testing.T) {
	t.Parallel()
	dir := rowstest.Folder(t, "a.csv", "sub/b.csv", "herbarium-data/x.csv", ".git/x.csv", "pkg/data/x.csv",
		"pkg/other/y.csv", "pkg/schemas/s.json={}",
		`pkg/datapackage.json={"resources":[{"path":"data/none.csv"},{"path":"data/x.csv","schema":"schemas/s.json"},{"path":"none/x.csv"}]}`)
	f := discover.New(discover.Options{Formats: ingest.Formats(), Data: dir + "/herbarium-data"})
	set := f.Discover(t.Context(), []string{dir, dir + "/none.csv"})
	slices.Sort(set.Folders)
	want := []string{dir, dir + "/pkg", dir + "/pkg/data", dir + "/pkg/schemas", dir + "/sub"}
	if diff := cmp.Diff(want, slices.Compact(set.Folders)); diff != "" {
		t.Errorf("folders (-want +got):\n%s", diff)
	}
}
