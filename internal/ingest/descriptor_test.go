package ingest_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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
					Title: "Beds 🌱", Description: "All beds", Access: herb.AccessOpen, Format: ingest.FormatCSV, Dialect: ingest.Dialect{Delimiter: ';'},
					Fields: []ingest.FieldSetting{
						{Name: "n", Type: herb.TypeNumber, Title: "No", Description: "Number"},
						{
							Name: "price", From: "cost", Type: herb.TypeNumber,
							Sortable: new(false), Filterable: new(true), Searchable: new(true),
						},
						{Name: "year", Type: herb.TypeNumber}, {Name: "day", Type: herb.TypeDate}, {Name: "when", Type: herb.TypeText},
						{Name: "tags", Type: herb.TypeList}, {Name: "more", Type: herb.TypeList}, {Name: "s", Type: herb.TypeText},
						{Name: "any", Type: herb.TypeText}, {Name: "guess"},
					},
				},
				{
					Ref: herb.Ref{Namespace: "botanic-garden", Name: "plants"}, Path: dir + "/plants.ndjson",
					Access: herb.AccessKey, Format: ingest.FormatJSON,
				},
			}
			if diff := cmp.Diff(want, got); diff != "" {
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
	path := func(s string) string { return `{"resources":[{"path":` + s + `}]}` }
	tests := []struct{ name, descriptor, want string }{
		{"not JSON", "{\n\"name\": x}", "line 2: not JSON: invalid character 'x' looking for beginning of value"},
		{"trailing text", "{}\n{}", "line 2: not JSON: invalid character '{' after top-level value"},
		{"member twice", `{"name":"a","name":"b"}`, `the member "name" occurs twice in one object; give it once`},
		{"not an object", `[]`, "the descriptor must be an object"},
		{"no resources", `{"name":"n"}`, `the descriptor has no resources; list at least one under "resources"`},
		{"resources that are no list", `{"resources":{}}`, "resources must be a list"},
		{"resource that is no object", `{"resources":["a.csv"]}`, "resources[0] must be an object"},
		{"name that is a number", `{"name":5,"resources":[]}`, "name must be text; put it in quotes"},
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
		{"several files", path(`["a.csv","b.csv"]`), "resources[0].path lists several files; a dataset is made from one, so give its path as text"},
		{"inline data", `{"resources":[{"data":[{"a":1}]}]}`,
			`resources[0] holds its data itself; write them into a file beside the descriptor and name it under "path"`},
		{"a folder", path(`"."`), `resources[0].path is ".", which is not a regular file`},
		{"no such file", path(`"b.csv"`), "there is no file or folder DIR/b.csv"},
		{"format", resource(`"format":"ods"`), `resources[0].format is "ods"; choose from csv, tsv, json, ndjson, jsonl, parquet, xlsx, sqlite`},
		{"no format", path(`"a.txt"`),
			`resources[0] has a file whose extension does not tell its format; give "format", one of csv, tsv, json, ndjson, jsonl, parquet, xlsx, sqlite`},
		{"delimiter", resource(`"dialect":{"delimiter":"::"}`),
			`resources[0].dialect.delimiter is "::"; it must be one ASCII character that is no quote and no line end`},
		{"no header", resource(`"dialect":{"header":false}`), `resources[0].dialect.header is false; only true is supported`},
		{"quote", resource(`"dialect":{"quoteChar":"'"}`), `resources[0].dialect.quoteChar is '; only " is supported`},
		{"comments", resource(`"dialect":{"commentChar":"#"}`),
			`resources[0].dialect.commentChar is not supported; leave it out and write the file without it`},
		{"schema elsewhere", resource(`"schema":"schema.json"`), "resources[0].schema must be an object"},
		{"field without a name", field(`{"type":"string"}`), "resources[0].schema.fields[0] has no name; give it one"},
		{"field twice", field(`{"name":"a"},{"name":"a"}`),
			`resources[0].schema.fields[1] has the name "a" of another field; give each a name of its own and use herbarium.from for the column`},
		{"flag that is none", field(`{"name":"a","herbarium":{"sortable":"yes"}}`),
			"resources[0].schema.fields[0].herbarium.sortable must be true or false"},
		{"unknown setting of a field", field(`{"name":"a","herbarium":{"sortabel":true}}`),
			`resources[0].schema.fields[0].herbarium has an unknown member "sortabel"; did you mean "sortable"? known here: from, searchable, filterable, sortable`},
		{"unknown setting of a resource", resource(`"herbarium":{"key":true}`), `resources[0].herbarium has an unknown member "key"; known here: access`},
		{"unknown setting of the package", `{"herbarium":{"acess":"key"}}`,
			`herbarium has an unknown member "acess"; did you mean "access"? known here: access`},
		{"access", resource(`"herbarium":{"access":"private"}`), `resources[0].herbarium.access is "private"; choose open or key`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := layout(t, "a.csv", "a.txt")
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
		"name: 2024-05-01\n":             "name must be text; put it in quotes",
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
		"dialect":{"delimiter":";"},"schema":{"fields":[{"name":"price","type":"number","herbarium":{"from":"cost"}},{"name":"id"}]}}]}`)
	sources, err := ingest.Discover([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	table := inspect(t, sources[0])
	want := []herb.Field{
		{Name: "price", Type: herb.TypeText, Searchable: true, Filterable: true, Sortable: true},
		{Name: "id", Type: herb.TypeNumber, Filterable: true, Sortable: true},
	}
	if diff := cmp.Diff(want, table.Dataset().Fields); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
	if len(table.Warnings()) != 1 {
		t.Errorf("got warnings %q, want one about the price", table.Warnings())
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
