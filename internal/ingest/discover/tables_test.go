package discover_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/ingest/descriptor"
	"herbarium/internal/ingest/discover"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/rowstest"
)

// workbook returns an XLSX file with sheets of inline strings: name, rows, name, rows, …. Cells are
// separated by blanks, rows by semicolons.
func workbook(t *testing.T, sheets ...string) string {
	t.Helper()
	const main = `xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"`
	list, relations := "", ""
	var parts []string
	for i := 0; i < len(sheets); i += 2 {
		id := string(rune('1' + i/2))
		list += `<sheet name="` + sheets[i] + `" sheetId="` + id + `" r:id="rId` + id + `"/>`
		relations += `<Relationship Id="rId` + id +
			`" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet` + id + `.xml"/>`
		content := ""
		for _, row := range strings.Split(sheets[i+1], ";") {
			content += "<row>"
			for _, cell := range strings.Fields(row) {
				content += `<c t="inlineStr"><is><t>` + cell + `</t></is></c>`
			}
			content += "</row>"
		}
		parts = append(parts, "xl/worksheets/sheet"+id+".xml="+`<worksheet `+main+`><sheetData>`+content+
			`</sheetData></worksheet>`)
	}
	return rowstest.Zip(t, append([]string{
		`[Content_Types].xml=<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>`,
		`_rels/.rels=<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" ` +
			`Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
		`xl/workbook.xml=<workbook ` + main + `><sheets>` + list + `</sheets></workbook>`,
		`xl/_rels/workbook.xml.rels=<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` + relations + `</Relationships>`,
	}, parts...)...)
}

func TestDiscover_Tables(t *testing.T) {
	t.Parallel()
	dir := rowstest.Folder(t, "odd#name.csv",
		`graph.json={"nodes":[{"id":1},{"id":2}],"edges":[{"from":1},{"from":2}]}`, `one.json={"data":[{"a":1}]}`,
		"book.xlsx="+workbook(t, "Notes", "see", "Prices 2024", "code price;a 1;b 2;c 3", "Stock",
			"code n;a 1;b 2;c 3"), "Thumbs.db=something else")
	database(t, dir+"/many.db", `CREATE TABLE "Plant List" (a)`, `CREATE TABLE beds (a)`,
		`CREATE VIEW v AS SELECT 1 AS x`)
	database(t, dir+"/single.sqlite3", `CREATE TABLE t (a)`)
	for _, tt := range []struct {
		name, path string
		want       []string
		problem    string
		skipped    []string
	}{
		{"database", "many.db", []string{"root/beds many.db#beds", "root/plant-list many.db#Plant List"}, "",
			[]string{"many.db#v"}},
		{"database of one table", "single.sqlite3", []string{"root/single single.sqlite3"}, "", nil},
		{"database table", "many.db#beds", []string{"root/beds many.db#beds"}, "", nil},
		{"workbook", "book.xlsx", []string{"root/book-prices-2024 book.xlsx#Prices 2024",
			"root/book-stock book.xlsx#Stock"}, "", []string{"book.xlsx#Notes"}},
		{"sheet", "book.xlsx#Notes", []string{"root/book-notes book.xlsx#Notes"}, "", nil},
		{"JSON of several arrays", "graph.json",
			[]string{"root/graph-edges graph.json#edges", "root/graph-nodes graph.json#nodes"}, "", nil},
		{"JSON array", "graph.json#nodes", []string{"root/graph-nodes graph.json#nodes"}, "", nil},
		{"JSON of one array", "one.json", []string{"root/one one.json"}, "", nil},
		{"# in the name of a file", "odd#name.csv", []string{"root/odd-name odd#name.csv"}, "", nil},
		{"folder", "", []string{
			"root/beds many.db#beds", "root/plant-list many.db#Plant List",
			"root/book-prices-2024 book.xlsx#Prices 2024",
			"root/book-stock book.xlsx#Stock", "root/graph-edges graph.json#edges", "root/graph-nodes graph.json#nodes",
			"root/odd-name odd#name.csv", "root/one one.json", "root/single single.sqlite3",
		}, "", []string{"Thumbs.db", "book.xlsx#Notes", "many.db#v"}},
		{"table of CSV", "odd#name.csv#x", nil, "odd#name.csv has the format csv", nil},
		{"table of a folder", "#x", nil, "is a folder", nil},
		{"table of nothing", "none.db#x", nil, "none.db: no such file", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			set := find(t, strings.TrimSuffix(dir+"/"+tt.path, "/"))
			if tt.path == "#x" {
				set = find(t, dir+"#x")
			}
			if diff := cmp.Diff(tt.want, refs(dir, set.Sources)); diff != "" {
				t.Errorf("sources (-want +got):\n%s", diff)
			}
			if err := set.Err(); (err == nil) != (tt.problem == "") || err != nil &&
				!strings.Contains(err.Error(), tt.problem) {
				t.Errorf("got error %v, want %q", err, tt.problem)
			}
			var skipped []string
			for _, s := range set.Skipped {
				skipped = append(skipped, strings.TrimPrefix(s.Path, dir+"/"))
			}
			if diff := cmp.Diff(tt.skipped, skipped); diff != "" {
				t.Errorf("skipped (-want +got):\n%s", diff)
			}
			for _, s := range set.Sources {
				if _, err := listing(t, s); err != nil {
					t.Errorf("%s cannot be read: %v", s.Label(), err)
				}
			}
		})
	}
	src, err := discover.New(discover.Options{Formats: ingest.Formats()}).As(t.Context(), dir+"/many.db#beds",
		herb.Ref{Namespace: "n", Name: "d"})
	if err != nil || src.Dialect.Table != "beds" || src.Path != dir+"/many.db" || src.Ref.Name != "d" {
		t.Errorf("got %+v, error %v", src, err)
	}
}

// TestDiscover_Content publishes files of ambiguous extensions only if they are tables, and lists
// the others.
func TestDiscover_Content(t *testing.T) {
	t.Parallel()
	const table = "code,price\na,1\nb,2\nc,3\n"
	for _, tt := range []struct{ name, file, reason string }{
		{"delimited text", "a.txt=" + table, ""},
		{"delimited data", "a.dat=code|price\na|1\nb|2\nc|3\n", ""},
		{"compressed text", "a.txt.gz=" + gzipped(t, table), ""},
		{"GeoJSON", `a.geojson={"type":"FeatureCollection","features":[{"type":"Feature","properties":{"n":1},"geometry":null}]}`, ""},
		{"archive of a table", "a.zip=" + rowstest.Zip(t, "readme.md=x", "data/t.csv="+table), ""},
		{"prose", "a.txt=Read me\n\nThis folder has prices, which are, in general, in euros.\nAsk us.\n",
			"not a table"},
		{"prose with a comma", "a.txt=Read me, please.\nThanks.\n", "not a table"},
		{"greeting", "a.txt=Dear all,\nsee the prices, please.\nThe staff\n", "not a table"},
		{"empty text", "a.txt=", "empty"},
		{"web page", "a.txt=<!DOCTYPE html>\n<html>", "web page"},
		{"archive of no table", "a.zip=" + rowstest.Zip(t, "a.xml=x", "b.shp="+table), "no table"},
		{"other extension", "a.md=# Title\n", `".md"`},
		{"no extension", "a=" + table, `""`},
		{"archive of unknown content", "a.tar.gz=x", `".tar"`},
		{"compressed, no extension", "a.gz=x", `".gz"`},
		{"other database", "a.db=something else", "SQLite"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := rowstest.Folder(t, tt.file)
			set := find(t, dir)
			if err := set.Err(); err != nil {
				t.Fatal(err)
			}
			if tt.reason == "" {
				if len(set.Sources) != 1 || len(set.Skipped) != 0 || set.Sources[0].Ref.Name != "a" {
					t.Fatalf("got %+v", set)
				}
				if got, err := listing(t, set.Sources[0]); err != nil || len(got) < 2 {
					t.Errorf("got %q, error %v", got, err)
				}
			} else if len(set.Sources) != 0 || len(set.Skipped) != 1 || filepath.Dir(set.Skipped[0].Path) != dir ||
				!strings.Contains(set.Skipped[0].Reason, tt.reason) {
				t.Errorf("got %+v, want reason %q", set, tt.reason)
			}
		})
	}
}

// TestDiscover_Options applies settings to files without a descriptor.
func TestDiscover_Options(t *testing.T) {
	t.Parallel()
	dir := rowstest.Folder(t, "a.csv=1;2\n3;4\n", `pkg/datapackage.json={"resources":[{"path":"b.csv"}]}`,
		"pkg/b.csv=x\n1\n")
	f := discover.New(discover.Options{Formats: ingest.Formats(),
		Reading: descriptor.Reading{Format: "csv", Dialect: rows.Options{Header: rows.HeaderNone}}})
	set := f.Discover(t.Context(), []string{dir})
	if set.Err() != nil || len(set.Sources) != 2 {
		t.Fatalf("got %+v", set)
	}
	if b, a := set.Sources[0], set.Sources[1]; b.Dialect.Header != rows.HeaderDetect ||
		a.Dialect.Header != rows.HeaderNone || a.Format != "csv" {
		t.Errorf("got %+v and %+v", a, b)
	}
}

// TestDiscover_Cache lists the tables of a file again only if it changed.
func TestDiscover_Cache(t *testing.T) {
	t.Parallel()
	dir := rowstest.Folder(t, "a.x=one two")
	calls := 0
	tables := func(ctx context.Context, f rows.File, _ rows.Options, _ *rows.Budget) (found []rows.Table, err error) {
		calls++
		in, err := f.Open()
		if err != nil {
			return nil, err
		}
		defer in.Close()
		var b bytes.Buffer
		_, err = b.ReadFrom(in)
		for _, name := range strings.Fields(b.String()) {
			found = append(found, rows.Table{Name: name})
		}
		return found, err
	}
	f := discover.New(discover.Options{Formats: []rows.Format{{Name: "x", Extensions: []string{".x"}, Tables: tables}}})
	check := func(wantCalls int, want ...string) {
		t.Helper()
		set := f.Discover(t.Context(), []string{dir})
		if diff := cmp.Diff(want, refs(dir, set.Sources)); diff != "" || calls != wantCalls {
			t.Errorf("after %d calls, want %d (-want +got):\n%s", calls, wantCalls, diff)
		}
	}
	check(1, "root/a-one a.x#one", "root/a-two a.x#two")
	check(1, "root/a-one a.x#one", "root/a-two a.x#two")
	rowstest.WriteFile(t, dir, "a.x", "one two three")
	check(2, "root/a-one a.x#one", "root/a-three a.x#three", "root/a-two a.x#two")
	if err := os.Remove(dir + "/a.x"); err != nil {
		t.Fatal(err)
	}
	check(2)
	rowstest.WriteFile(t, dir, "a.x", "one two three")
	check(3, "root/a-one a.x#one", "root/a-three a.x#three", "root/a-two a.x#two")
	rowstest.WriteFile(t, dir, "a.x", strings.Repeat("t ", 1001))
	if set := f.Discover(t.Context(), []string{dir}); len(set.Sources) > 0 || set.Err() == nil ||
		!strings.Contains(set.Err().Error(), "1001 tables") {
		t.Errorf("got %d sources, error %v", len(set.Sources), set.Err())
	}
}

// TestTables_SharedBudget reads the tables of a file, each of which is within the budget of the
// file on its own. They share one budget.
func TestTables_SharedBudget(t *testing.T) {
	t.Parallel()
	records := strings.Repeat(`,{"a":1}`, 400_000)[1:]
	dir := rowstest.Folder(t, "x.json.gz="+rowstest.Gzip(`{"v1":[`+records+`],"v2":[`+records+`]}`))
	for i, s := range find(t, dir).Sources {
		table, err := ingest.Inspect(t.Context(), s, ingest.Options{})
		if i == 0 && err == nil {
			err = table.Close()
		} else if i == 1 && herb.CodeOf(err) == herb.CodeInvalid {
			err = nil
		}
		if err != nil || i > 1 {
			t.Errorf("%s: got error %v", s.Label(), err)
		}
	}
}

// TestDiscover_Shared reads all tables of files that are opened once. A copy has no name once it is
// open, so that nothing is left by a killed process. A table that is read again is read on its own.
func TestDiscover_Shared(t *testing.T) {
	t.Parallel()
	dir := rowstest.Folder(t, "book.xlsx="+workbook(t, "B", "a b;1 2", "S", "a b;1 2", "Y", "a b;1 2"))
	database(t, filepath.Join(dir, "many.db"), `CREATE TABLE beds (a, b)`, `INSERT INTO beds VALUES (1, 2)`,
		`CREATE TABLE zoo (a, b)`, `INSERT INTO zoo VALUES (1, 2)`, `CREATE TABLE ants (a, b)`,
		`INSERT INTO ants VALUES (1, 2)`)
	temp := t.TempDir()
	list := func(src descriptor.Source) {
		t.Helper()
		table, err := ingest.Inspect(t.Context(), src, ingest.Options{Temp: temp})
		if err != nil {
			t.Fatal(err)
		}
		defer table.Close()
		for r, err := range table.Records(t.Context()) {
			if diff := cmp.Diff(herb.Record{"1", "2"}, r); err != nil || diff != "" {
				t.Errorf("%s: error %v (-want +got):\n%s", src.Label(), err, diff)
			}
		}
		if entries, err := os.ReadDir(temp); err != nil || len(entries) > 0 {
			t.Errorf("%s: %d named files, error %v", src.Label(), len(entries), err)
		}
	}
	finder := discover.New(discover.Options{Formats: ingest.Formats()})
	for i, src := range finder.Discover(t.Context(), []string{dir}).Sources {
		if i == 1 { // a watcher searches again meanwhile
			src = finder.Discover(t.Context(), []string{dir}).Sources[i]
		}
		list(src)
		src.Release()
	}
	for _, src := range finder.Discover(t.Context(), []string{dir}).Sources { // each for itself
		list(src)
	}
}
