package describe_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/ingest/describe"
	"herbarium/internal/ingest/descriptor"
	"herbarium/internal/ingest/discover"
	"herbarium/internal/ingest/rowstest"
	"herbarium/internal/testseed"
)

func newFinder() *discover.Finder {
	return discover.New(discover.Options{Formats: ingest.Formats(), SkipEmptyDescriptors: true})
}

// write returns the descriptor of a path as JSON or YAML.
func write(t *testing.T, path string, yaml bool) ([]byte, error) {
	t.Helper()
	var b bytes.Buffer
	_, err := describe.Write(t.Context(), &b, path, newFinder().Discover(t.Context(), []string{path}),
		describe.Options{YAML: yaml})
	return b.Bytes(), err
}

// find returns the sources at a path.
func find(t *testing.T, path string) []descriptor.Source {
	t.Helper()
	set := newFinder().Discover(t.Context(), []string{path})
	if err := set.Err(); err != nil {
		t.Fatal(err)
	}
	return set.Sources
}

// listings reads all sources at a path: for each dataset its fields, without titles, and its
// records.
func listings(t *testing.T, path string) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for _, s := range find(t, path) {
		table, err := ingest.Inspect(t.Context(), s, ingest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer table.Close()
		fields := table.Dataset.Fields
		for i := range fields {
			fields[i].Title = ""
		}
		head, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		rows := []string{string(head)}
		for r, err := range table.Records(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			rows = append(rows, fmt.Sprintf("%q", []string(r)))
		}
		out[s.Ref.String()] = rows
	}
	return out
}

// TestDescribe publishes what describe wrote, and compares the listings with those of the files
// alone.
func TestDescribe(t *testing.T) {
	t.Parallel()
	garden, err := os.ReadFile("../../../examples/garden/catalog.csv")
	if err != nil {
		t.Fatal(err)
	}
	dirs := map[string]string{"garden": rowstest.Folder(t, "catalog.csv="+string(garden))}
	odd, err := filepath.Glob("../testdata/odd/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range odd {
		content, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(t.TempDir(), "odd")
		rowstest.WriteFile(t, dir, filepath.Base(f), string(content))
		dirs[filepath.Base(f)] = dir
	}
	dirs["several files"] = rowstest.Folder(t, "a.csv=x;Ärger mit #1\n1;\"a\nb\"\n",
		"unit_prices.ndjson={\"y\":\"1\",\"null\":\"yes\",\"a: b\":\"- x\",\"\\u0007\":\"007\",\"c\\r\\nd\":\"1\",\" "+
			"e\\u2028 \\n\":\"1\",\"\\u0085\\ufeff\":\"\\r\"}\n",
		"c.tsv=true\tdate\nno\t2024-02-29\n", "empty.json=[]")
	dirs["notations"] = rowstest.Folder(t,
		"a.csv=price;rate;day;when;ok;flag;n;code\n1.234,50 €;5%;31/12/2024;2024-01-01T10:00:00Z;yes;true;NA;007\n"+
			"2,00 €;12%;01/02/2024;2024-01-02T10:00:00+01:00;no;false;1;008\n1.000.000,00 €;7%;;;;;2;009\n")
	dirs["notations of dates and lists"] = rowstest.Folder(t, "a.csv=day,when,subjects,seen\n"+
		strings.Repeat("1/15/18,5/14/2009 6:01:24 PM,\"[\"\"boat, sailing\"\"]\",12\n5/16/2014,5/15/2009 6:01:24 "+
			"PM,\"[\"\"church\"\"]\",-\n", 60)+
		"1/15/18,5/14/2009 6:01:24 PM,,unknown\n", `b.json=[{"a":["x"]},{"a":["y, z"]}]`)
	dirs["archive"] = rowstest.Folder(t, "a.zip="+rowstest.Zip(t, "t/stops.txt=id,name,zone\na,Harbour,1\nb,Market,2\n",
		"t/agency.txt=id,name,url\nx,Bus,y\n",
		`t/b.json={"p":[{"id":1},{"id":2}],"q":[{"id":3},{"id":4}]}`), "履歴.csv=a,b\n1,2\n")
	dirs["archive of texts"] = rowstest.Folder(t,
		"a.zip="+rowstest.Zip(t, "t/stops.txt=id,name,zone\na,Harbour,1\nb,Market,2\n",
			"t/agency.txt=id,name,url\nx,Bus,y\n"))
	dirs["layout of text"] = rowstest.Folder(t, "a.csv=Report of 2024\n\nid,name,price\n1,fern,2\n2,moss,3\n3,ivy,4\n",
		"b.csv=# exported\nid,name\n1,a\n2,b\n",
		"c.csv=1,2024-01-01,a\n2,2024-01-02,b\n3,2024-01-03,c\n",
		"d.dat=id  name  price\n1   fern  2\n2   moss  3\n3   ivy   4\n",
		`e.json={"nodes":[{"id":1},{"id":2}],"edges":[{"a":1,"b":2},{"a":2,"b":1}]}`)
	dirs["rows around a table"] = rowstest.Folder(t,
		"a.csv=,x,,y,\nid,n,m,n,m\n,kg,m,kg,m\na,1,2,3,4\nb,5,6,7,8\n\nNote: x\n",
		"b.csv=T\n\nid,n,m\n,kg,%\na,1,2\nid,n,m\nb,3,4\n,,\n\"Note: x\n\n\"\n",
		"c.csv=id,n\na,1\nb,2\nid,n\nc,3\nSource: x\n")
	for name, dir := range dirs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := listings(t, dir)
			for _, file := range []string{"datapackage.json", "datapackage.yaml"} {
				content, err := write(t, dir, file == "datapackage.yaml")
				if err != nil {
					t.Fatal(err)
				}
				if file == "datapackage.json" {
					valid(t, content)
				}
				place := filepath.Join(t.TempDir(), filepath.Base(dir))
				if err := os.CopyFS(place, os.DirFS(dir)); err != nil {
					t.Fatal(err)
				}
				rowstest.WriteFile(t, place, file, string(content))
				if diff := cmp.Diff(want, listings(t, place)); diff != "" {
					t.Errorf("%s (-of the files +of the descriptor):\n%s\n%s", file, diff, content)
				}
			}
		})
	}
}

