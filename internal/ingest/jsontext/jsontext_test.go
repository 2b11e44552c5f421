package jsontext

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/rowstest"
)

type (
	memory = rowstest.Stream
	cells  = [][]string
)

func read(t testing.TB, m memory, o rows.Options, l rows.Limits) (rowstest.Table, error) {
	t.Helper()
	return rowstest.Read(t.Context(), Format(), m, o, l)
}

func TestOpen(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, in string
		want     cells
	}{
		{"array", `[{"a":"x","b":1}, {"a":"y","b":2}]`, cells{{"a", "b"}, {"x", "1"}, {"y", "2"}}},
		{"lines", "{\"a\":\"x\"}\n{\"a\":\"y\"}\n", cells{{"a"}, {"x"}, {"y"}}},
		{"lines with blank ones, other line ends and none at the end", "\n \n{\"a\":1}\r\n\r\n\t{\"a\":2} ",
			cells{{"a"}, {"1"}, {"2"}}},
		{"object over several lines", "{\n \"a\": 1\n}\n{\"a\":\n2}", cells{{"a"}, {"1"}, {"2"}}},
		{"byte order mark", "\xEF\xBB\xBF[{\"a\":1}]", cells{{"a"}, {"1"}}},
		{"no records", " [ ] \n", cells{nil}},
		{"no members", `[{},{ }]`, cells{nil, {}, {}}},
		{"numbers as written", `[{"a":1.50,"b":-0,"c":1e5,"d":12345678901234567890.123456789,"e":1E+2}]`,
			cells{{"a", "b", "c", "d", "e"}, {"1.50", "-0", "1e5", "12345678901234567890.123456789", "1E+2"}}},
		{"true, false and null", `[{"a":true,"b":false,"c":null}]`, cells{{"a", "b", "c"}, {"true", "false", ""}}},
		{"columns in order of appearance", `[{"b":1},{"a":2,"b":3},{"c":4}]`,
			cells{{"b", "a", "c"}, {"1"}, {"3", "2"}, {"", "", "4"}}},
		{"missing member", `[{"a":"long value","b":2},{"b":3}]`, cells{{"a", "b"}, {"long value", "2"}, {"", "3"}}},
		{"escapes", `[{"\u0061":"\"\\\/\b\f\n\r\t\u00e9\u6984\ud83c\udf31\u0000"}]`,
			cells{{"a"}, {"\"\\/\b\f\n\r\té\u6984🌱\x00"}}},
		{"escape of the replacement character", `[{"a":"\uFFFD"}]`, cells{{"a"}, {"\uFFFD"}}},
		{"characters of all lengths", `[{"å":"植🌱"}]`, cells{{"å"}, {"植🌱"}}},
		{"empty name", `[{"":"x"}]`, cells{{""}, {"x"}}},
		{"objects on one line", `{"a":1}{"a":2} {"a":3}`, cells{{"a"}, {"1"}, {"2"}, {"3"}}},
		{"single object", "{\n  \"a\": 1,\n  \"b\": {\"c\": true}\n}\n", cells{{"a", "b.c"}, {"1", "true"}}},
		{"single empty object", `{}`, cells{nil, {}}},
		{"flattened objects", `[{"a":{"b":{"c":1,"d":null}},"e":2},{"a":{"b":{"c":"x"}}}]`,
			cells{{"a.b.c", "a.b.d", "e"}, {"1", "", "2"}, {"x", "", ""}}},
		{"empty objects and arrays", `[{"a":{},"b":[],"c":{ },"d":[ ],"e":{"f":{}}}]`,
			cells{{"a", "b", "c", "d", "e.f"}, {"", "", "", "", ""}}},
		{"object, null and number", `[{"a":null},{"a":{"b":1}},{"a":2}]`,
			cells{{"a", "a.b"}, {""}, {"", "1"}, {"2", ""}}},
		{"names displayed alike", `[{"a":{"b":1},"a.b":2}]`, cells{{"a.b", "a.b"}, {"1", "2"}}},
		{"arrays of plain values", `[{"a":["x", "y z","\u0041"],"b":[1.50,-0,1e5],"c":[true,false,null],"d":["", 1]}]`,
			cells{{"a", "b", "c", "d"}, {`["x","y z","A"]`, "[1.50,-0,1e5]", "[true,false,null]", `["",1]`}}},
		{"arrays of values with commas", `[{"a":["x, y" , "z"],"b":["\u002c"],"c":[1,"2,3"]}]`,
			cells{{"a", "b", "c"}, {`["x, y","z"]`, `[","]`, `[1,"2,3"]`}}},
		{"escapes in nested values",
			`[{"a":[{"c\u00e9":"Z\u00FCrich\/ \ud83c\udf31 \u0022\u005c\\\" \n\u000a"}],"b":[[NaN , "\\u00fc"]]}]`,
			cells{{"a", "b"}, {`[{"cé":"Zürich/ 🌱 \u0022\u005c\\\" \n\u000a"}]`, `[[NaN,"\\u00fc"]]`}}},
		{"arrays of objects and arrays", "[{\"a\":[ {\"b\" : 1.0} , [ ] ],\"c\":[ [1, 2],\t[\"a b\\\" ]\"] ],\"d\":9}]",
			cells{{"a", "c", "d"}, {`[{"b":1.0},[]]`, `[[1,2],["a b\" ]"]]`, "9"}}},
		{"array of arrays", `[["a","b","b",""],[1,null,"x",[1,2]],[2],[3,4,5,{"k": [1]},null]]`,
			cells{{"a", "b", "b", ""}, {"1", "", "x", "[1,2]"}, {"2", "", "", ""}, {"3", "4", "5", `{"k":[1]}`}}},
		{"array of arrays without names", `[[1,"a"],[2,"b",true]]`,
			cells{{"column_1", "column_2", "column_3"}, {"1", "a"}, {"2", "b", "true"}}},
		{"array of arrays of dates", `[["2020-06-19T14:30:14.543Z","x"],["2020-06-20","y"]]`,
			cells{{"column_1", "column_2"}, {"2020-06-19T14:30:14.543Z", "x"}, {"2020-06-20", "y"}}},
		{"array of arrays with years as names", `[["2019","2020"],["5","6"]]`, cells{{"2019", "2020"}, {"5", "6"}}},
		{"lines of arrays", "[\"a\",\"b\"]\n[1,2]\n\n[3,\"x\"]\n", cells{{"a", "b"}, {"1", "2"}, {"3", "x"}}},
		{"lines of arrays without names", "[1,\"x\"]\n[2]", cells{{"column_1", "column_2"}, {"1", "x"}, {"2", ""}}},
		{"plain values", `["x", 1.0, null, true]`, cells{{"value"}, {"x"}, {"1.0"}, {""}, {"true"}}},
		{"wrapper", `{"total":2,"data":[{"a":1},{"a":2}],"next":{"x":[1]}}`, cells{{"a"}, {"1"}, {"2"}}},
		{"wrapper in a wrapper", `{"success":true,"result":{"n":1,"records":[{"a":1}]}}`, cells{{"a"}, {"1"}}},
		{"three deep is a record", `{"a":{"b":{"c":[{"d":1}]}}}`, cells{{"a.b.c"}, {`[{"d":1}]`}}},
		{"dots in names", `{"a":{"x":1},"a.b":[{"c":1}]}`, cells{{"c"}, {"1"}}},
		{"empty wrapper", `{"data":[]}`, cells{nil}},
		{"empty wrapper of another name", `{"plants":[]}`, cells{nil}},
		{"record with an empty list", `{"name":"fern","tags":[]}`, cells{{"name", "tags"}, {"fern", ""}}},
		{"lines that could be wrappers", "{\"a\":[{\"b\":1}]}\n{\"a\":[{\"b\":2}]}\n",
			cells{{"a"}, {`[{"b":1}]`}, {`[{"b":2}]`}}},
		{"object with an empty name", `[{"":{"a":1},"a":2}]`, cells{{".a", "a"}, {"1", "2"}}},
		{"names that differ in case", `[{"a":1,"A":2}]`, cells{{"a", "A"}, {"1", "2"}}},
		{"objects with different members", `{"a":{"x":1,"y":2},"b":{"z":3}}`,
			cells{{"a.x", "a.y", "b.z"}, {"1", "2", "3"}}},
		{"objects with the same members", `{"p1":{"n":"fern"},"p2":{"n":"moss"}}`,
			cells{{"p1.n", "p2.n"}, {"fern", "moss"}}},
		{"features", `{"type":"FeatureCollection","bbox":[1,2],"features":[` +
			`{"type":"Feature","id":7,"properties":{"n":"x","id":"p","o":{"q":1}},"geometry":{"type":"Point","coordinates":[1.10, 2]}},` +
			`{"geometry":null,"properties":null,"type":"Feature"}]}`,
			cells{{"id", "n", "id", "o.q", "geometry"}, {"7", "x", "p", "1", `{"type":"Point","coordinates":[1.10,2]}`},
				{"", "", "", "", ""}}},
		{"lines of features", "{\"type\":\"Feature\",\"properties\":{\"n\":1},\"geometry\":null}\n{\"type\":\"Feature\",\"properties\":{\"n\":2},\"geometry\":{\"type\":\"Point\"}}",
			cells{{"n", "geometry"}, {"1", ""}, {"2", `{"type":"Point"}`}}},
		{"features beside links",
			`{"links":[{"rel":"self"}],"features":[{"type":"Feature","properties":{"n":1},"geometry":null}],"type":"FeatureCollection"}`,
			cells{{"n", "geometry"}, {"1", ""}}},
		{"feature with an array of objects", `{"type":"Feature","properties":{"n":[{"x":1}]},"geometry":null}`,
			cells{{"n", "geometry"}, {`[{"x":1}]`, ""}}},
	}
	for _, tt := range tests {
		for how, wrap := range rowstest.Wraps() {
			t.Run(tt.name+"/"+how, func(t *testing.T) {
				t.Parallel()
				got, err := read(t, memory{Base: "a.json", Content: tt.in, Wrap: wrap}, rows.Options{}, rows.Limits{})
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tt.want, got.Rows); diff != "" {
					t.Errorf("rows (-want +got):\n%s", diff)
				}
			})
		}
	}
}

