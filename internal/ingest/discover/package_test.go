package discover_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/ingest/descriptor"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/rowstest"
)

// TestPackage reads packages like those that are published, of all versions of the standard, and
// compares the listings.
func TestPackage(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name       string
		descriptor string
		files      []string
		want       []string // per dataset: name, fields with types, the first record
		notes      []string
		problems   []string
	}{
		{
			name: "first edition: url, id, label, licence",
			descriptor: `{"name": "gold-prices", "title": "Gold", "licence": [{"id": "odc-pddl"}], "base": "http://data.example/",
				"resources": [{"url": "data/monthly.csv", "schema": {"fields": [
					{"id": "date", "label": "Month", "type": "date", "format": "YYYY-MM-DD"}, {"id": "price", "type": "float"}]}}]}`,
			files: []string{"data/monthly.csv=date,price\n1950-01-01,34.730\n"},
			want:  []string{`gold-prices/monthly [date date|price number] ["1950-01-01" "34.730"]`},
		}, {
			name: "second edition: profile, dialect with its version, string key",
			descriptor: `{"profile": "tabular-data-package", "name": "country-codes", "views": [], "datahub": {"type": "derived"},
				"resources": [{"profile": "tabular-data-resource", "name": "Country Codes", "path": "data/codes.txt", "encoding": "utf-8",
					"dialect": {"csvddfVersion": 1.2, "delimiter": "|", "doubleQuote": true, "lineTerminator": "\r\n", "quoteChar": "\"",
						"skipInitialSpace": false, "header": true, "caseSensitiveHeader": false},
					"schema": {"primaryKey": "code", "missingValues": ["", "-", "n/a"], "fields": [
						{"name": "code", "type": "string", "constraints": {"required": true, "pattern": "^[0-9]+$"}},
						{"name": "people", "type": "integer"}, {"name": "founded", "type": "date", "format": "any"},
						{"name": "seen", "type": "date", "format": "%d/%m/%Y"}, {"name": "open", "type": "boolean"},
						{"name": "place", "type": "geopoint"}, {"name": "note", "type": "any"}]}}]}`,
			files: []string{"data/codes.txt=code|people|founded|seen|open|place|note\n004|-|1919-08-19|01/02/2024|true|33.9, 67.7|n/a\n008|12||||1, 2|7\n"},
			want: []string{`country-codes/country-codes key=code [code text|people number|founded date|seen date|open boolean|place text|note number] ` +
				`["004" "" "1919-08-19" "01/02/2024" "true" "33.9, 67.7" ""]`},
		}, {
			name: "third edition: schema url, fieldsMatch, labelled missing values, lists, categories",
			descriptor: `{"$schema": "https://datapackage.org/profiles/2.0/datapackage.json", "name": "deployments", "version": "2.0",
				"contributors": [{"title": "A", "roles": ["author"]}],
				"resources": [{"name": "d", "type": "table", "path": "d.csv", "schema": {
					"$schema": "https://datapackage.org/profiles/2.0/tableschema.json", "fieldsMatch": "subset",
					"missingValues": [{"value": "-99", "label": "not observed"}, {"value": "", "label": "omitted"}], "primaryKey": ["id"],
					"foreignKeys": [{"fields": ["id"], "reference": {"resource": "x", "fields": ["id"]}}], "uniqueKeys": [["id"]],
					"fields": [{"name": "id", "type": "string"}, {"name": "count", "type": "integer", "missingValues": ["x"]},
						{"name": "tags", "type": "list", "delimiter": ","}, {"name": "parts", "type": "string"},
						{"name": "kind", "type": "string", "categories": [{"value": "a", "label": "A"}], "categoriesOrdered": true},
						{"name": "month", "type": "yearmonth"}, {"name": "y", "type": "year"}]}}]}`,
			files: []string{"d.csv=extra,id,count,tags,parts,kind,month,y\n1,-99,x,\"a,b\",c;d,a,2024-01,2024\n2,p,-99,a,c,a,2024-02,2023\n"},
			want: []string{`deployments/d key=id [id text|count number|tags list|parts text|kind text|month date|y number] ` +
				`["" "" "a,b" "c;d" "a" "2024-01" "2024"]`},
			notes: []string{
				"foreignKeys are not checked",
				"not exposed, because the schema does not list it: extra",
			},
		}, {
			name: "schema and dialect in files, nested members of a program",
			descriptor: `{"name": "n", "resources": [{"path": "a.csv", "schema": "schemas/a.json", "dialect": "dialect.json"},
				{"path": "b.csv", "dialect": {"csv": {"delimiter": "\\t"}}, "layout": {"headerRows": [1]}}]}`,
			files: []string{
				"a.csv=x;y\n1;2\n", "b.csv=x\ty\n1\t2\n", `dialect.json={"delimiter": ";"}`,
				`schemas/a.json={"fields": [{"name": "y", "type": "string"}]}`,
			},
			want:  []string{`n/a [y text] ["2"]`, `n/b [x number|y number] ["1" "2"]`},
			notes: []string{"not exposed, because the schema does not list it: x"},
		}, {
			name: "schema at an address",
			descriptor: `{"name": "camera", "profile": "https://raw.example/profile.json", "resources": [{"name": "deployments", "path": "d.csv",
				"profile": "tabular-data-resource", "schema": "https://raw.example/deployments-table-schema.json"}]}`,
			files: []string{"d.csv=id,lat\nx,52.1\n"},
			want:  []string{`camera/deployments [id text|lat number] ["x" "52.1"]`},
			notes: []string{"the schema at https://raw.example/deployments-table-schema.json is not fetched"},
		}, {
			name: "names that differ in blanks, marks and case",
			descriptor: `{"name": "n", "resources": [{"path": "a.csv", "schema": {"fields": [
				{"name": " Id"}, {"name": "price"}, {"name": "\ufeffname"}]}}]}`,
			files: []string{"a.csv=name,Id,Price,more\nrose,1,2,3\n"},
			want:  []string{`n/a [ Id number|price number|` + "\ufeff" + `name text] ["1" "2" "rose"]`},
			notes: []string{`field "price" is column "Price", which differs in upper and lower case`,
				"not exposed, because the schema does not list it: more"},
		}, {
			name: "names that differ altogether",
			descriptor: `{"name": "n", "resources": [{"path": "a.csv", "schema": {"fields": [
				{"name": "country", "type": "string"}, {"name": "year", "type": "year"}]}}]}`,
			files:    []string{"a.csv=Country Name,year\nFrance,1999\n"},
			problems: []string{`a.csv: field "country": no such column "country"; columns: Country Name, year`},
		}, {
			name: "fields without a column",
			descriptor: `{"name": "n", "resources": [{"path": "a.csv", "schema": {"primaryKey": ["gone"], "fields": [
				{"name": "a"}, {"name": "gone"}, {"name": "lost"}]}}]}`,
			files: []string{"a.csv=a,b\n1,2\n"},
			want:  []string{`n/a [a number] ["1"]`},
			notes: []string{
				"no column was found for what the schema describes as gone, lost; it is left out",
				"not exposed, because the schema does not list it: b",
				`the primary key is not used, because there is no field "gone"`,
			},
		}, {
			name: "a schema for another file",
			descriptor: `{"name": "n", "resources": [{"path": "a.csv", "schema": {"fieldsMatch": ["equal"], "fields": [{"name": "x"}, {"name": "y"}]}},
				{"path": "b.csv"}]}`,
			files:    []string{"a.csv=a,b\n1,2\n", "b.csv"},
			want:     []string{`n/b [a number] ["1"]`},
			problems: []string{`a.csv: field "x": no such column "x"; columns: a, b`},
		}, {
			name:       "JSON",
			descriptor: `{"name": "n", "resources": [{"path": "a.json", "schema": {"fields": [{"name": "a"}, {"name": "x"}]}}]}`,
			files:      []string{`a.json=[{"a":1,"b":2}]`},
			problems:   []string{`a.json: field "x": no such column "x"; columns: a, b`},
		}, {
			name:       "a file without names: by position",
			descriptor: `{"name": "n", "resources": [{"path": "a.csv", "dialect": {"header": false}, "schema": {"fields": [{"name": "a"}, {"name": "x"}]}}]}`,
			files:      []string{"a.csv=1,2\n"},
			want:       []string{`n/a [a number|x number] ["1" "2"]`},
		}, {
			name: "fields of the same name and of none",
			descriptor: `{"name": "n", "resources": [{"path": "a.csv", "schema": {"fields": [
				{"name": "", "type": "integer"}, {"name": "total"}, {"name": "total"}]}}]}`,
			files: []string{"a.csv=,total,total\n0,1,2\n"},
			want:  []string{`n/a [column_1 number|total number|total_2 number] ["0" "1" "2"]`},
		}, {
			name: "numbers and dates of other countries",
			descriptor: `{"name": "n", "resources": [{"path": "a.csv", "schema": {"fields": [
				{"name": "a", "type": "number", "decimalChar": ","}, {"name": "b", "type": "number", "groupChar": ".", "decimalChar": ","},
				{"name": "c", "type": "integer", "bareNumber": false}, {"name": "d", "type": "date", "format": "%d.%m.%Y"},
				{"name": "e", "type": "date", "format": "fmt:%Y-%m-%d"}, {"name": "f", "type": "any"}]}}]}`,
			files: []string{"a.csv=a;b;c;d;e;f\n1,5;1.234;5 €;06.07.2024;2024-01-01;8\n"},
			want:  []string{`n/a [a number|b number|c number|d date|e date|f number] ["1,5" "1.234" "5 €" "06.07.2024" "2024-01-01" "8"]`},
		}, {
			name: "what is no table is told, what cannot be read reported, the rest published",
			descriptor: `{"name": "mixed", "resources": [{"name": "logo", "path": "logo.png", "mediatype": "image/png"},
				{"name": "map", "path": "map.zip"}, {"name": "far", "path": "https://data.example/far.csv"}, {"name": "ok", "path": "ok.csv"},
				{"name": "odd", "path": "odd.csv", "format": "xls"}]}`,
			files: []string{"ok.csv", "odd.csv", "logo.png", "map.zip"},
			want:  []string{`mixed/odd [a number] ["1"]`, `mixed/ok [a number] ["1"]`},
			notes: []string{
				`resources[4].format is "xls"`, "skipped: resources[0] (logo.png) ", "skipped: resources[1] (map.zip) ",
			},
			problems: []string{`datapackage.json: resources[2].path is "https://data.example/far.csv", a URL`},
		}, {
			name: "files one folder below, and JSON that is no table",
			descriptor: `{"name": "n", "resources": [{"name": "a", "path": "a.csv", "schema": {"fields": [{"name": "a", "herbarium": {}}]}},
				{"name": "world", "path": "world.json", "format": "topojson"}]}`,
			files: []string{"data/a.csv=a,hidden\n1,2\n", "data/world.json={}"},
			want:  []string{`n/a [a number] ["1"]`},
			notes: []string{"skipped: resources[1] (world.json) "},
		}, {
			name:       "resources of the same name",
			descriptor: `{"name": "n", "resources": [{"name": "a b", "path": "a.csv"}, {"name": "A-B", "path": "b.csv"}, {"name": "c", "path": "b.csv"}]}`,
			files:      []string{"a.csv", "b.csv"},
			want:       []string{`n/c [a number] ["1"]`},
			problems:   []string{"a.csv and b.csv would both be published as n/a-b"},
		}, {
			name: "members of the wrong type where it does not matter",
			descriptor: `{"name": 2024, "title": {"en": "T"}, "keywords": "none", "licenses": {}, "resources": [{"name": 7, "path": "a.csv",
				"title": ["x"], "description": null, "bytes": "many", "schema": {"fields": [{"name": 1, "title": 5}]}}]}`,
			files: []string{"a.csv=1\n2\n"},
			want:  []string{`2024/7 [1 number] ["2"]`},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := rowstest.Folder(t, append(tt.files, "datapackage.json="+tt.descriptor)...)
			set := find(t, dir)
			var got, notes []string
			for _, s := range set.Sources {
				table, err := ingest.Inspect(t.Context(), s, ingest.Options{})
				if err != nil {
					set.Errors = append(set.Errors, err)
					continue
				}
				defer table.Close()
				got = append(got, sketch(t, table))
				notes = append(notes, table.Dataset.Report.Notes...)
			}
			for _, s := range set.Skipped {
				notes = append(notes, "skipped: "+s.Reason)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("datasets (-want +got):\n%s", diff)
			}
			checkMessages(t, tt.notes, notes)
			checkMessages(t, tt.problems, messages(dir, set.Errors))
		})
	}
}