func TestDescribe_Content(t *testing.T) {
	t.Parallel()
	dir := rowstest.Folder(t, "sub/unit_prices.csv=itemId;net price\n1;2.50\n2;3\n", "x.csv=a,b\n1,\n",
		"datapackage.json=", "bad.csv=\"a\n")
	got, err := write(t, dir, false)
	if err == nil || !strings.Contains(err.Error(), "bad.csv: line 1: the quote opened here is never closed") {
		t.Errorf("got error %v", err)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, got); err != nil {
		t.Fatal(err)
	}
	const flags = `"herbarium":{"searchable":false,"filterable":true,"sortable":true}}`
	const want = `{"$schema":"https://datapackage.org/profiles/2.0/datapackage.json","name":"root","resources":[` +
		`{"name":"x","type":"table","title":"X","path":"x.csv","format":"csv","dialect":{"delimiter":","},` +
		`"schema":{"fields":[{"name":"a","title":"A","type":"number","example":"1",` + flags +
		`,{"name":"b","title":"B","type":"string","herbarium":{"searchable":true,"filterable":true,"sortable":true}}` +
		`]},"herbarium":{"access":"open"}},` +
		`{"name":"sub-unit_prices","type":"table","title":"Unit prices","path":"sub/unit_prices.csv","format":"csv","dialect":{"delimiter":";"},` +
		`"schema":{"fields":[{"name":"itemId","title":"Item ID","type":"number","example":"1",` + flags +
		`,{"name":"net price","title":"Net price","type":"number","example":"2.50",` + flags +
		`]},"herbarium":{"access":"open"}}]}`
	if diff := cmp.Diff(want, compact.String()); diff != "" {
		t.Errorf("descriptor (-want +got):\n%s", diff)
	}
	for _, path := range []string{"none", "sub/none.csv"} {
		if got, err := write(t, filepath.Join(dir, path), false); herb.CodeOf(err) != herb.CodeNotFound ||
			len(got) > 0 {
			t.Errorf("%s: got %s, error %v", path, got, err)
		}
	}
	got, err = write(t, rowstest.Folder(t, `many.json={"a":[{"x":1}],"b":[{"y":1}]}`)+"/many.json#b", false)
	if err != nil || !bytes.Contains(got, []byte(`"property": "b"`)) || bytes.Contains(got, []byte(`"property": "a"`)) {
		t.Errorf("one of several tables: got %s, error %v", got, err)
	}
	if got, err := write(t, rowstest.Folder(t, "readme.md"), false); err == nil || len(got) > 0 {
		t.Errorf("nothing to describe: got %s, error %v", got, err)
	}
}