func TestOpen_Tables(t *testing.T) {
	t.Parallel()
	const graph = `{"meta":{"n":2},"nodes":[{"id":1},{"id":2}],"g":{"edges":[{"from":1}],"tags":["a"]},"by":{"x":{"k":1},"y":{"k":2,"key":"z"}},"few":{"x":{"k":1},"y":2},"rows":[]}`
	tests := []struct {
		name, in string
		tables   []string
		o        rows.Options
		want     cells
	}{
		{"several", graph, []string{"nodes", "g.edges"}, rows.Options{Table: "nodes"}, cells{{"id"}, {"1"}, {"2"}}},
		{"nested", graph, []string{"nodes", "g.edges"}, rows.Options{Table: "g.edges"}, cells{{"from"}, {"1"}}},
		{"keyed", graph, []string{"nodes", "g.edges"}, rows.Options{Table: "by"},
			cells{{"key", "k", "key"}, {"x", "1"}, {"y", "2", "z"}}},
		{"keyed, and other members", graph, []string{"nodes", "g.edges"}, rows.Options{Table: "few"},
			cells{{"key", "k"}, {"x", "1"}}},
		{"empty", graph, []string{"nodes", "g.edges"}, rows.Options{Table: "rows"}, cells{nil}},
		{"plain values", graph, []string{"nodes", "g.edges"}, rows.Options{Table: "g.tags"}, cells{{"value"}, {"a"}}},
		{"single", `{"data":[{"a":1}]}`, []string{"data"}, rows.Options{}, cells{{"a"}, {"1"}}},
		{"array", `[{"a":1}]`, nil, rows.Options{}, cells{{"a"}, {"1"}}},
		{"lines", "{\"a\":[{\"b\":1}]}\n{}", nil, rows.Options{}, cells{{"a"}, {`[{"b":1}]`}, {""}}},
		{"slash in a name", `{"a":{"b / c":[{"d":1}]}}`, []string{"a.b / c"}, rows.Options{}, cells{{"d"}, {"1"}}},
		{"dot in a name", `{"a":{"b":1},"a.b":[{"c":1}]}`, []string{"a.b"}, rows.Options{Table: "a.b"}, nil},
		{"records and fields as in CKAN", `{"result":{"fields":[{"id":"a"},{"id":"b"}],"records":[{"a":1,"b":2}]}}`,
			[]string{"result.records"}, rows.Options{}, cells{{"a", "b"}, {"1", "2"}}},
		{"fields as in ArcGIS, without features", `{"fields":[{"name":"a"}],"features":[]}`, []string{"features"},
			rows.Options{}, cells{nil}},
		{"array without a name", `{"":[{"x":1}]}`, nil, rows.Options{}, cells{{""}, {`[{"x":1}]`}}},
		{"fields beside another array", `{"fields":[{"crop":"rye"}],"barns":[{"n":1}]}`, []string{"fields", "barns"},
			rows.Options{Table: "fields"}, cells{{"crop"}, {"rye"}}},
		{"numbers of Python", `[{"a":NaN},{"a":-Infinity},{"a":1.5}]`, nil, rows.Options{},
			cells{{"a"}, {"NaN"}, {"-Infinity"}, {"1.5"}}},
		{"arrays below a title", `[["Prices"],["id","name","price"],[1,"rose",2],[2,"elm",3]]`, nil, rows.Options{},
			cells{{"id", "name", "price"}, {"1", "rose", "2"}, {"2", "elm", "3"}}},
		{"arrays below two names",
			`[["","Boys","","Girls",""],["School",2019,2020,2019,2020],["A",1,2,3,4],["B",5,6,7,8]]`, nil,
			rows.Options{},
			cells{{"School", "Boys 2019", "Boys 2020", "Girls 2019", "Girls 2020"}, {"A", "1", "2", "3", "4"},
				{"B", "5", "6", "7", "8"}}},
		{"arrays with units", `[["id","mass","size"],[null,"kg","cm"],["a",1,2],["b",3,4]]`, nil, rows.Options{},
			cells{{"id", "mass kg", "size cm"}, {"a", "1", "2"}, {"b", "3", "4"}}},
		{"arrays without names", `[["rose",2],["elm",3],["oak",2]]`, nil, rows.Options{},
			cells{{"column_1", "column_2"}, {"rose", "2"}, {"elm", "3"}, {"oak", "2"}}},
		{"one array", `{"a":[1,2]}`, nil, rows.Options{}, cells{{"a"}, {"[1,2]"}}},
		{"plain values by name", `{"about":"x","ants":[1,2]}`, nil, rows.Options{Table: "ants"},
			cells{{"value"}, {"1"}, {"2"}}},
		{"record with a list", `{"name":"x","tags":["a","b","c"]}`, nil, rows.Options{},
			cells{{"name", "tags"}, {"x", `["a","b","c"]`}}},
		{"arrays by name", `{"range":"A1:B2","values":[["n","v"],["x",1]]}`, nil, rows.Options{Table: "values"},
			cells{{"n", "v"}, {"x", "1"}}},
		{"arrays without a name", `{"columns":["n"],"data":[[1],[2]]}`, nil, rows.Options{},
			cells{{"columns", "data"}, {`["n"]`, "[[1],[2]]"}}},
		{"names of array elements", `{"columns":["id"],"data":[[1],[2]]}`, nil,
			rows.Options{Table: "data", ItemKeys: []string{"id"}}, cells{{"id"}, {"1"}, {"2"}}},
		{"names of top array elements", `[[1,"x"],[2]]`, nil, rows.Options{ItemKeys: []string{"id", "name"}},
			cells{{"id", "name"}, {"1", "x"}, {"2", ""}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := memory{Base: "a.json", Content: tt.in}
			tables, err := Format().Tables(t.Context(), m, rows.Options{},
				rows.NewBudget(t.Context(), m.Size(), rows.Limits{}))
			if diff := cmp.Diff(tt.tables, rows.Published(tables)); err != nil || diff != "" {
				t.Errorf("error %v, tables (-want +got):\n%s", err, diff)
			}
			got, err := read(t, m, tt.o, rows.Limits{})
			if tt.want == nil {
				if herb.CodeOf(err) != herb.CodeInvalid {
					t.Errorf("got error %v", err)
				}
				return
			}
			if diff := cmp.Diff(tt.want, got.Rows); err != nil || diff != "" {
				t.Errorf("error %v, rows (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestOpen_Types(t *testing.T) {
	t.Parallel()
	const kinds = `[{"n":1,"t":"1","b":true,"l":["a","b"],"j":[{"x":1}],"m":1,"z":null,"o":{"p":2.5}},
		{"n":null,"t":null,"b":false,"l":[],"j":[],"m":"x","z":null,"o":{}},{"l":["c"],"o":{"p":-1e3}}]`
	for _, tt := range []struct {
		name, in string
		want     map[string]herb.Type
	}{
		{"all kinds", kinds, map[string]herb.Type{
			"n": herb.TypeNumber, "t": herb.TypeText, "b": herb.TypeBoolean, "l": herb.TypeList, "j": "", "m": "",
			"z": "", "o": "", "o.p": herb.TypeNumber}},
		{"strings only", `[{"zip":"94110","l":["a"]}]`, map[string]herb.Type{"zip": "", "l": herb.TypeList}},
		{"amounts in quotes", `[{"a":"1,234","n":1},{"a":"5","n":2}]`,
			map[string]herb.Type{"a": "", "n": herb.TypeNumber}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := read(t, memory{Content: tt.in}, rows.Options{}, rows.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			types := map[string]herb.Type{}
			for i, name := range got.Rows[0] {
				types[name] = got.Columns[i].Type
			}
			if diff := cmp.Diff(tt.want, types); diff != "" {
				t.Errorf("types (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOpen_Notes(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"count":1,"data":[{"a":1}],"x":["y"]}`: `the records are in "data"; other members are not part of this dataset: count, x`,
		"[{\"a\":\"\xE9\"}]": "the file is not UTF-8 and was read as Windows-1252; if letters " +
			"look wrong, name its encoding",
		`{"v":1,"k":{"a":{"x":1}}}`: noRecords,
		"{\"v\":1}\n{\"v\":2}":      "",
		`[{"a":1}]`:                 "",
	} {
		got, err := read(t, memory{Content: in}, rows.Options{}, rows.Limits{})
		if notes := strings.Join(got.Notes, "\n"); err != nil || notes != want {
			t.Errorf("%s: got notes %q and error %v, want %q", in, notes, err, want)
		}
	}
}

func TestOpen_Rejects(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, want string }{
		{"nothing", " \n ", "the file is empty"},
		{"other text", "\n id,name\n", "line 2: the file begins with 'i'"},
		{"text", `"x"`, "line 1: the file begins with text in quotes"},
		{"line that is not an object", "{}\n5\n", "record 2, line 2: '5' instead of an object"},
		{"array twice", `{"a":[1,2],"a":[3,4]}`, `record 1, line 1: the member "a" occurs twice`},
		{"array after an object", `[{"page":1},[{"a":1}]]`, "record 2, line 1: an array instead of an object"},
		{"member twice", "[{\"a\":1,\n\"\\u0061\":2}]", `record 1, line 2: the member "a" occurs twice`},
		{"first half of a pair", `[{"a":"\ud83c"}]`, `record 1, line 1: \ud83c is half`},
		{"second half of a pair", `[{"a":"\uDF31x"}]`, `record 1, line 1: \uDF31 is half`},
		{"halves that do not fit", `[{"a":"\ud83c\ud83c"}]`, `record 1, line 1: \ud83c is half`},
		{"half a pair before another escape", `[{"a":"\ud83c\n12345"}]`, `record 1, line 1: \ud83c is half`},
		{"short escape", `[{"a":"\u12"}]`, `record 1, line 1: \u is not followed`},
		{"signed escape", `[{"a":"\u+123"}]`, `record 1, line 1: \u is not followed`},
		{"unknown escape", `[{"a":"\x41"}]`, `record 1, line 1: unknown escape \x;`},
		{"control character", "[{\"a\":\"x\ty\"}]", `record 1, line 1: control character 0x09`},
		{"line end in text", "{\"a\":\"x\n\"}", `line 1: control character 0x0A`},
		{"line end after a backslash", "[{\"a\":\"x\\\n\"}]", `record 1, line 1: control character 0x0A`},
		{"trailing text", "[{\"a\":1}]\n{}", "record 1, line 2: text follows the end"},
		{"comma between lines", "{\"a\":1},\n{\"a\":2}", "record 2, line 1: ',' instead of a record"},
		{"no comma between objects", "[{\"a\":1}\n{\"a\":2}]",
			"record 1, line 2: an object follows an element of an array; write a comma"},
		{"comma at the end of the array", `[{"a":1},]`, "record 2, line 1: ']' instead of a record"},
		{"comma at the start of the array", `[,{"a":1}]`, "record 1, line 1: ',' instead of a record"},
		{"comma at the end of an object", `[{"a":1,}]`, "record 1, line 1: '}' instead of the name"},
		{"name without quotes", `[{a:1}]`, "record 1, line 1: 'a' instead of the name"},
		{"no colon", `[{"a" 1}]`, `record 1, line 1: no colon after the name "a"`},
		{"no value", `[{"a":}]`, `record 1, line 1: '}' instead of the value of "a"`},
		{"no comma between members", `[{"a":1 "b":2}]`, `record 1, line 1: text in quotes follows the value of "a"`},
		{"leading zero", `[{"a":007}]`, `record 1, line 1: "007", the value of "a", is not JSON`},
		{"number with two points", `[{"a":1.2.3}]`, `record 1, line 1: "1.2.3", the value of "a", is not JSON`},
		{"truncated array", `[{"a":1}`, "record 1, line 1: an array is not closed; end it with ]"},
		{"truncated after a record", `[["a"],[1],`, "record 3, line 1: the text ends where a record should begin"},
		{"truncated object", "{\"a\":1", "line 1: the object is not closed"},
		{"truncated after a name", `{"a"`, `line 1: no colon after the name "a"`},
		{"truncated after a colon", `{"a":`, `line 1: the member "a" has no value`},
		{"truncated array in a record", `[{"a":[1,`, `record 1, line 1: the member "a" has no value`},
		{"truncated object in an array", `[{"a":[{"b"`, `record 1, line 1: no colon after the name "b"`},
		{"no comma in an array", `[{"a":[1 2]}]`, "record 1, line 1: '2' follows an element"},
		{"no value in an array", `[{"a":[1,]}]`, `record 1, line 1: ']' instead of the value of "a"`},
		{"unknown escape in an array", `[{"a":[{"b":"\x"}]}]`, `record 1, line 1: unknown escape \x;`},
		{"short escape in an array", `[{"a":[{"b":"\u00"}]}]`, `record 1, line 1: \u is not followed`},
		{"objects too deep", `[` + strings.Repeat(`{"a":`, 200_000),
			"record 1, line 1: values are nested more than 100"},
		{"arrays too deep", `[{"a":` + strings.Repeat(`[`, 200_000),
			"record 1, line 1: values are nested more than 100"},
		{"too deep beside the records", `{"a":` + strings.Repeat(`[`, 200_000),
			"line 1: values are nested more than 100"},
		{"member of a member twice", `[{"a":{"b":1,"b":2}}]`, `record 1, line 1: the member "a.b" occurs twice`},
		{"object twice", `[{"a":{"b":1},"a":{"c":2}}]`, `record 1, line 1: the member "a" occurs twice`},
		{"properties twice", `[{"type":"Feature","geometry":null,"properties":{"b":1},"properties":{"c":2}}]`,
			`record 1, line 1: the member "properties" occurs twice`},
		{"table twice", `{"a":[{"b":1}],"a":[{"b":2}]}`, `the member "a" occurs twice`},
		{"records of different kinds", `[{"a":1},[2]]`, "record 2, line 1: an array instead of an object"},
		{"more elements than names", `[["a"],[1,2]]`, "record 2, line 1: the array has more than the 1 elements"},
		{"many more elements than names", `[["a"],[1,null,2]]`,
			"record 2, line 1: the array has more than the 1 elements"},
		{"long name", `[{"` + strings.Repeat("x", 9_000) + `":1}]`, `record 1, line 1: the name of the member "` +
			strings.Repeat("x", 60) + `…" has 9000 bytes`},
		{"long name in an array", `[["` + strings.Repeat("x", 9_000) + `","n"],[1,2],[2,3],[3,4]]`,
			`the name of column 1, "xxx`},
		{"long names", longNames(), "record 1, line 1: the names of the members of all records are longer than 1 MiB"},
		{"two tables", `{"fields":[{"id":"a"}],"result":{"plants":[{"a":1}]}}`,
			`the document has 2 tables: fields, result.plants; name one of them, such as FILE#fields`},
		{"text after a wrapper", `{"data":[{"a":1}]}]`, "record 2, line 1: ']' instead of a record"},
		{"truncated wrapper", `{"data":[{"a":1},{"a"`, `line 1: no colon after the name "a"`},
		{"truncated text", `{"a":"x\`, "line 1: a quote is not closed"},
		{"key twice in a record", `{"a":{"x":1,"x":2},"b":{"x":1}}`, `record 1, line 1: the member "a.x" occurs twice`},
		{"mixed encodings", "[{\"a\":\"é\"},{\"a\":\"\xE9\"}]", "line 1: byte 18 is not UTF-8"},
	}
	for _, tt := range tests {
		for how, wrap := range rowstest.Wraps() {
			if wrap != nil && len(tt.in) > 1<<20 {
				continue // it takes seconds
			}
			t.Run(tt.name+"/"+how, func(t *testing.T) {
				t.Parallel()
				_, err := read(t, memory{Base: "a.json", Content: tt.in, Wrap: wrap}, rows.Options{}, rows.Limits{})
				if err == nil || !strings.Contains(err.Error(), tt.want) || herb.CodeOf(err) != herb.CodeInvalid {
					t.Errorf("got error  %v\nwant error %s", err, tt.want)
				}
			})
		}
	}
}

func TestOpen_RejectsTables(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, table, want string }{
		{"unknown", `{"data":[{"a":1}],"n":{"x":1}}`, "rows", `no table "rows"; members: data, n`},
		{"plain value", `{"data":5}`, "data", `line 1: the table "data" is '5'`},
		{"not records", `{"data":{"a":1}}`, "data", `line 1: no member is an object`},
		{"in an array", `[{"a":1}]`, "data", `line 1: the file begins with an array and has no table "data"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := read(t, memory{Content: tt.in}, rows.Options{Table: tt.table}, rows.Limits{})
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) || herb.CodeOf(err) != herb.CodeInvalid {
				t.Errorf("got error  %v\nwant error %s", err, tt.want)
			}
		})
	}
}

func TestOpen_Limits(t *testing.T) {
	t.Parallel()
	fits := `{"a":"` + strings.Repeat("x", 92) + `"}` // 100 bytes
	if got, err := read(t, memory{Content: fits + "\n" + fits + "\n\n" + fits}, rows.Options{},
		rows.Limits{Record: 100}); err != nil || len(got.Rows) != 4 {
		t.Errorf("records that just fit: got %d rows and error %v", len(got.Rows), err)
	}
	for in, want := range map[string]string{
		"{}\n " + strings.Replace(fits, "x", "xy", 1): "record 2, line 2: the record is longer than 100 bytes",
		`[{"a":1,"b":2,"c":3}]`:                       "more than 2 columns",
		`[["a","b","c"]]`:                             "more than 2 columns",
		`[{"a":[[[[1]]]]}]`:                           "more than 4 levels",
	} {
		_, err := read(t, memory{Content: in}, rows.Options{}, rows.Limits{Record: 100, Columns: 2, Depth: 4})
		if err == nil || !strings.Contains(err.Error(), want) || herb.CodeOf(err) != herb.CodeInvalid {
			t.Errorf("%s: got error %v, want %s", in, err, want)
		}
	}
	keys := rows.Options{ItemKeys: []string{"a", "b", "c"}}
	if _, err := read(t, memory{Content: `[[1]]`}, keys, rows.Limits{Columns: 2}); err == nil ||
		!strings.Contains(err.Error(), "more than 2 columns") {
		t.Errorf("too many keys: got error %v", err)
	}
}

// TestOpen_ManyMembers reads documents of a million bytes that are rejected, or hold no table, in
// linear time.
func TestOpen_ManyMembers(t *testing.T) {
	t.Parallel()
	for name, value := range map[string]string{"arrays": "[1]", "tables": `[{"a":1}]`, "empty arrays": "[]",
		"objects": `{"data":[1]}`, "booleans": "true"} {
		var b strings.Builder
		for i := 0; b.Len() < 1<<20; i++ {
			fmt.Fprintf(&b, `,"k%d":%s`, i, value)
		}
		m := memory{Content: "{" + b.String()[1:] + "}"}
		if _, err := read(t, m, rows.Options{}, rows.Limits{}); herb.CodeOf(err) != herb.CodeInvalid {
			t.Errorf("%s: got error %.200v", name, err)
		}
		_, err := Format().Tables(t.Context(), m, rows.Options{}, rows.NewBudget(t.Context(), m.Size(), rows.Limits{}))
		if (err != nil) != (name == "tables") {
			t.Errorf("%s: Tables: error %.200v", name, err)
		}
	}
}

func TestOpen_SourceErrors(t *testing.T) {
	t.Parallel()
	failing := func(r io.Reader) io.Reader { return io.MultiReader(r, iotest.ErrReader(io.ErrClosedPipe)) }
	for _, in := range []string{"", "[", `[{`, `[{"a`, `[{"a"`, `[{"a":`, `[{"a":1`, `[{"a":1}`, `[{"a":1},`, "[{}]",
		"{}", "{}\n", `{"a":"\`, `{"a":[{"b":1}]`} {
		if _, err := read(t, memory{Content: in, Wrap: failing}, rows.Options{}, rows.Limits{}); !errors.Is(err,
			io.ErrClosedPipe) {
			t.Errorf("after %q: got error %v", in, err)
		}
	}
	if err := rowstest.ReadCanceled(Format(), memory{Content: "[" + strings.Repeat(`{"a":1},`, 1<<20)}); !errors.Is(err,
		context.Canceled) {
		t.Errorf("canceled: got error %v", err)
	}
}

// TestClose closes files after their first record.
func TestClose(t *testing.T) {
	t.Parallel()
	for _, in := range []string{`[{"a":1},{"a":2}]`, "{\"a\":1}\n{\"a\":2}", "[1,2]\n[3,4]\n",
		`{"x":{"a":1},"y":{"a":2}}`, `{"data":[{"a":1},{"a":2}],"n":1}`} {
		m := memory{Content: in}
		r, err := Format().Open(t.Context(), m, rows.Options{}, rows.NewBudget(t.Context(), m.Size(), rows.Limits{}))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Next(); err != nil {
			t.Errorf("%s: %v", in, err)
		}
		if err := r.Close(); err != nil {
			t.Errorf("%s: %v", in, err)
		}
	}
}

func TestMatches(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]bool{
		`[{"a":1}]`: true, "\xEF\xBB\xBF {\n\"a\" : 1}": true, "{\x00\"\x00a\x00\"\x00:\x001\x00}\x00": true,
		"[a],{b}\n1,2\n": false, `{"a",b}`: false, "a,b": false, "": false,
	} {
		if got := Format().Matches([]byte(in)); got != want {
			t.Errorf("%q: got %v", in, got)
		}
	}
}

// FuzzOpen compares the reader with encoding/json: documents that it accepts are accepted there
// too, with the same values.
func FuzzOpen(f *testing.F) {
	for _, s := range []string{
		"", "[]", `[{"a":"x","b":1.50},{"a":null,"c":true}]`, "{\"a\":1}\n\n{\"b\":\"\\ud83c\\udf31\\n\"}",
		`[{"a":{"b":1}}]`, `[{"a":1,"a":2}]`,
		"{\"\xFF\":1}", `[{"a":"\ud83c"}]`, `[{"a":1e5}] x`, `{"a":-0.5E+7}`, `{"data":[{"a":[1,"x",{"y":[]}]}],"n":1}`,
		`[1,"x",null]`,
		`[{"a":{"b":{},"c":[[1],2]},"a.b":["x,y"]}]`, `{"r":{"d":[{"a":1}]},"e":[]} `, `{"a":{"x":1},"b":{"x":2}}`,
		"[1,2]\n[3]",
		`[{"type":"Feature","properties":{"a":1},"geometry":{"b":[1, 2]},"id":3}]`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		m := memory{Content: string(in), Wrap: iotest.HalfReader}
		o := rows.Options{Encoding: "utf-8"}
		b := rows.NewBudget(t.Context(), m.Size(), rows.Limits{Record: 1 << 20})
		opened, err := Format().Open(t.Context(), m, o, b)
		if err != nil {
			checkInvalid(t, err)
			return
		}
		r := opened.(*reader)
		var got cells
		for {
			cells, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				checkInvalid(t, err)
				return
			}
			var row []string
			for _, c := range cells {
				row = append(row, string(c))
			}
			got = append(got, row)
		}
		if r.kind == '[' || r.feature || !r.sequence && len(r.path) > 0 &&
			!bytes.HasPrefix(bytes.TrimLeft(in, "\xEF\xBB\xBF \t\r\n"), []byte("[")) {
			d := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(in, []byte("\xEF\xBB\xBF"))))
			for {
				var v any
				if err := d.Decode(&v); err == io.EOF {
					return
				} else if err != nil {
					t.Fatalf("accepted invalid JSON: %v", err)
				}
			}
		}
		records := decodeRecords(t, in)
		if !r.sequence && len(records) != len(got) {
			t.Fatalf("got %d records, want %d", len(got), len(records))
		}
		for i, record := range records {
			want := map[string]any{}
			flatten(want, "", record)
			if r.kind == 0 {
				if !sameValue(got[i][0], record) {
					t.Fatalf("record %d: got %q, want %v", i+1, got[i][0], record)
				}
				continue
			}
			for path, m := range r.index {
				column := m.column
				if column == 0 {
					continue
				}
				cell := ""
				if column <= len(got[i]) {
					cell = got[i][column-1]
				}
				if !sameValue(cell, want[path]) {
					t.Fatalf("record %d, member %q: got %q, want %v", i+1, path, cell, want[path])
				}
				delete(want, path)
			}
			if len(want) > 0 {
				t.Fatalf("record %d: missing members %v", i+1, want)
			}
		}
	})
}

func checkInvalid(t *testing.T, err error) {
	t.Helper()
	if herb.CodeOf(err) != herb.CodeInvalid {
		t.Fatalf("an error without a code: %v", err)
	}
}

// decodeRecords reads the records of an array or a sequence with encoding/json.
func decodeRecords(t *testing.T, in []byte) (records []any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(in, []byte("\xEF\xBB\xBF"))))
	d.UseNumber()
	for {
		var v any
		if err := d.Decode(&v); err == io.EOF {
			return records
		} else if err != nil {
			t.Fatalf("accepted invalid JSON: %v", err)
		}
		if array, ok := v.([]any); ok {
			return append(records, array...)
		}
		records = append(records, v)
	}
}

// flatten lists the values of a record by their paths.
func flatten(out map[string]any, path string, v any) {
	m, ok := v.(map[string]any)
	if !ok || len(m) == 0 && path != "" {
		out[strings.TrimPrefix(path, "\xFF")] = v
		return
	}
	for name, v := range m {
		flatten(out, path+"\xFF"+name, v)
	}
}

// sameValue reports whether a cell is what a decoded value is published as.
func sameValue(cell string, v any) bool {
	array, ok := v.([]any)
	if !ok || len(array) == 0 {
		return cell == plainText(v)
	}
	return sameJSON(cell, v)
}

func sameJSON(cell string, v any) bool {
	d := json.NewDecoder(strings.NewReader(cell))
	d.UseNumber()
	var got any
	return d.Decode(&got) == nil && cmp.Equal(got, v)
}

// plainText is what a decoded value is published as.
func plainText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		return fmt.Sprint(v)
	}
	return ""
}

// longNames returns a record with many names, each of which is just short enough.
func longNames() string {
	var b strings.Builder
	for i := range 1200 {
		fmt.Fprintf(&b, `,"%0900d":1`, i)
	}
	return "[{" + b.String()[1:] + "}]"
}

func BenchmarkOpen(b *testing.B) {
	var buf bytes.Buffer
	for i := range 250_000 {
		fmt.Fprintf(&buf, `{"id":%d,"title":"Plant %d","description":"A plant, said to be \"hardy\", of the %dth bed; it flowers late.",`+
			`"date":"2024-05-%02d","price":%d.50,"tags":"shade,hardy"}`+"\n", i, i, i%97, 1+i%28, i%300)
	}
	for name, m := range map[string]memory{
		"ndjson": {Base: "a.ndjson", Content: buf.String()},
		"wrapped": {Base: "a.json", Content: `{"data":[` + strings.ReplaceAll(strings.TrimSpace(buf.String()), "\n",
			",") + "]}"},
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(m.Size())
			b.ReportAllocs()
			for b.Loop() {
				r, err := Format().Open(b.Context(), m, rows.Options{},
					rows.NewBudget(b.Context(), m.Size(), rows.Limits{}))
				for err == nil {
					_, err = r.Next()
				}
				if err != io.EOF {
					b.Fatal(err)
				}
			}
		})
	}
}

// packed is a document that is stored in a few bytes.
type packed struct{ memory }

func (packed) Size() int64 { return 100 }

// TestReader_ManyTables reads the tables of a document, which is unpacked again for each of them,
// until the limit of what they share is reached.
func TestReader_ManyTables(t *testing.T) {
	t.Parallel()
	document := packed{memory{Base: "x.json", Content: `{"long": "` + strings.Repeat("x", 4<<20) +
		`", "t": [{"a": 1}]}`}}
	for name, f := range map[string]rows.File{"parsed": document, "passed": kept{document, new(passedMembers)}} {
		usage, tables := new(rows.Usage), 0
		var err error
		for ; err == nil && tables < 100; tables++ {
			_, err = rowstest.Read(t.Context(), Format(), f, rows.Options{Table: "t"}, rows.Limits{Usage: usage})
		}
		if herb.CodeOf(err) != herb.CodeInvalid || !strings.Contains(err.Error(), "unpacked bytes") || tables != 16 {
			t.Errorf("%s: got error %v after %d tables; want 16", name, err, tables)
		}
	}
}

// kept is a document whose offsets are kept, as those of an open file.
type kept struct {
	rows.File
	offsets io.Closer
}

func (k kept) Document(func() (io.Closer, error)) (io.Closer, error) { return k.offsets, nil }

// TestReader_ParsedOnce reads the tables of a document that is not valid any more when the second
// one is read, except for the table itself.
func TestReader_ParsedOnce(t *testing.T) {
	t.Parallel()
	known := new(passedMembers)
	for _, c := range []struct{ document, table, want, err string }{
		{"\n{\"long\": [1, 2],\n\"x\": {\"t\": [{\"a\": 1}],\n\"u\": [{\"a\": 2}, {\"a\": 3}]}}", "x.t", "1", "<nil>"},
		{"\n{!!!!!!!!!!!!!!! \n                      \n    [{\"a\": 2}, {\"a\": 3}]!!", "x.u", "2", "<nil>"},
		{"\n{!!!!!!!!!!!!!!! \n                      \n    [{\"a\": 2}, 3]", "x.u", "2",
			"record 2, line 4: '3' instead of an object"},
	} {
		got, err := rowstest.Read(t.Context(), Format(), kept{memory{Base: "x.json", Content: c.document}, known},
			rows.Options{Table: c.table}, rows.Limits{})
		if !strings.HasPrefix(fmt.Sprint(err), c.err) || got.Rows[1][0] != c.want {
			t.Errorf("%s: got %v, error %v", c.table, got.Rows, err)
		}
	}
}