// sketch describes a table in one line: its name, fields and first record.
func sketch(t *testing.T, table *ingest.Table) string {
	t.Helper()
	d := table.Dataset
	var fields []string
	for _, f := range d.Fields {
		fields = append(fields, f.Name+" "+string(f.Type))
	}
	key := ""
	if len(d.PrimaryKey) > 0 {
		key = "key=" + strings.Join(d.PrimaryKey, ",") + " "
	}
	for r, err := range table.Records(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%s %s[%s] %q", d.Ref, key, strings.Join(fields, "|"), []string(r))
	}
	return fmt.Sprintf("%s %s[%s]", d.Ref, key, strings.Join(fields, "|"))
}

// TestPackage_Settings reads each setting of a resource, from JSON and from YAML.
func TestPackage_Settings(t *testing.T) {
	t.Parallel()
	const asJSON = `{"name":"n","resources":[{"name":"r","path":["a.csv","b.csv"],"encoding":"Latin-1","compression":"gz","mediatype":"text/csv",
		"dialect":{"delimiter":";","quoteChar":"'","doubleQuote":false,"escapeChar":"\\","skipInitialSpace":true,"commentChar":"#","commentRows":[3],
			"nullSequence":"NULL","headerRows":[1,2],"headerJoin":"-","property":"data.items","itemKeys":["a","b"],"sheetName":"S","sheetNumber":2,"table":"t"},
		"schema":{"fields":[{"name":"a","herbarium":{"weight":3}}]},
		"herbarium":{"order":{"field":"a","order":"desc"},"include":{"s":["p",1.50],"t":true},
			"expectations":[{"query":"?a=1","total":2,"first":{"a":1.0,"b":null}},{"query":"","min":0,"max":3}]}}]}`
	const asYAML = `
name: n
resources:
  - name: r
    path: [a.csv, b.csv]
    encoding: Latin-1
    compression: gz
    mediatype: text/csv
    dialect: {delimiter: ";", quoteChar: "'", doubleQuote: false, escapeChar: '\', skipInitialSpace: true, commentChar: "#", commentRows: [3],
      nullSequence: "NULL", headerRows: [1, 2], headerJoin: "-", property: data.items, itemKeys: [a, b], sheetName: S, sheetNumber: 2, table: t}
    schema: {fields: [{name: a, herbarium: {weight: 3}}]}
    herbarium:
      order: {field: a, order: desc}
      include: {s: [p, 1.50], t: true}
      expectations: [{query: "?a=1", total: 2, first: {a: 1.0, b: null}}, {query: "", min: 0, max: 3}]
`
	for name, text := range map[string]string{"datapackage.json": asJSON, "datapackage.yaml": asYAML,
		"other.json": asJSON, "other.yml": asYAML} {
		dir := rowstest.Folder(t, "a.csv", "b.csv", name+"="+text)
		set := find(t, filepath.Join(dir, name))
		if err := set.Err(); err != nil {
			t.Fatal(err)
		}
		got := set.Sources
		got[0].Descriptor, got[0].Settings = nil, herb.Settings{}
		want := []descriptor.Source{{
			Ref: herb.Ref{Namespace: "n", Name: "r"}, Path: dir + "/a.csv", Root: dir,
			MoreFiles: []string{dir + "/b.csv"},
			Format:    "csv",
			Dialect: rows.Options{
				Encoding:  "Latin-1",
				Delimiter: ';', Quote: '\'', NoDoubleQuote: true, Escape: '\\', SkipInitialSpace: true, Comment: "#",
				CommentRows: []int{3},
				Null:        "NULL", HeaderRows: []int{1, 2}, HeaderJoin: "-", Table: "t", ItemKeys: []string{"a", "b"},
				TableNo: 2,
			},
			Fields: []descriptor.FieldSetting{{Name: "a", Weight: 3}}, ByPosition: true,
			Order: herb.Order{Field: "a", Desc: true},
			Include: []descriptor.Condition{{Column: "s", Values: []string{"p", "1.50"}},
				{Column: "t", Values: []string{"true"}}},
			Expectations: []herb.Expectation{
				{Query: "a=1", Total: new(2), First: map[string]string{"a": "1.0", "b": ""}},
				{Min: new(0), Max: new(3)}},
		}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestPackage_Inline(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ resource, format, content, ref string }{
		{`"data":[{"a":1.10,"b":[{"c":null}]}]`, "json", `[{"a":1.10,"b":[{"c":null}]}]`, "n/resource-1"},
		{`"name":"x","data":[["a","b"],[1,"<&>"]]`, "json", `[["a","b"],[1,"<&>"]]`, "n/x"},
		{`"name":"x","data":{"rows":[]}`, "json", `{"rows":[]}`, "n/x"},
		{`"name":"x","format":"csv","data":"a,b\n1,2\n"`, "csv", "a,b\n1,2\n", "n/x"},
	} {
		dir := rowstest.Folder(t, `datapackage.json={"name":"n","resources":[{`+tt.resource+`}]}`)
		set := find(t, dir)
		if err := set.Err(); err != nil {
			t.Errorf("%s: %v", tt.resource, err)
			continue
		}
		got := set.Sources
		content, err := io.ReadAll(got[0].Input)
		if s := got[0]; err != nil || s.Format != tt.format || string(content) != tt.content ||
			s.Ref.String() != tt.ref || s.Path != dir+"/datapackage.json" {
			t.Errorf("%s: got %s from %s, %s, %s", tt.resource, s.Ref, s.Path, s.Format, content)
		}
		if strings.Contains(string(got[0].Descriptor), `"data"`) {
			t.Errorf("%s: the descriptor keeps the records: %s", tt.resource, got[0].Descriptor)
		}
	}
}

func TestPackage_LinksOut(t *testing.T) {
	t.Parallel()
	dir := rowstest.Folder(t, "pkg/in.csv", "secret.csv",
		`pkg/datapackage.json={"name":"n","resources":[{"path":"out.csv"},{"path":"up/secret.csv"},{"path":"same.csv"}]}`)
	for link, to := range map[string]string{"out.csv": "../secret.csv", "up": "..", "same.csv": "in.csv"} {
		if err := os.Symlink(to, filepath.Join(dir, "pkg", link)); err != nil {
			t.Skipf("this system makes no links: %v", err)
		}
	}
	set := find(t, dir+"/pkg")
	if diff := cmp.Diff([]string{"n/same pkg/same.csv"}, refs(dir, set.Sources)); diff != "" {
		t.Errorf("sources (-want +got):\n%s", diff)
	}
	checkMessages(t, []string{
		`resources[0].path is "out.csv", a link that leads out`,
		`resources[1].path is "up/secret.csv", a link that leads out`,
	}, messages(dir, set.Errors))
}

// TestPackage_Records checks that a JSON file with records in a member called resources is not read
// as a descriptor.
func TestPackage_Records(t *testing.T) {
	t.Parallel()
	dir := rowstest.Folder(t, `x.json={"resources":[{"id":1,"name":"a"}]}`, `y.json=[{"resources":1}]`)
	for _, name := range []string{"x.json", "y.json"} {
		set := find(t, filepath.Join(dir, name))
		if set.Err() != nil || len(set.Sources) != 1 || set.Sources[0].Path != filepath.Join(dir, name) {
			t.Errorf("%s: got %+v", name, set)
		}
	}
}

// TestDiscover_unlisted finds tables beside a descriptor that does not list them: they are skipped,
// with the dataset that they would be. Files that the descriptor names, and files that are no
// tables, are not among them.
func TestDiscover_unlisted(t *testing.T) {
	t.Parallel()
	dir := rowstest.Folder(t,
		`shop/datapackage.yaml=resources: [{name: a, path: a.csv, schema: s.json}, {name: logo, path: logo.json, format: topojson}]`,
		"shop/a.csv=x\n1\n", `shop/s.json={"fields":[{"name":"x"}]}`, "shop/logo.json=[]", "shop/b.csv=x\n1\n",
		"shop/sub/c.csv=x\n1\n", "shop/notes.md=# Notes\n",
		"other/d.csv=x\n1\n")
	set := find(t, dir)
	if diff := cmp.Diff([]string{"other/d other/d.csv", "shop/a shop/a.csv"}, refs(dir, set.Sources)); diff != "" ||
		set.Err() != nil {
		t.Fatalf("error %v (-want +got):\n%s", set.Err(), diff)
	}
	var got []string
	for _, s := range set.Skipped {
		if s.Ref != (herb.Ref{}) {
			got = append(got, s.Ref.String()+" "+strings.TrimPrefix(s.Path, dir+"/"))
			if want := filepath.Join(dir, "shop/datapackage.yaml") +
				" does not list it; add it to its resources"; !strings.HasPrefix(s.Reason, want) {
				t.Errorf("%s: reason %q", s.Path, s.Reason)
			}
		}
	}
	if diff := cmp.Diff([]string{"shop/b shop/b.csv", "sub/c shop/sub/c.csv"}, got); diff != "" {
		t.Errorf("skipped (-want +got):\n%s", diff)
	}
}
