package descriptor_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/descriptor"
	"herbarium/internal/ingest/discover"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/rowstest"
	"herbarium/internal/ingest/value"
)

// formats returns formats that are known by their names and extensions.
func formats() []rows.Format {
	return []rows.Format{
		{Name: "csv", Extensions: []string{".csv"}}, {Name: "tsv", Extensions: []string{".tsv"}},
		{Name: "json", Extensions: []string{".json", ".ndjson", ".jsonl"}},
		{Name: "xlsx", Extensions: []string{".xlsx"}},
	}
}

// readSource reads a descriptor of one resource in a folder of files.
func readSource(t *testing.T, files ...string) descriptor.Source {
	t.Helper()
	set := read(t, rowstest.Folder(t, files...))
	if err := set.Err(); err != nil {
		t.Fatal(err)
	}
	return set.Sources[0]
}

// read reads the descriptor in a folder.
func read(t *testing.T, dir string) descriptor.Set {
	t.Helper()
	return discover.New(discover.Options{Formats: formats()}).Discover(t.Context(), []string{dir})
}

// TestRead_map reads the coordinates of descriptors for earlier releases.
func TestRead_map(t *testing.T) {
	t.Parallel()
	for settings, want := range map[string]descriptor.Coordinates{
		`"map":{"latitude":"y","longitude":"x"}`: {Latitude: "y",
			Longitude: "x"},
		`"map":{"latitude":"y","longitude":"x"},"coordinates":{"field":"p","notation":"wkt"}`: {
			Field: "p", Notation: herb.NotationWKT},
	} {
		s := readSource(t, "a.csv", `datapackage.json={"resources":[{"path":"a.csv","herbarium":{`+settings+`}}]}`)
		if s.Coordinates != want ||
			!strings.Contains(strings.Join(s.Notes, "\n"), "herbarium.map is now called coordinates") {
			t.Errorf("%s: coordinates %+v, notes %q", settings, s.Coordinates, s.Notes)
		}
	}
}

