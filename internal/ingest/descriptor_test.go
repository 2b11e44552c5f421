package ingest_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
)

func TestDescriptor(t *testing.T) {
	t.Parallel()
	const asJSON = `{
	"name": "Botanic Garden", "title": "Garden", "licenses": [{"name": "CC0"}], "herbarium": {"access": "key"},
	"resources": [
		{
			"name": "beds", "path": "data/beds.txt", "title": "Beds \ud83c\udf31", "description": "All beds", "format": "csv",
			"dialect": {"delimiter": ";", "header": true, "quoteChar": "\""}, "herbarium": {"access": "open"},
			"schema": {"missingValues": ["NA"], "fields": [
				{"name": "n", "type": "integer", "title": "No", "description": "Number", "constraints": {"required": true}},
				{"name": "price", "type": "number", "herbarium": {"from": "cost", "sortable": false, "filterable": true, "searchable": true}},
				{"name": "year", "type": "year"}, {"name": "day", "type": "date"}, {"name": "when", "type": "datetime"},
				{"name": "tags", "type": "array"}, {"name": "more", "type": "list"}, {"name": "s", "type": "string"},
				{"name": "any", "type": "any"}, {"name": "guess"}
			]}
		},
		{"name": "plants", "path": "plants.ndjson", "schema": {"fields": []}}
	]
}`
	const asYAML = `
name: Botanic Garden
title: Garden
licenses: [{name: CC0}]
herbarium: {access: key}
resources:
  - name: beds
    path: data/beds.txt
    title: Beds 🌱
    description: All beds
    format: csv
    dialect: {delimiter: ";", header: true, quoteChar: '"'}
    herbarium: {access: open}
    schema:
      missingValues: [NA]
      fields:
        - {name: n, type: integer, title: "No", description: Number, constraints: {required: true}}
        - {name: price, type: number, herbarium: {from: cost, sortable: false, filterable: true, searchable: true}}
        - {name: year, type: year}
        - {name: day, type: date}
        - {name: when, type: datetime}
        - {name: tags, type: array}
        - {name: more, type: list}
        - {name: s, type: string}
        - {name: any, type: any}
        - {name: guess}
  - name: plants
    path: plants.ndjson
    schema: {fields: []}
`
	for name, content := range map[string]string{"datapackage.json": asJSON, "datapackage.yaml": asYAML, "datapackage.yml": asYAML} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := layout(t, name+"="+content, "data/beds.txt", "plants.ndjson")
			got, err := ingest.Discover([]string{dir})
			if err != nil {
				t.Fatal(err)
			}
			want := []ingest.Source{
				{
					Ref: herb.Ref{Namespace: "botanic-garden", Name: "beds"}, Path: dir + "/data/beds.txt",
					Title: "Beds 🌱", Description: "All beds", Access: herb.AccessOpen, AccessSet: true, Format: ingest.FormatCSV, Dialect: ingest.Dialect{Delimiter: ';'},
					Fields: []ingest.FieldSetting{
						{Name: "n", Type: herb.TypeNumber, Title: "No", Description: "Number", Optional: true},
						{
							Name: "price", From: "cost", Type: herb.TypeNumber,
							Sortable: new(false), Filterable: new(true), Searchable: new(true),
						},
						{Name: "year", Type: herb.TypeNumber, Optional: true}, {Name: "day", Type: herb.TypeDate, Optional: true},
						{Name: "when", Type: herb.TypeDateTime, Optional: true}, {Name: "tags", Type: herb.TypeList, Optional: true},
						{Name: "more", Type: herb.TypeList, Optional: true}, {Name: "s", Type: herb.TypeText, Optional: true},
						{Name: "any", Optional: true}, {Name: "guess", Optional: true},
					},
					Missing: []string{"NA"}, ByPosition: true,
				},
				{
					Ref: herb.Ref{Namespace: "botanic-garden", Name: "plants"}, Path: dir + "/plants.ndjson",
					Access: herb.AccessKey, AccessSet: true, Format: ingest.FormatJSON, ByPosition: true,
				},
			}
			if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(ingest.Source{}, "Descriptor", "Root", "Base")); diff != "" {
				t.Errorf("sources (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDescriptor_TitleOfTheOnlyResource(t *testing.T) {
	t.Parallel()
	dir := layout(t, `datapackage.json={"title":"T","description":"D","resources":[{"path":"a.csv","description":"Own"}]}`, "a.csv")
	got, err := ingest.Discover([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	if got[0].Title != "T" || got[0].Description != "Own" {
		t.Errorf("got title %q and description %q", got[0].Title, got[0].Description)
	}
}

func TestDescriptor_Refused(t *testing.T) {
	t.Parallel()
	resource := func(s string) string { return `{"name":"n","resources":[{"path":"a.csv",` + s + `}]}` }
	field := func(s string) string { return resource(`"schema":{"fields":[` + s + `]}`) }
	formats := ingest.KnownFormats()
	path := func(s string) string { return `{"resources":[{"path":` + s + `}]}` }
	misplaced := func(at string) string {
		return at + " is in the wrong place, where it has no effect; write it as resources[0].herbarium.access"
	}
	tests := []struct{ name, descriptor, want string }{
		{"not JSON", "{\n\"name\": x}", "line 2: not JSON: invalid character 'x' looking for beginning of value"},
		{"trailing text", "{}\n{}", "line 2: not JSON: invalid character '{' after top-level value"},
		{"member twice", `{"name":"a","name":"b"}`, `the member "name" occurs twice in one object; give it once`},
		{"not an object", `[]`, "the descriptor must be an object"},
		{"no resources", `{"name":"n"}`, `the descriptor has no resources; list at least one under "resources"`},
		{"resources that are no list", `{"resources":{}}`, "resources must be a list"},
		{"resource that is no object", `{"resources":["a.csv"]}`, "resources[0] must be an object"},
		{"name that leaves nothing", `{"name":"植物","resources":[{"path":"a.csv"}]}`,
			`resources[0]: no dataset can be named after "植物", because a name needs 1 to 100 letters a-z and digits; ` +
				`publish it under a name of your own with --as namespace/dataset`},
		{"the name of the plants", `{"name":"store","resources":[{"name":"plants","path":"a.csv"}]}`,
			"resources[0]: store/plants is where the plants that were created are listed; publish it under another name with --as namespace/dataset"},
		{"no path", `{"resources":[{"name":"x"}]}`, "resources[0] has no path; name its file, relative to the descriptor"},
		{"absolute path", path(`"/etc/passwd"`), `resources[0].path is "/etc/passwd", an absolute path; write it relative to the descriptor`},
		{"path that leads out", path(`"x/../../a.csv"`),
			`resources[0].path is "x/../../a.csv", which leads out of the folder of the descriptor; move the file into it`},
		{"address", path(`"https://a.example/x.csv"`),
			`resources[0].path is "https://a.example/x.csv", an address; download the file into the folder of the descriptor and name it`},
		{"a list of paths that lead out", path(`["a.csv","../a.csv"]`),
			`resources[0].path[1] is "../a.csv", which leads out of the folder of the descriptor; move the file into it`},
		{"a path that is no text", path(`{"a":1}`), "resources[0].path must be text; put it in quotes"},
		{"an empty path in a list", path(`["a.csv",""]`), "resources[0].path[1] is empty; name a file, relative to the descriptor"},
		{"inline data that are none", `{"resources":[{"data":5}]}`, "resources[0].data must be a list of records; write an object for each"},
		{"a folder", path(`"sub.csv"`), `resources[0].path is "sub.csv", which is not a regular file`},
		{"zip", path(`"a.csv.zip"`), `resources[0].path is "a.csv.zip", an archive; unpack it beside the descriptor and name the file that ` +
			`was in it, or compress that with gzip or zstd`},
		{"compression", resource(`"compression":"bz2"`), `resources[0].compression is "bz2", which cannot be read; unpack it beside the ` +
			`descriptor and name the file that was in it, or compress that with gzip or zstd`},
		{"a table of a format that is not known", `{"resources":[{"path":"a.xls","format":"xls","type":"table"}]}`,
			`resources[0].format is "xls"; choose from ` + formats},
		{"no such file", path(`"b.csv"`), "DIR/b.csv: no such file or directory"},
		{"no format", path(`"a.txt"`),
			`resources[0] (a.txt) is not published: neither its format nor its extension tells a table; if it is one, give "format", one of ` + formats},
		{"delimiter", resource(`"dialect":{"delimiter":"::"}`),
			`resources[0].dialect.delimiter is "::"; it must be one ASCII character that is no quote and no line end`},
		{"schema that is none", resource(`"schema":5`), "resources[0].schema must be an object"},
		{"schema that is not there", resource(`"schema":"schema.json"`), "DIR/schema.json: no such file or directory"},
		{"schema that leads out", resource(`"schema":"../schema.json"`),
			`resources[0].schema is "../schema.json", which leads out of the folder of the descriptor; move the file into it`},
		{"schema that is no JSON", resource(`"schema":"a.csv"`), "DIR/a.csv: line 1: not JSON: invalid character 'a' looking for beginning of value"},
		{"quote", resource(`"dialect":{"quoteChar":"''"}`), `resources[0].dialect.quoteChar is "''"; it must be one ASCII character`},
		{"header", resource(`"dialect":{"header":"no"}`), "resources[0].dialect.header must be true or false"},
		{"header rows", resource(`"dialect":{"headerRows":[0]}`), "resources[0].dialect.headerRows[0] must be the number of a line, from 1"},
		{"sheet", resource(`"dialect":{"excel":{"sheetNumber":-1}}`), "resources[0].dialect.excel.sheetNumber must be the number of a sheet, from 1"},
		{"missing values", resource(`"schema":{"missingValues":[["NA"]]}`), "resources[0].schema.missingValues[0] must be text; put it in quotes"},
		{"primary key", resource(`"schema":{"primaryKey":{"a":1}}`), "resources[0].schema.primaryKey must be text; put it in quotes"},
		{"field without a name", field(`{"type":"string"}`), "resources[0].schema.fields[0] has no name; give it one"},
		{"field twice", field(`{"name":"a"},{"name":"a","herbarium":{"from":"b"}}`),
			`resources[0].schema.fields[1] has the name "a" of another field; give each a name of its own and use herbarium.from for the column`},
		{"flag that is none", field(`{"name":"a","herbarium":{"sortable":"yes"}}`),
			"resources[0].schema.fields[0].herbarium.sortable must be true or false"},
		{"unknown setting of a field", field(`{"name":"a","herbarium":{"sortabel":true}}`),
			`resources[0].schema.fields[0].herbarium has an unknown member "sortabel"; did you mean "sortable"? known here: from, searchable, filterable, sortable, weight`},
		{"unknown setting of a resource", resource(`"herbarium":{"key":true}`), `resources[0].herbarium has an unknown member "key"; known here: access, order, include, goldens`},
		{"unknown setting of the package", `{"herbarium":{"acess":"key"}}`,
			`herbarium has an unknown member "acess"; did you mean "access"? known here: access`},
		{"weight", field(`{"name":"a","herbarium":{"weight":11}}`),
			"resources[0].schema.fields[0].herbarium.weight must be a whole number from 1 to 10"},
		{"weight that is text", field(`{"name":"a","herbarium":{"weight":"2"}}`),
			"resources[0].schema.fields[0].herbarium.weight must be a whole number from 1 to 10"},
		{"order", resource(`"herbarium":{"order":5}`),
			"resources[0].herbarium.order must be the name of a field, with a - before it for the other direction, or {field, order}"},
		{"order of nothing", resource(`"herbarium":{"order":"-"}`),
			"resources[0].herbarium.order names no field; write the name of one that is sortable"},
		{"order that is no direction", resource(`"herbarium":{"order":{"field":"a","order":"up"}}`),
			`resources[0].herbarium.order.order is "up"; it must be asc or desc`},
		{"order with a slip", resource(`"herbarium":{"order":{"feild":"a"}}`),
			`resources[0].herbarium.order has an unknown member "feild"; did you mean "field"? known here: field, order`},
		{"include", resource(`"herbarium":{"include":["a"]}`), "resources[0].herbarium.include must be an object"},
		{"include nothing", resource(`"herbarium":{"include":{"a":[]}}`),
			`resources[0].herbarium.include.a lists no value; list those that a row must have one of, "" for none`},
		{"include an object", resource(`"herbarium":{"include":{"a":[{"b":1}]}}`),
			"resources[0].herbarium.include.a[0] must be text; put it in quotes"},
		{"goldens", resource(`"herbarium":{"goldens":{"query":""}}`), "resources[0].herbarium.goldens must be a list"},
		{"golden without a query", resource(`"herbarium":{"goldens":[{"total":1}]}`),
			`resources[0].herbarium.goldens[0] has no query; give the query string of a listing, "" for all records`},
		{"golden that expects nothing", resource(`"herbarium":{"goldens":[{"query":"a=1"}]}`),
			`resources[0].herbarium.goldens[0] expects nothing; give "total", the number of records, or "first", values of the first one`},
		{"golden total", resource(`"herbarium":{"goldens":[{"query":"","total":1.5}]}`),
			"resources[0].herbarium.goldens[0].total must be a whole number from 0 to 2147483647"},
		{"golden with a slip", resource(`"herbarium":{"goldens":[{"query":"","totl":1}]}`),
			`resources[0].herbarium.goldens[0] has an unknown member "totl"; did you mean "total"? known here: query, total, first`},
		{"access", resource(`"herbarium":{"access":"private"}`), `resources[0].herbarium.access is "private"; choose open or key`},
		{"access of the package in the wrong place", `{"access":"key","resources":[{"path":"a.csv"}]}`,
			`access is in the wrong place, where it has no effect; write it as herbarium.access`},
		{"access of a resource", resource(`"access":"key"`), misplaced("resources[0].access")},
		{"access in the schema", resource(`"schema":{"access":"key"}`), misplaced("resources[0].schema.access")},
		{"access in the settings of the schema", resource(`"schema":{"herbarium":{"access":"key"}}`), misplaced("resources[0].schema.herbarium.access")},
		{"access of a field", field(`{"name":"a"},{"name":"b","access":"key"}`), misplaced("resources[0].schema.fields[1].access")},
		{"access in the settings of a field", field(`{"name":"a","herbarium":{"access":"key"}}`), misplaced("resources[0].schema.fields[0].herbarium.access")},
		{"access in the dialect", resource(`"dialect":{"access":"key"}`), misplaced("resources[0].dialect.access")},
		{"goldens of a resource", resource(`"goldens":[]`), strings.ReplaceAll(misplaced("resources[0].goldens"), "herbarium.access", "herbarium.goldens")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := layout(t, "a.csv", "a.txt", "a.csv.zip", "a.xls", "sub.csv/x.csv")
			writeFile(t, dir, "datapackage.json", tt.descriptor)
			sources, err := ingest.Discover([]string{dir})
			if err == nil || len(sources) != 0 {
				t.Fatalf("got %d sources and error %v", len(sources), err)
			}
			got := strings.TrimPrefix(strings.ReplaceAll(err.Error(), dir, "DIR"), "DIR/datapackage.json: ")
			if got != tt.want {
				t.Errorf("got error  %s\nwant error %s", got, tt.want)
			}
		})
	}
}

func TestDescriptor_RefusedYAML(t *testing.T) {
	t.Parallel()
	for descriptor, want := range map[string]string{
		"name: a\nname: b\n":             "not YAML: unmarshal errors: line 2: mapping key \"name\" already defined at line 1",
		"name: [\n":                      "not YAML: line 1: did not find expected node content",
		"name: a\n---\nname: b\n":        "the descriptor has more than one YAML document; keep one",
		"name: [a]\n":                    "name must be text; put it in quotes",
		"":                               "the descriptor must be an object",
		"herbarium: {access: [open]}\n":  "herbarium.access must be text; put it in quotes",
		"resources: [{path: {a: b}}]\n ": "resources[0].path must be text; put it in quotes",
	} {
		dir := layout(t, "a.csv")
		writeFile(t, dir, "datapackage.yaml", descriptor)
		_, err := ingest.Discover([]string{dir})
		if err == nil || strings.TrimPrefix(err.Error(), dir+"/datapackage.yaml: ") != want {
			t.Errorf("%q: got error %v\nwant %s", descriptor, err, want)
		}
	}
}

func TestDescriptor_OneBadResourceDoesNotHideTheOthers(t *testing.T) {
	t.Parallel()
	dir := layout(t, `datapackage.json={"name":"n","resources":[{"path":"none.csv"},{"path":"a.csv"},{"path":"../b.csv"}]}`, "a.csv")
	sources, err := ingest.Discover([]string{dir})
	if diff := cmp.Diff([]string{"n/a a.csv"}, found(dir, sources)); diff != "" {
		t.Errorf("sources (-want +got):\n%s", diff)
	}
	if n := len(complaints(dir, err)); n != 2 {
		t.Errorf("got %d problems, want 2: %v", n, err)
	}
}

func TestDescriptor_DecidesWhatIsPublished(t *testing.T) {
	t.Parallel()
	dir := layout(t, "beds.csv=id;cost;secret\n1;2,50;x\n2;3;y\n", `datapackage.json={"name":"garden","resources":[{"path":"beds.csv",
		"dialect":{"delimiter":";"},"schema":{"fields":[{"name":"price","type":"number","decimalChar":",","herbarium":{"from":"cost"}},{"name":"id"}]}}]}`)
	sources, err := ingest.Discover([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	table := inspect(t, sources[0])
	want := []herb.Field{
		{Name: "price", Type: herb.TypeNumber, Notation: herb.Notation{Decimal: ","}, Filterable: true, Sortable: true},
		{Name: "id", Type: herb.TypeNumber, Filterable: true, Sortable: true},
	}
	if diff := cmp.Diff(want, table.Dataset().Fields); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
	for r, err := range table.Records(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(herb.Record{"2,50", "1"}, r); diff != "" {
			t.Errorf("first record (-want +got):\n%s", diff)
		}
		break
	}
}