// TestDescribe_YAML compares a whole descriptor with its comments.
func TestDescribe_YAML(t *testing.T) {
	t.Parallel()
	const want = `# A Data Package (https://datapackage.org). Edit it and publish it: herbarium publish datapackage.yaml
$schema: https://datapackage.org/profiles/2.0/datapackage.json
name: root
resources:
  - name: x
    type: table
    title: X
    path: x.csv
    format: csv
    dialect:
      delimiter: ','
    schema:
      # Only these fields are listed, in this order. Remove one to hide it, rename one with
      # herbarium: {from: its column}. Types: string, number, date, datetime, boolean, list.
      fields:
        # such as 1 | 2
        - name: "yes"
          title: "Yes"
          type: number
          example: "1"
          herbarium: {searchable: false, filterable: true, sortable: true}
        # such as y
        - name: 'a: b'
          title: 'A: b'
          type: string
          example: "y"
          herbarium: {searchable: true, filterable: true, sortable: true}
        # such as 1,5 | 2,5
        - name: "n"
          title: "N"
          type: number
          decimalChar: ','
          example: 1,5
          herbarium: {searchable: false, filterable: true, sortable: true}
        # such as x
        - name: when
          title: When
          type: string
          example: x
          herbarium: {searchable: true, filterable: true, sortable: true}
    herbarium:
      # More settings:
      # order: -date  # of a listing without sort: latest first
      # include: {status: [published]}  # rows with other values are left out
      # exclude: {name: [Total]}  # rows with these values are left out
      # expectations: [{query: "category=tree", total: 12}]  # must hold before a new version goes live
      access: open # or key: listing the records requires a key
`
	got, err := write(t, rowstest.Folder(t, "x.csv=yes,a: b,n,when\n1,,\"1,5\",x\n2,y,\"2,5\",\n"), true)
	if diff := cmp.Diff(want, string(got)); err != nil || diff != "" {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
}

// TestDescribe_Titles makes titles from the names of columns.
func TestDescribe_Titles(t *testing.T) {
	t.Parallel()
	content, err := write(t,
		rowstest.Folder(t, "x.csv=itemID,unit_price,unitPrice,netPriceEUR,Net Price,isbn,--,été\n1,2,3,4,5,6,7,8\n"),
		false)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Resources []struct {
			Schema struct{ Fields []struct{ Title string } }
		}
	}
	if err := json.Unmarshal(content, &got); err != nil {
		t.Fatal(err)
	}
	var titles []string
	for _, f := range got.Resources[0].Schema.Fields {
		titles = append(titles, f.Title)
	}
	if diff := cmp.Diff([]string{"Item ID", "Unit price", "Unit price", "Net price EUR", "", "ISBN", "", "Été"},
		titles); diff != "" {
		t.Errorf("titles (-want +got):\n%s", diff)
	}
}