func TestRead(t *testing.T) {
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
	for name, content := range map[string]string{"datapackage.json": asJSON, "datapackage.yaml": asYAML,
		"datapackage.yml": asYAML} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := rowstest.Folder(t, name+"="+content, "data/beds.txt", "plants.ndjson")
			set := read(t, dir)
			if err := set.Err(); err != nil {
				t.Fatal(err)
			}
			got := set.Sources
			want := []descriptor.Source{
				{
					Ref: herb.Ref{Namespace: "botanic-garden", Name: "beds"}, Path: dir + "/data/beds.txt",
					Title: "Beds 🌱", Description: "All beds", Access: herb.AccessOpen, AccessSet: true, Format: "csv",
					Dialect: rows.Options{Delimiter: ';', Header: rows.HeaderPresent},
					Fields: []descriptor.FieldSetting{
						{Name: "n", Schema: value.Schema{Type: "integer"}, Title: "No", Description: "Number",
							Optional:    true,
							Constraints: descriptor.Constraints{Required: true}},
						{
							Name: "price", From: "cost", Schema: value.Schema{Type: "number"},
							Sortable: new(false), Filterable: new(true), Searchable: new(true),
						},
						{Name: "year", Schema: value.Schema{Type: "year"}, Optional: true},
						{Name: "day", Schema: value.Schema{Type: "date"}, Optional: true},
						{Name: "when", Schema: value.Schema{Type: "datetime"}, Optional: true},
						{Name: "tags", Schema: value.Schema{Type: "array"}, Optional: true},
						{Name: "more", Schema: value.Schema{Type: "list"}, Optional: true},
						{Name: "s", Schema: value.Schema{Type: "string"}, Optional: true},
						{Name: "any", Schema: value.Schema{Type: "any"}, Optional: true},
						{Name: "guess", Optional: true},
					},
					Missing: []string{"NA"}, ByPosition: true,
				},
				{
					Ref: herb.Ref{Namespace: "botanic-garden", Name: "plants"}, Path: dir + "/plants.ndjson",
					Access: herb.AccessKey, AccessSet: true, Format: "json", ByPosition: true,
				},
			}
			if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(descriptor.Source{}, "Descriptor", "Settings", "Root",
				"Base")); diff != "" {
				t.Errorf("sources (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRead_TitleOfPackage(t *testing.T) {
	t.Parallel()
	got := readSource(t, `datapackage.json={"title":"T","description":"D","resources":[{"path":"a.csv","description":"Own"}]}`, "a.csv")
	if got.Title != "T" || got.Description != "Own" {
		t.Errorf("got title %q and description %q", got.Title, got.Description)
	}
}

func TestRead_Invalid(t *testing.T) {
	t.Parallel()
	resource := func(s string) string { return `{"name":"n","resources":[{"path":"a.csv",` + s + `}]}` }
	field := func(s string) string { return resource(`"schema":{"fields":[` + s + `]}`) }
	own := func(s string) string { return resource(`"herbarium":{` + s + `}`) }
	path := func(s string) string { return `{"resources":[{"path":` + s + `}]}` }
	// the message begins with the culprit and contains the hint
	tests := []struct{ name, descriptor, culprit, hint string }{
		{"not JSON", "{\n\"name\": x}", "line 2: ", "'x'"},
		{"trailing text", "{}\n{}", "line 2: ", "'{'"},
		{"member twice", `{"name":"a","name":"b"}`, `the member "name"`, "twice"},
		{"not an object", `[]`, "the descriptor ", "object"},
		{"no resources", `{"name":"n"}`, "the descriptor ", "resources"},
		{"resources not a list", `{"resources":{}}`, "resources ", "list"},
		{"resource not an object", `{"resources":["a.csv"]}`, "resources[0] ", "object"},
		{"name without letters", `{"name":"§","resources":[{"path":"a.csv"}]}`, "resources[0]: ", `"§"`},
		{"reserved name", `{"name":"store","resources":[{"name":"plants","path":"a.csv"}]}`, "resources[0]: ",
			"store/plants"},
		{"no path", `{"resources":[{"name":"x"}]}`, "resources[0] ", "path"},
		{"a part twice", path(`["a.csv", "./a.csv"]`), "resources[0].path[1] ", "names a part again"},
		{"absolute path", path(`"/etc/passwd"`), "resources[0].path ", "absolute"},
		{"path out of the folder", path(`"x/../../a.csv"`), "resources[0].path ", "leads out"},
		{"URL", path(`"https://a.example/x.csv"`), "resources[0].path ", "URL"},
		{"list of paths out of the folder", path(`["a.csv","../a.csv"]`), "resources[0].path[1] ", "leads out"},
		{"path not text", path(`{"a":1}`), "resources[0].path ", "text"},
		{"empty path in a list", path(`["a.csv",""]`), "resources[0].path[1] ", "empty"},
		{"inline data not records", `{"resources":[{"data":5}]}`, "resources[0].data ", "list"},
		{"folder", path(`"sub.csv"`), "resources[0].path ", "regular"},
		{"compression", resource(`"compression":"lz4"`), "resources[0].compression ", `"lz4"`},
		{"table of an unknown format", `{"resources":[{"path":"a.xls","format":"xls","type":"table"}]}`,
			"resources[0].format ", "csv, tsv"},
		{"no such file", path(`"b.csv"`), "DIR/b.csv: ", "no such file"},
		{"widths", resource(`"dialect":{"fixedWidth":[4,9999999]}`), "resources[0].dialect.fixedWidth ",
			"width 9999999 of column 2 is not between 1 and 1000000"},
		{"widths as text", resource(`"dialect":{"fixedWidth":"4,5"}`), "resources[0].dialect.fixedWidth ", ""},
		{"widths and a delimiter", resource(`"dialect":{"fixedWidth":[4,5],"delimiter":";"}`), "resources[0].dialect ",
			"exclude each other"},
		{"delimiter", resource(`"dialect":{"delimiter":"::"}`), "resources[0].dialect.delimiter ", `"::"`},
		{"schema not an object", resource(`"schema":5`), "resources[0].schema ", "object"},
		{"no such schema", resource(`"schema":"schema.json"`), "DIR/schema.json: ", "no such file"},
		{"schema out of the folder", resource(`"schema":"../schema.json"`), "resources[0].schema ", "leads out"},
		{"schema not JSON", resource(`"schema":"a.csv"`), "DIR/a.csv: line 1: ", "JSON"},
		{"quote", resource(`"dialect":{"quoteChar":"''"}`), "resources[0].dialect.quoteChar ", "one ASCII character"},
		{"quote that is an object", resource(`"dialect":{"quoteChar":{"a":1}}`), "resources[0].dialect.quoteChar ",
			"must be one ASCII character, in quotes"},
		{"header", resource(`"dialect":{"header":"no"}`), "resources[0].dialect.header ", "true or false"},
		{"header rows", resource(`"dialect":{"headerRows":[0]}`), "resources[0].dialect.headerRows[0] ", "from 1"},
		{"comment not text", resource(`"dialect":{"commentChar":true}`), "resources[0].dialect.commentChar ", "text"},
		{"skipped lines", resource(`"dialect":{"skipRows":-1}`), "resources[0].dialect.skipRows ", "number of lines"},
		{"two prefixes of comments", resource(`"dialect":{"skipRows":["#","//"]}`),
			"resources[0].dialect.skipRows[1] ", `"#"`},
		{"sheet", resource(`"dialect":{"excel":{"sheetNumber":-1}}`),
			"resources[0].dialect.excel.sheetNumber ", "from 1"},
		{"missing values", resource(`"schema":{"missingValues":[["NA"]]}`),
			"resources[0].schema.missingValues[0] ", "text"},
		{"primary key", resource(`"schema":{"primaryKey":{"a":1}}`), "resources[0].schema.primaryKey ", "text"},
		{"field without a name", field(`{"type":"string"}`), "resources[0].schema.fields[0] ", "name"},
		{"field twice", field(`{"name":"a"},{"name":"a","herbarium":{"from":"b"}}`),
			"resources[0].schema.fields[1] ", `"a"`},
		{"unknown type", field(`{"name":"a","type":"nmber"}`), "resources[0].schema.fields[0].type ",
			`did you mean "number"?`},
		{"type not text", field(`{"name":"a","type":["string"]}`), "resources[0].schema.fields[0].type ", "text"},
		{"decimalChar of text", field(`{"name":"a","type":"string","decimalChar":","}`),
			"resources[0].schema.fields[0].decimalChar ", "number"},
		{"groupChar without a type", field(`{"name":"a","groupChar":"."}`),
			"resources[0].schema.fields[0].groupChar ", "number"},
		{"groupChar not text", field(`{"name":"a","type":"number","groupChar":true}`),
			"resources[0].schema.fields[0].groupChar ", "text"},
		{"bareNumber of a date", field(`{"name":"a","type":"date","bareNumber":false}`),
			"resources[0].schema.fields[0].bareNumber ", "number"},
		{"trueValues of a number", field(`{"name":"a","type":"number","trueValues":["1"]}`),
			"resources[0].schema.fields[0].trueValues ", "boolean"},
		{"falseValues not text", field(`{"name":"a","type":"boolean","falseValues":[[]]}`),
			"resources[0].schema.fields[0].falseValues[0] ", "text"},
		{"delimiter of text", field(`{"name":"a","type":"string","delimiter":";"}`),
			"resources[0].schema.fields[0].delimiter ", "list"},
		{"format without a type", field(`{"name":"a","format":"%d/%m/%Y"}`),
			"resources[0].schema.fields[0].format ", "date"},
		{"format of a number", field(`{"name":"a","type":"number","format":"0.00"}`),
			"resources[0].schema.fields[0].format ", "number"},
		{"flag", field(`{"name":"a","herbarium":{"sortable":"yes"}}`),
			"resources[0].schema.fields[0].herbarium.sortable ", "true or false"},
		{"unknown setting of a field", field(`{"name":"a","herbarium":{"sortabel":true}}`),
			"resources[0].schema.fields[0].herbarium ", `did you mean "sortable"?`},
		{"unknown setting of a resource", own(`"key":true`), "resources[0].herbarium ",
			"access, order, words, coordinates, charts, source, parquet, keep, keep_for, expected, refresh, include, exclude, expectations"},
		{"unknown setting of the package", `{"herbarium":{"acess":"key"}}`, "herbarium ", `did you mean "access"?`},
		{"weight", field(`{"name":"a","herbarium":{"weight":11}}`), "resources[0].schema.fields[0].herbarium.weight ",
			"from 1 to 10"},
		{"weight as text", field(`{"name":"a","herbarium":{"weight":"2"}}`),
			"resources[0].schema.fields[0].herbarium.weight ", "from 1 to 10"},
		{"coordinates", own(`"coordinates":{"field":"a"}`), "resources[0].herbarium.coordinates ", "{field, notation}"},
		{"map", own(`"map":{"latitude":"a"}`), "resources[0].herbarium.coordinates ", "{latitude, longitude}"},
		{"charts", own(`"charts":{"by":"a"}`), "resources[0].herbarium.charts ", "list"},
		{"empty chart", own(`"charts":[{"by":"a"},{}]`), "resources[0].herbarium.charts[1] ", "date:month"},
		{"unknown member of a chart", own(`"charts":[{"mesure":"count"}]`), "resources[0].herbarium.charts[0] ",
			`did you mean "measure"?`},
		{"many charts", own(`"charts":[` + strings.Repeat(`{"by":"a"},`, 12) + `{"by":"a"}]`),
			"resources[0].herbarium.charts ", "at most 12"},
		{"order", own(`"order":5`), "resources[0].herbarium.order ", "{field, order}"},
		{"words", own(`"words":"all"`), "resources[0].herbarium.words ", "must be exact"},
		{"order without a field", own(`"order":"-"`), "resources[0].herbarium.order ", "field"},
		{"direction", own(`"order":{"field":"a","order":"up"}`), "resources[0].herbarium.order.order ", "asc or desc"},
		{"unknown member of order", own(`"order":{"feild":"a"}`), "resources[0].herbarium.order ",
			`did you mean "field"?`},
		{"include", own(`"include":["a"]`), "resources[0].herbarium.include ", "object"},
		{"include without values", own(`"include":{"a":[]}`), "resources[0].herbarium.include.a ", "value"},
		{"exclude", own(`"exclude":"a"`), "resources[0].herbarium.exclude ", "object"},
		{"exclude without values", own(`"exclude":{"a":[]}`), "resources[0].herbarium.exclude.a ", "value"},
		{"include an object", own(`"include":{"a":[{"b":1}]}`), "resources[0].herbarium.include.a[0] ", "text"},
		{"expectations", own(`"expectations":{"query":""}`), "resources[0].herbarium.expectations ", "list"},
		{"expectation without a query", own(`"expectations":[{"total":1}]`),
			"resources[0].herbarium.expectations[0] ", "query"},
		{"expected total", own(`"expectations":[{"query":"","total":1.5}]`),
			"resources[0].herbarium.expectations[0].total ", "integer"},
		{"expected total and limit", own(`"expectations":[{"query":"","total":1,"min":1}]`),
			"resources[0].herbarium.expectations[0] ", `either "total" or "min" and "max"`},
		{"expected limits", own(`"expectations":[{"query":"","min":2,"max":1}]`),
			"resources[0].herbarium.expectations[0] ", "greater than the max 1"},
		{"negative limit", own(`"expectations":[{"query":"","max":-1}]`),
			"resources[0].herbarium.expectations[0].max ", "integer"},
		{"unknown member of an expectation", own(`"expectations":[{"query":"","totl":1}]`),
			"resources[0].herbarium.expectations[0] ", `did you mean "total"?`},
		{"access", own(`"access":"private"`), "resources[0].herbarium.access ", "open or key"},
		{"misplaced access of the package", `{"access":"key","resources":[{"path":"a.csv"}]}`, "access ",
			"herbarium.access"},
		{"misplaced access of a resource", resource(`"access":"key"`), "resources[0].access ",
			"resources[0].herbarium.access"},
		{"access in the schema", resource(`"schema":{"access":"key"}`), "resources[0].schema.access ",
			"resources[0].herbarium.access"},
		{"access in settings of the schema", resource(`"schema":{"herbarium":{"access":"key"}}`),
			"resources[0].schema.herbarium.access ", "resources[0].herbarium.access"},
		{"access of a field", field(`{"name":"a"},{"name":"b","access":"key"}`),
			"resources[0].schema.fields[1].access ", "resources[0].herbarium.access"},
		{"access in settings of a field", field(`{"name":"a","herbarium":{"access":"key"}}`),
			"resources[0].schema.fields[0].herbarium.access ", "resources[0].herbarium.access"},
		{"access in the dialect", resource(`"dialect":{"access":"key"}`), "resources[0].dialect.access ",
			"resources[0].herbarium.access"},
		{"misplaced expectations", resource(`"expectations":[]`), "resources[0].expectations ",
			"resources[0].herbarium.expectations"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := rowstest.Folder(t, "a.csv", "a.xls", "sub.csv/x.csv", "datapackage.json="+tt.descriptor)
			checkInvalid(t, dir, read(t, dir), tt.culprit, tt.hint)
		})
	}
}

