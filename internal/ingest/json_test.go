package ingest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
)

// readJSON returns the columns and the records.
func readJSON(src io.Reader, limit int) ([][]string, error) {
	in, err := io.ReadAll(src)
	if err != nil {
		return nil, err
	}
	text := func() (io.Reader, error) {
		if _, ok := src.(*strings.Reader); ok {
			return asText(strings.NewReader(string(in)))
		}
		return asText(bytes.NewReader(in))
	}
	r, err := text()
	if err != nil {
		return nil, err
	}
	at, _, err := findRecords(r, "", false, limit)
	if err != nil {
		return nil, err
	}
	r, _ = text()
	j, err := newJSONReader(r, at, nil, newJSONColumns(), limit)
	if err != nil {
		return nil, err
	}
	rows, err := readRows(j)
	return append([][]string{j.columns()}, rows...), err
}

func TestJSONReader(t *testing.T) {
	t.Parallel()
	type rows = [][]string
	tests := []struct {
		name, in string
		want     rows
	}{
		{"array", `[{"a":"x","b":1}, {"a":"y","b":2}]`, rows{{"a", "b"}, {"x", "1"}, {"y", "2"}}},
		{"lines", "{\"a\":\"x\"}\n{\"a\":\"y\"}\n", rows{{"a"}, {"x"}, {"y"}}},
		{"lines with blank ones, other line ends and none at the end", "\n \n{\"a\":1}\r\n\r\n\t{\"a\":2} ", rows{{"a"}, {"1"}, {"2"}}},
		{"an object over several lines", "{\n \"a\": 1\n}\n{\"a\":\n2}", rows{{"a"}, {"1"}, {"2"}}},
		{"byte order mark", "\xEF\xBB\xBF[{\"a\":1}]", rows{{"a"}, {"1"}}},
		{"no records", " [ ] \n", rows{nil}},
		{"no members", `[{},{ }]`, rows{nil, {}, {}}},
		{"numbers stay as they are written", `[{"a":1.50,"b":-0,"c":1e5,"d":12345678901234567890.123456789,"e":1E+2}]`,
			rows{{"a", "b", "c", "d", "e"}, {"1.50", "-0", "1e5", "12345678901234567890.123456789", "1E+2"}}},
		{"true, false and null", `[{"a":true,"b":false,"c":null}]`, rows{{"a", "b", "c"}, {"true", "false", ""}}},
		{"columns in order of appearance", `[{"b":1},{"a":2,"b":3},{"c":4}]`, rows{{"b", "a", "c"}, {"1"}, {"3", "2"}, {"", "", "4"}}},
		{"a member not seen again is empty", `[{"a":"long value","b":2},{"b":3}]`, rows{{"a", "b"}, {"long value", "2"}, {"", "3"}}},
		{"escapes", `[{"\u0061":"\"\\\/\b\f\n\r\t\u00e9\u6984\ud83c\udf31\u0000"}]`, rows{{"a"}, {"\"\\/\b\f\n\r\té\u6984🌱\x00"}}},
		{"escape of the replacement character", `[{"a":"\uFFFD"}]`, rows{{"a"}, {"\uFFFD"}}},
		{"characters of all lengths", `[{"å":"植🌱"}]`, rows{{"å"}, {"植🌱"}}},
		{"a name that is empty", `[{"":"x"}]`, rows{{""}, {"x"}}},
		{"objects on one line", `{"a":1}{"a":2} {"a":3}`, rows{{"a"}, {"1"}, {"2"}, {"3"}}},
		{"an object alone", "{\n  \"a\": 1,\n  \"b\": {\"c\": true}\n}\n", rows{{"a", "b.c"}, {"1", "true"}}},
		{"an empty object alone", `{}`, rows{nil, {}}},
		{"objects are flattened", `[{"a":{"b":{"c":1,"d":null}},"e":2},{"a":{"b":{"c":"x"}}}]`,
			rows{{"a.b.c", "a.b.d", "e"}, {"1", "", "2"}, {"x", "", ""}}},
		{"empty objects and arrays", `[{"a":{},"b":[],"c":{ },"d":[ ],"e":{"f":{}}}]`, rows{{"a", "b", "c", "d", "e.f"}, {"", "", "", "", ""}}},
		{"an object here and null there", `[{"a":null},{"a":{"b":1}},{"a":2}]`, rows{{"a", "a.b"}, {""}, {"", "1"}, {"2", ""}}},
		{"names that look alike", `[{"a":{"b":1},"a.b":2}]`, rows{{"a.b", "a.b"}, {"1", "2"}}},
		{"arrays of plain values", `[{"a":["x", "y z","\u0041"],"b":[1.50,-0,1e5],"c":[true,false,null],"d":["", 1]}]`,
			rows{{"a", "b", "c", "d"}, {"x,y z,A", "1.50,-0,1e5", "[true,false,null]", `["",1]`}}},
		{"arrays of values with commas", `[{"a":["x, y" , "z"],"b":["\u002c"],"c":[1,"2,3"]}]`,
			rows{{"a", "b", "c"}, {`["x, y","z"]`, `["\u002c"]`, `[1,"2,3"]`}}},
		{"arrays of other things", "[{\"a\":[ {\"b\" : 1.0} , [ ] ],\"c\":[ [1, 2],\t[\"a b\\\" ]\"] ],\"d\":9}]",
			rows{{"a", "c", "d"}, {`[{"b":1.0},[]]`, `[[1,2],["a b\" ]"]]`, "9"}}},
		{"arrays as records", `[["a","b","b",""],[1,null,"x",[1,2]],[2],[3,4,5,{"k": [1]},null]]`,
			rows{{"a", "b", "b_2", "column_4"}, {"1", "", "x", "1,2"}, {"2", "", "", ""}, {"3", "4", "5", `{"k":[1]}`}}},
		{"plain values as records", `["x", 1.0, null, true]`, rows{{"value"}, {"x"}, {"1.0"}, {""}, {"true"}}},
		{"wrapper", `{"total":2,"data":[{"a":1},{"a":2}],"next":{"x":[1]}}`, rows{{"a"}, {"1"}, {"2"}}},
		{"wrapper in a wrapper", `{"success":true,"result":{"n":1,"records":[{"a":1}]}}`, rows{{"a"}, {"1"}}},
		{"three deep", `{"a":{"b":{"c":[{"d":1}]}}}`, rows{{"d"}, {"1"}}},
		{"four deep is a record", `{"a":{"b":{"c":{"d":[{"e":1}]}}}}`, rows{{"a.b.c.d"}, {`[{"e":1}]`}}},
		{"features", `{"type":"FeatureCollection","bbox":[1,2],"features":[{"type":"Feature","properties":{"n":"x"},"geometry":{"type":"Point","coordinates":[1.10,2]}}]}`,
			rows{{"type", "properties.n", "geometry.type", "geometry.coordinates"}, {"Feature", "x", "Point", "1.10,2"}}},
		{"wrapper of nothing", `{"data":[]}`, rows{nil}},
		{"several arrays", `{"result":{"fields":[{"id":"a"}],"Records":[{"a":1},{"a":2}],"links":[["x"]]}}`, rows{{"a"}, {"1"}, {"2"}}},
		{"several arrays, no records", `{"result":{"fields":[{"id":"a"}],"records":[]}}`, rows{nil}},
		{"a record with an empty list", `{"name":"fern","tags":[]}`, rows{{"name", "tags"}, {"fern", ""}}},
		{"lines that could be wrappers", "{\"a\":[{\"b\":1}]}\n{\"a\":[{\"b\":2}]}\n", rows{{"a"}, {`[{"b":1}]`}, {`[{"b":2}]`}}},
		{"an object whose name is empty", `[{"":{"a":1},"a":2}]`, rows{{".a", "a"}, {"1", "2"}}},
		{"names that differ in case", `[{"a":1,"A":2}]`, rows{{"a", "A"}, {"1", "2"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, src := range []io.Reader{strings.NewReader(tt.in), iotest.OneByteReader(strings.NewReader(tt.in))} {
				got, err := readJSON(src, 0)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("rows (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestJSONReader_Refuses(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, want string }{
		{"nothing", " \n ", "the file is empty; write an array of objects, or one object per line"},
		{"something else", "\n id,name\n", "line 2: the file starts with 'i'; write an array of objects ([…]), or one object per line ({…})"},
		{"text", `"x"`, "line 1: the file starts with text in quotes; write an array of objects ([…]), or one object per line ({…})"},
		{"line that is no object", "{}\n5\n", "record 1, line 2: '5' follows the object; write one object per line and nothing between them"},
		{"member twice", "[{\"a\":1,\n\"\\u0061\":2}]", `record 1, line 2: the member "a" occurs twice; give each member once`},
		{"first half of a pair", `[{"a":"\ud83c"}]`, `record 1, line 1: \ud83c is half of a surrogate pair; write both halves`},
		{"second half of a pair", `[{"a":"\uDF31x"}]`, `record 1, line 1: \uDF31 is half of a surrogate pair; write both halves`},
		{"halves that do not fit", `[{"a":"\ud83c\ud83c"}]`, `record 1, line 1: \ud83c is half of a surrogate pair; write both halves`},
		{"half a pair before another escape", `[{"a":"\ud83c\n12345"}]`, `record 1, line 1: \ud83c is half of a surrogate pair; write both halves`},
		{"short escape", `[{"a":"\u12"}]`, `record 1, line 1: \u is not followed by four hexadecimal digits`},
		{"unknown escape", `[{"a":"\x41"}]`, `record 1, line 1: \x is no escape; write a backslash as \\`},
		{"control character", "[{\"a\":\"x\ty\"}]", `record 1, line 1: there is a control character (0x09) in a text; write it as \u0009`},
		{"line end in text", "{\"a\":\"x\n\"}", `line 1: there is a control character (0x0A) in a text; write it as \u000a`},
		{"trailing text", "[{\"a\":1}]\n{}", "line 2: text follows the end of the records; remove it"},
		{"comma between lines", "{\"a\":1},\n{\"a\":2}", "record 1, line 1: ',' follows the object; write one object per line and nothing between them"},
		{"no comma between objects", "[{\"a\":1}\n{\"a\":2}]", "record 1, line 2: an object follows the record; write a comma between records and ] after the last"},
		{"comma at the end of the array", `[{"a":1},]`, "record 2, line 1: there is ']' where an object should be; all records must be written alike"},
		{"comma at the start of the array", `[,{"a":1}]`, "record 1, line 1: there is ',' where a plain value should be; all records must be written alike"},
		{"comma at the end of an object", `[{"a":1,}]`, "record 1, line 1: there is '}' where the name of a member should be; write it in quotes"},
		{"name without quotes", `[{a:1}]`, "record 1, line 1: there is 'a' where the name of a member should be; write it in quotes"},
		{"no colon", `[{"a" 1}]`, `record 1, line 1: a colon is missing after the name "a"`},
		{"no value", `[{"a":}]`, `record 1, line 1: there is '}' where the value of "a" should be`},
		{"no comma between members", `[{"a":1 "b":2}]`, `record 1, line 1: text in quotes follows the value of "a"; write a comma between members and } after the last`},
		{"leading zero", `[{"a":007}]`, `record 1, line 1: "007", the value of "a", is no JSON value; put text in quotes and write numbers like -3 or 12.50`},
		{"not a number", `[{"a":NaN}]`, `record 1, line 1: "NaN", the value of "a", is no JSON value; put text in quotes and write numbers like -3 or 12.50`},
		{"array cut short", `[{"a":1}`, "record 1, line 1: the array is not closed; end it with ]"},
		{"object cut short", "{\"a\":1", "line 1: the object is not closed; end it with }"},
		{"object cut short after its name", `{"a"`, `line 1: a colon is missing after the name "a"`},
		{"object cut short after its colon", `{"a":`, `line 1: a value of "a" is missing`},
		{"array within a record cut short", `[{"a":[1,`, `record 1, line 1: a value of "a" is missing`},
		{"object within an array cut short", `[{"a":[{"b"`, `record 1, line 1: a colon is missing after the name of a member within "a"`},
		{"no comma in an array", `[{"a":[1 2]}]`, "record 1, line 1: '2' follows an element of an array; write a comma between elements and ] after the last"},
		{"no value in an array", `[{"a":[1,]}]`, `record 1, line 1: there is ']' where the value of "a" should be`},
		{"unknown escape in an array", `[{"a":[{"b":"\x"}]}]`, `record 1, line 1: \x is no escape; write a backslash as \\`},
		{"short escape in an array", `[{"a":[{"b":"\u00"}]}]`, `record 1, line 1: \u is not followed by four hexadecimal digits`},
		{"objects too deep", `[` + strings.Repeat(`{"a":`, 200_000), "record 1, line 1: values are nested more than 100 deep; write the inner ones as text"},
		{"arrays too deep", `[{"a":` + strings.Repeat(`[`, 200_000), "record 1, line 1: values are nested more than 100 deep; write the inner ones as text"},
		{"too deep beside the records", `{"a":` + strings.Repeat(`[`, 200_000), "line 1: values are nested more than 100 deep; write the inner ones as text"},
		{"member of a member twice", `[{"a":{"b":1,"b":2}}]`, `record 1, line 1: the member "a.b" occurs twice; give each member once`},
		{"object twice", `[{"a":{"b":1},"a":{"c":2}}]`, `record 1, line 1: the member "a" occurs twice; give each member once`},
		{"records of different kinds", `[{"a":1},[2]]`, "record 2, line 1: there is an array where an object should be; all records must be written alike"},
		{"more elements than names", `[["a"],[1,2]]`, "record 2, line 1: the array has more than the 1 elements that have names"},
		{"a long name", `[{"` + strings.Repeat("x", 9_000) + `":1}]`, `record 1, line 1: the name of the member "` + strings.Repeat("x", 60) + `…" has 9000 bytes; at most 8192 are possible`},
		{"a long name of an array", `[["` + strings.Repeat("x", 9_000) + `"]]`, `the name of column 1, "` + strings.Repeat("x", 60) + `…", has 9000 bytes; at most 8192 are possible`},
		{"long names", longNames(), "record 1, line 1: the names of the members of all records have more than 4194304 bytes together; that is the most that is possible"},
		{"two arrays of objects", `{"fields":[{"id":"a"}],"result":{"plants":[{"a":1}]}}`,
			`the records can be in any of "fields", "result.plants"; name one of them as the property of the dialect`},
		{"two arrays with names that records go by", `{"data":[{"id":"a"}],"result":{"records":[]},"x":[[]]}`,
			`the records can be in any of "data", "result.records", "x"; name one of them as the property of the dialect`},
		{"an array of objects and one of arrays", `{"meta":{"columns":[{"id":"a"}]},"data":[[1]]}`,
			`the records can be in any of "meta.columns", "data"; name one of them as the property of the dialect`},
		{"text behind a wrapper", `{"data":[{"a":1}]}]`, "record 1, line 1: ']' follows the object; write one object per line and nothing between them"},
		{"wrapper cut short", `{"data":[{"a":1},{"a"`, `line 1: a colon is missing after the name of a member within "data"`},
		{"text cut short", `{"a":"x\`, "line 1: a quote is not closed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, src := range []io.Reader{strings.NewReader(tt.in), iotest.OneByteReader(strings.NewReader(tt.in))} {
				_, err := readJSON(src, 0)
				if err == nil || err.Error() != tt.want || herb.CodeOf(err) != herb.CodeInvalid {
					t.Errorf("got error  %v\nwant error %s", err, tt.want)
				}
			}
		})
	}
}

func TestJSONReader_RecordLimit(t *testing.T) {
	t.Parallel()
	fits := `{"a":"` + strings.Repeat("x", 92) + `"}` // 100 bytes
	if rows, err := readJSON(strings.NewReader(fits+"\n"+fits+"\n\n"+fits), 100); err != nil || len(rows) != 4 {
		t.Fatalf("records that just fit: got %d rows and error %v", len(rows), err)
	}
	want := "record 2, line 2: the record is longer than 100 bytes, which is the most that one may have"
	if _, err := readJSON(strings.NewReader("{}\n "+strings.Replace(fits, "x", "xy", 1)), 100); err == nil || err.Error() != want {
		t.Errorf("got error %v\nwant %s", err, want)
	}
}

func TestJSONReader_FailsAsItsSourceDoes(t *testing.T) {
	t.Parallel()
	for _, in := range []string{"", "[", `[{`, `[{"a`, `[{"a"`, `[{"a":`, `[{"a":1`, `[{"a":1}`, `[{"a":1},`, "[{}]", "{}", "{}\n", `{"a":"\`} {
		_, err := readJSON(io.MultiReader(strings.NewReader(in), iotest.ErrReader(io.ErrClosedPipe)), 0)
		if err != io.ErrClosedPipe {
			t.Errorf("after %q: got error %v, want %v", in, err, io.ErrClosedPipe)
		}
	}
}

// FuzzJSON holds the reader against encoding/json: what it accepts, that accepts too, with the same values.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{
		"", "[]", `[{"a":"x","b":1.50},{"a":null,"c":true}]`, "{\"a\":1}\n\n{\"b\":\"\\ud83c\\udf31\\n\"}", `[{"a":{"b":1}}]`, `[{"a":1,"a":2}]`,
		"{\"\xFF\":1}", `[{"a":"\ud83c"}]`, `[{"a":1e5}] x`, `{"a":-0.5E+7}`, `{"data":[{"a":[1,"x",{"y":[]}]}],"n":1}`, `[1,"x",null]`,
		`[{"a":{"b":{},"c":[[1],2]},"a.b":["x,y"]}]`, `{"r":{"d":[{"a":1}]},"e":[]} `,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		r, err := asText(bytes.NewReader(in))
		if err != nil {
			return
		}
		at, _, err := findRecords(r, "", false, 1<<20)
		if err != nil {
			wantInvalid(t, err)
			return
		}
		r, _ = asText(bytes.NewReader(in))
		j, err := newJSONReader(r, at, nil, newJSONColumns(), 1<<20)
		if err != nil {
			wantInvalid(t, err)
			return
		}
		rows, err := readRows(j)
		if err != nil {
			wantInvalid(t, err)
			return
		}
		if j.kind == '[' {
			return // TestJSONReader has these
		}
		r, _ = asText(bytes.NewReader(in))
		records := decodeRecords(t, r, at)
		if len(records) != len(rows) {
			t.Fatalf("got %d records, want %d", len(rows), len(records))
		}
		for i, record := range records {
			want := map[string]any{}
			flattenPlain(want, "", record)
			for path, node := range j.cols.index {
				column := j.cols.nodes[node].column
				if column == 0 {
					continue
				}
				got := ""
				if column <= len(rows[i]) {
					got = rows[i][column-1]
				}
				if !sameValue(got, want[path]) {
					t.Fatalf("record %d, member %q: got %q, want %v", i+1, path, got, want[path])
				}
				delete(want, path)
			}
			if len(want) > 0 {
				t.Fatalf("record %d: nobody knows of %v", i+1, want)
			}
		}
	})
}

func wantInvalid(t *testing.T, err error) {
	t.Helper()
	if herb.CodeOf(err) != herb.CodeInvalid {
		t.Fatalf("an error without a code: %v", err)
	}
}

// decodeRecords reads the records with encoding/json.
func decodeRecords(t *testing.T, r io.Reader, at []string) (records []any) {
	t.Helper()
	d := json.NewDecoder(r)
	d.UseNumber()
	for {
		var v any
		if err := d.Decode(&v); err == io.EOF {
			return records
		} else if err != nil {
			t.Fatalf("accepted what is no JSON: %v", err)
		}
		for _, name := range at {
			v = v.(map[string]any)[name]
		}
		if array, ok := v.([]any); ok {
			return append(records, array...)
		}
		records = append(records, v)
	}
}

// flatten lists the values of a record by the way to them.
func flattenPlain(out map[string]any, path string, v any) {
	m, ok := v.(map[string]any)
	if !ok && path == "" {
		out["value"] = v // a plain value
		return
	}
	if !ok || len(m) == 0 && path != "" {
		out[strings.TrimPrefix(path, "\xFF")] = v
		return
	}
	for name, v := range m {
		flattenPlain(out, path+"\xFF"+name, v)
	}
}

// sameValue reports whether a cell is what a decoded value is published as.
func sameValue(cell string, v any) bool {
	array, ok := v.([]any)
	if !ok {
		return cell == plainText(v)
	}
	var list []string
	for _, e := range array {
		switch e.(type) {
		case map[string]any, []any:
			return sameJSON(cell, v)
		}
		list = append(list, plainText(e))
		if strings.Contains(list[len(list)-1], ",") {
			return sameJSON(cell, v)
		}
	}
	return cell == strings.Join(list, ",")
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
		if v {
			return "true"
		}
		return "false"
	default:
		return ""
	}
}

// longNames is a record with many names, each of which is just not too long.
func longNames() string {
	var b strings.Builder
	for i := range 600 {
		fmt.Fprintf(&b, `,"%08000d":1`, i)
	}
	return "[{" + b.String()[1:] + "}]"
}