// TestDescribe_Descriptor describes what a descriptor says and compares what is read from both.
func TestDescribe_Descriptor(t *testing.T) {
	t.Parallel()
	dir := rowstest.Folder(t, "a.csv=id|s|when\n1|p|NA\n2|q|2024-01-01\n",
		`datapackage.json={"name":"n","resources":[{"name":"r","path":"a.csv","title":"T",
		"description":"D","dialect":{"delimiter":"|","commentChar":"#","headerRows":[1]},
		"schema":{"primaryKey":"no","missingValues":["NA"],"fields":[{"name":"no","herbarium":{"from":"id","weight":2,"searchable":true}},
			{"name":"when","description":"W","missingValues":["NA","x"],"herbarium":{}}]},
		"herbarium":{"access":"key","order":"-when","coordinates":"none","charts":[{"by":["when:month","no"],"measure":"mean:no"},{"by":"no"}],"include":{"s":["p","q"]},"exclude":{"s":["r"]},"expectations":[{"query":"","min":1,"max":2,"first":{"no":"1"}}]}}]}`)
	content, err := write(t, dir, true)
	if err != nil {
		t.Fatal(err)
	}
	want := find(t, dir)
	rowstest.WriteFile(t, dir, "again.yaml", string(content))
	got := find(t, dir+"/again.yaml")
	// Inferred types are written explicitly, and the order completely.
	want[0].Fields[0].Title, want[0].Fields[1].Title = "No", "When"
	for i := range want[0].Fields {
		f := &want[0].Fields[i]
		f.Schema.Type = []string{"number", "date"}[i]
		f.Searchable, f.Filterable, f.Sortable = new(i == 0), new(true), new(true)
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(descriptor.Source{}, "Descriptor", "Settings")); diff != "" {
		t.Errorf("sources (-want +got):\n%s\n%s", diff, content)
	}
}

// valid validates a descriptor against the schema.
func valid(t *testing.T, descriptor []byte) {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(descriptor))
	if err != nil {
		t.Fatal(err)
	}
	if err := rowstest.DescriptorSchema(t).Validate(doc); err != nil {
		t.Errorf("%v\n%s", err, descriptor)
	}
}

// TestDescribe_Text writes odd names and values as YAML and compares those that are read from it.
func TestDescribe_Text(t *testing.T) {
	t.Parallel()
	parts := []string{"a", "b c", "-", " ", ":", "#", "\n", "\t", "'", `"`, "{", "]", ",", "0", ".5", "é", "\u2028",
		"\u0085", "\r", "true", "yes", "Null", "~", "|", ">", "?",
		"%", "&", "*", "!", "_", `\`, strings.Repeat("long", 200), "\ufeff", "😀", "e5", "0x1", "12:30", "2024-01-01",
		"\x07", "<<", "="}
	random := rand.New(rand.NewPCG(testseed.Seed(t), 0))
	word := func() (s string) {
		for range 1 + random.IntN(4) {
			s += parts[random.IntN(len(parts))]
		}
		return s
	}
	for range 20 {
		include, first, record := map[string][]string{}, map[string]string{}, map[string]string{}
		names := []string{"<<", "\n\tx", "a\u2028b"} // which the library writes, but does not read as the same text
		for range 20 {
			names = append(names, word())
		}
		for _, name := range names {
			first[name], record[name] = word(), word()
			include[name] = []string{word(), record[name]}
		}
		text, err := json.Marshal(map[string]any{"name": "n", "resources": []any{map[string]any{
			"name": "r", "title": word(), "description": word(), "data": []any{record},
			"schema": map[string]any{"missingValues": []string{"", word()}},
			"herbarium": map[string]any{"access": "open", "include": include,
				"expectations": []any{map[string]any{"query": "??" + word(), "min": 0, "first": first}}},
		}}})
		if err != nil {
			t.Fatal(err)
		}
		dir := rowstest.Folder(t, "datapackage.json="+string(text))
		content, err := write(t, dir, true)
		if err != nil {
			t.Fatal(err)
		}
		rowstest.WriteFile(t, dir, "again.yaml", string(content))
		want, got := find(t, dir), find(t, dir+"/again.yaml")
		ignore := cmpopts.IgnoreFields(descriptor.Source{}, "Descriptor", "Settings", "Path", "Fields",
			"Input", "Dialect")
		if diff := cmp.Diff(want, got, ignore, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("sources (-want +got):\n%s\n%s", diff, content)
		}
		if diff := cmp.Diff(listings(t, dir), listings(t, dir+"/again.yaml")); diff != "" {
			t.Errorf("listings (-want +got):\n%s\n%s", diff, content)
		}
	}
}