// checkInvalid checks that the only result of reading a descriptor is one error.
func checkInvalid(t *testing.T, dir string, set descriptor.Set, culprit, hint string) {
	t.Helper()
	err := set.Err()
	if len(set.Sources) > 0 || len(set.Skipped) > 0 || len(set.Errors) != 1 {
		t.Fatalf("got %d sources, skipped %v, error %v", len(set.Sources), set.Skipped, err)
	}
	if code := herb.CodeOf(err); code != herb.CodeInvalid && code != herb.CodeNotFound {
		t.Errorf("got code %v", code)
	}
	_, message, _ := strings.Cut(strings.ReplaceAll(err.Error(), dir, "DIR"), ": ")
	if !strings.HasPrefix(message, culprit) || !strings.Contains(message, hint) {
		t.Errorf("got error %q, want one about %q with %q", message, culprit, hint)
	}
}

func TestRead_InvalidYAML(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, descriptor, culprit, hint string }{
		{"member twice", "name: a\nname: b\n", "not YAML", `"name"`},
		{"syntax", "name: [\n", "not YAML", "line 1"},
		{"two documents", "name: a\n---\nname: b\n", "the descriptor", "one"},
		{"list", "name: [a]\n", "name ", "text"},
		{"empty", "", "the descriptor ", "object"},
		{"list of settings", "herbarium: {access: [open]}\n", "herbarium.access ", "text"},
		{"object", "resources: [{path: {a: b}}]\n ", "resources[0].path ", "text"},
		{"member name not text", "? [a]\n: b\n", "not YAML", "key"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := rowstest.Folder(t, "a.csv", "datapackage.yaml="+tt.descriptor)
			checkInvalid(t, dir, read(t, dir), tt.culprit, tt.hint)
		})
	}
}

func TestRead_Skipped(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"a.txt", "a.png", "a.tar.gz", "map.topojson"} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			dir := rowstest.Folder(t, path, "a.csv", `datapackage.json={"resources":[{"path":"`+path+
				`"},{"path":"a.csv"}]}`)
			set := read(t, dir)
			if len(set.Sources) != 1 || len(set.Errors) != 0 || len(set.Skipped) != 1 ||
				!strings.Contains(set.Skipped[0].Reason, path) {
				t.Errorf("got %+v", set)
			}
		})
	}
}

// TestRead_Partial checks that an invalid resource does not affect the others.
func TestRead_Partial(t *testing.T) {
	t.Parallel()
	dir := rowstest.Folder(t,
		`datapackage.json={"name":"n","resources":[{"path":"none.csv"},{"path":"a.csv"},{"path":"../b.csv"}]}`, "a.csv")
	set := read(t, dir)
	if len(set.Sources) != 1 || set.Sources[0].Ref.String() != "n/a" || len(set.Errors) != 2 {
		t.Errorf("got %+v", set)
	}
}

func TestRead_Dialect(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, dialect string
		want          rows.Options
	}{
		{"defaults", `{"delimiter":",","quoteChar":"\"","doubleQuote":true,"escapeChar":"\""}`,
			rows.Options{Delimiter: ','}},
		{"fixed width", `{"fixedWidth":[10,20,8]}`, rows.Options{Widths: []int{10, 20, 8}}},
		{"tab", `{"delimiter":"\\t"}`, rows.Options{Delimiter: '\t'}},
		{"no quotes", `{"quoteChar":""}`, rows.Options{NoQuote: true}},
		{"escape", `{"escapeChar":"\\","doubleQuote":false,"skipInitialSpace":true}`,
			rows.Options{Escape: '\\', NoDoubleQuote: true, SkipInitialSpace: true}},
		{"header", `{"header":true}`, rows.Options{Header: rows.HeaderPresent}},
		{"no header", `{"header":false,"headerRows":[1]}`, rows.Options{Header: rows.HeaderNone}},
		{"header rows", `{"headerRows":[2,3],"headerJoin":"_"}`,
			rows.Options{HeaderRows: []int{2, 3}, HeaderJoin: "_"}},
		{"comments", `{"commentChar":"//","commentRows":[1,4],"nullSequence":"NA"}`,
			rows.Options{Comment: "//", CommentRows: []int{1, 4}, Null: "NA"}},
		{"skipped lines", `{"skipRows":3}`, rows.Options{Skip: 3}},
		{"skipped rows", `{"skipRows":[2,"#"]}`, rows.Options{Comment: "#", CommentRows: []int{2}}},
		{"JSON", `{"json":{"property":"result.items","keys":["id","name"]}}`,
			rows.Options{Table: "result.items", ItemKeys: []string{"id", "name"}}},
		{"sheet by name", `{"excel":{"sheet":"Prices"}}`, rows.Options{Table: "Prices"}},
		{"sheet by number", `{"sheet":2}`, rows.Options{TableNo: 2}},
		{"table", `{"table":"plants"}`, rows.Options{Table: "plants"}},
		{"file", `"dialect.yaml"`, rows.Options{Delimiter: ';'}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := readSource(t, "a.csv", "dialect.yaml=delimiter: ;",
				`datapackage.json={"resources":[{"path":"a.csv","dialect":`+tt.dialect+`}]}`)
			if diff := cmp.Diff(tt.want, s.Dialect); diff != "" {
				t.Errorf("dialect (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRead_Types(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, field string
		want        value.Schema
		notes       int
	}{
		{"number", `"type":"number","decimalChar":",","groupChar":".","bareNumber":false,"format":"default"`,
			value.Schema{Type: "number", DecimalChar: ",", GroupChar: ".", NotBare: true}, 0},
		{"currency", `"type":"number","format":"currency"`, value.Schema{Type: "number", NotBare: true}, 0},
		{"date", `"type":"DATE","format":"%d/%m/%Y"`, value.Schema{Type: "date", Format: "%d/%m/%Y"}, 0},
		{"datetime", `"type":"datetime","format":"any"`, value.Schema{Type: "datetime", Format: "any"}, 0},
		{"boolean", `"type":"boolean","trueValues":["ja"],"falseValues":["nein"]`,
			value.Schema{Type: "boolean", TrueValues: []string{"ja"}, FalseValues: []string{"nein"}}, 0},
		{"list", `"type":"list","delimiter":";"`, value.Schema{Type: "list", Delimiter: ";"}, 0},
		{"text with a standard format", `"type":"string","format":"email"`, value.Schema{Type: "string"}, 0},
		{"text with another format", `"type":"string","format":"%d/%m"`, value.Schema{Type: "string"}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := readSource(t, "a.csv",
				`datapackage.json={"resources":[{"path":"a.csv","schema":{"fields":[{"name":"a",`+tt.field+`}]}}]}`)
			if diff := cmp.Diff(tt.want, s.Fields[0].Schema); diff != "" {
				t.Errorf("schema (-want +got):\n%s", diff)
			}
			if len(s.Notes) != tt.notes {
				t.Errorf("got notes %q, want %d", s.Notes, tt.notes)
			}
		})
	}
}

// TestRead_AsWritten checks what is kept of a descriptor for the API.
func TestRead_AsWritten(t *testing.T) {
	t.Parallel()
	const yaml = `datapackage.yaml=common: &c {unit: "<kg>", version: 1.10}
other: &o {unit: g, since: 2000}
name: n
resources:
  - path: a.csv
    <<: [*c, *o]
    since: 2024-02-29
    herbarium: {access: open, include: {a: "1"}, exclude: {a: "2"}, expectations: [{query: "", total: 1}]}
`
	const want = `{"package":{"common":{"unit":"<kg>","version":1.10},"name":"n","other":{"since":2000,"unit":"g"}},"resource":{"herbarium":{"access":"open"},"path":"a.csv",` +
		`"since":"2024-02-29","unit":"<kg>","version":1.10}}`
	if got := string(readSource(t, "a.csv", yaml).Descriptor); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestRead_typos checks that misspelled members are reported with the right spelling.
func TestRead_typos(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, content string
		err           bool
		want          string // the only error or note; empty if there is none
	}{
		{"none", `"resources":[{"path":"a.csv","schema":{"fields":[{"name":"a","note":"x","unit":"kg","types":"x","type":"any"}]}}]`, false, ""},
		{"other members", `"resources":[{"path":"a.csv","paths":1,"note":1,"datum":1,"licence":1,"a":1}],"author":1,"names":1,"name":"n"`, false, ""},
		{"package", `"nmae":"shop","resources":[{"path":"a.csv"}]`, false,
			`the descriptor has an unknown member "nmae", which has no effect; did you mean "name"?`},
		{"resources", `"resorces":[{"path":"a.csv"}]`, true,
			`has no resources; list at least one under "resources"; "resorces" is unknown, did you mean "resources"?`},
		{"path", `"resources":[{"pth":"a.csv"}]`, true, `"pth" is unknown, did you mean "path"?`},
		{"resource", `"resources":[{"path":"a.csv","Shema":{}}]`, false,
			`resources[0] has an unknown member "Shema", which has no effect; did you mean "schema"?`},
		{"schema", `"resources":[{"path":"a.csv","schema":{"primarykey":"a"}}]`, false, `did you mean "primaryKey"?`},
		{"fields", `"resources":[{"path":"a.csv","schema":{"feilds":[]}}]`, false, `did you mean "fields"?`},
		{"field", `"resources":[{"path":"a.csv","schema":{"fields":[{"name":"a","tpye":"number"}]}}]`, false,
			`resources[0].schema.fields[0] has an unknown member "tpye", which has no effect; did you mean "type"?`},
		{"name of a field", `"resources":[{"path":"a.csv","schema":{"fields":[{"nam":"a"}]}}]`, true,
			`has no name; set one; "nam" is unknown, did you mean "name"?`},
		{"type", `"resources":[{"path":"a.csv","schema":{"fields":[{"name":"a","type":"nmber"}]}}]`, true,
			`"nmber"; did you mean "number"?`},
		{"dialect", `"resources":[{"path":"a.csv","dialect":{"delimeter":";"}}]`, false, `did you mean "delimiter"?`},
		{"dialect of a format", `"resources":[{"path":"a.csv","dialect":{"csv":{"delimeter":";"}}}]`, false,
			`resources[0].dialect.csv has an unknown member "delimeter", which has no effect; did you mean "delimiter"?`},
		{"layout", `"resources":[{"path":"a.csv","layout":{"headerrows":[2]}}]`, false,
			`resources[0].layout has an unknown member "headerrows"`},
		{"settings of a package", `"herbarum":{"access":"key"},"resources":[{"path":"a.csv"}]`, true,
			`has an unknown member "herbarum"; did you mean "herbarium"?`},
		{"settings of a resource", `"resources":[{"path":"a.csv","herbarim":{"access":"key"}}]`, true,
			`did you mean "herbarium"?`},
		{"settings of a field", `"resources":[{"path":"a.csv","schema":{"fields":[{"name":"a","Herbarium":{}}]}}]`,
			true, `did you mean "herbarium"?`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			set := read(t, rowstest.Folder(t, "a.csv", `datapackage.json={`+tt.content+`}`))
			var got []string
			for _, err := range set.Errors {
				got = append(got, err.Error())
			}
			if (len(got) > 0) != tt.err {
				t.Errorf("got errors %q", got)
			}
			for _, s := range set.Sources {
				got = append(got, s.Notes...)
			}
			if all := strings.Join(got, "\n"); !strings.Contains(all, tt.want) || tt.want == "" && all != "" ||
				len(got) > 1 {
				t.Errorf("got\n%s\nwant only %q", all, tt.want)
			}
		})
	}
}
