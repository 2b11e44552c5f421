package ingest

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
)

// readJSON returns the columns and the records.
func readJSON(src io.Reader, limit int) ([][]string, error) {
	j, err := newJSONReader(src, limit)
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
	const flat = "; only text, numbers, true, false and null can be published, so write its parts as members of their own"
	tests := []struct{ name, in, want string }{
		{"nothing", " \n ", "the file is empty; write an array of objects, or one object per line"},
		{"something else", "\n id,name\n", "line 2: the file starts with 'i'; write an array of objects ([…]), or one object per line ({…})"},
		{"text", `"x"`, "line 1: the file starts with text in quotes; write an array of objects ([…]), or one object per line ({…})"},
		{"UTF-16", "\xFE\xFF\x00[", "the file is written in UTF-16; save it as UTF-8"},
		{"nested object", "[{\"a\":1},\n{\"a\":{\"b\":1}}]", `record 2, line 2: the member "a" holds an object` + flat},
		{"nested array", "{\"a\":1}\n\n{\"tags\":[1]}", `record 2, line 3: the member "tags" holds an array` + flat},
		{"array of arrays", `[[1]]`, "record 1, line 1: there is an array where an object should be; each record must be an object of plain values"},
		{"array of numbers", `[1]`, "record 1, line 1: there is '1' where an object should be; each record must be an object of plain values"},
		{"line that is no object", "{}\n5\n", "record 2, line 2: there is '5' where an object should be; write one object per line"},
		{"member twice", "[{\"a\":1,\n\"\\u0061\":2}]", `record 1, line 2: the member "a" occurs twice; give each member once`},
		{"invalid UTF-8", "{\"a\":1}\n{\"a\":\"\xE9\"}", "record 2, line 2: invalid UTF-8 at byte 14 of the file; save it as UTF-8"},
		{"invalid UTF-8 in a name", "[{\"\xFF\":1}]", "record 1, line 1: invalid UTF-8 at byte 3 of the file; save it as UTF-8"},
		{"first half of a pair", `[{"a":"\ud83c"}]`, `record 1, line 1: \ud83c is half of a surrogate pair; write both halves`},
		{"second half of a pair", `[{"a":"\uDF31x"}]`, `record 1, line 1: \uDF31 is half of a surrogate pair; write both halves`},
		{"halves that do not fit", `[{"a":"\ud83c\ud83c"}]`, `record 1, line 1: \ud83c is half of a surrogate pair; write both halves`},
		{"half a pair before another escape", `[{"a":"\ud83c\n12345"}]`, `record 1, line 1: \ud83c is half of a surrogate pair; write both halves`},
		{"short escape", `[{"a":"\u12"}]`, `record 1, line 1: \u is not followed by four hexadecimal digits`},
		{"unknown escape", `[{"a":"\x41"}]`, `record 1, line 1: \x is no escape; write a backslash as \\`},
		{"control character", "[{\"a\":\"x\ty\"}]", `record 1, line 1: there is a control character (0x09) in a text; write it as \u0009`},
		{"line end in text", "{\"a\":\"x\n\"}", `record 1, line 1: there is a control character (0x0A) in a text; write it as \u000a`},
		{"trailing text", "[{\"a\":1}]\n{}", "line 2: text follows the end of the array; remove it"},
		{"two objects on a line", `{"a":1} {"a":2}`, "record 1, line 1: an object follows the object; write each object on a line of its own"},
		{"comma between lines", "{\"a\":1},\n{\"a\":2}", "record 1, line 1: ',' follows the object; write each object on a line of its own"},
		{"no comma between objects", "[{\"a\":1}\n{\"a\":2}]", "record 1, line 2: an object follows the object; write a comma between objects and ] after the last"},
		{"comma at the end of the array", `[{"a":1},]`, "record 2, line 1: there is ']' where an object should be; each record must be an object of plain values"},
		{"comma at the start of the array", `[,{"a":1}]`, "record 1, line 1: there is ',' where an object should be; each record must be an object of plain values"},
		{"comma at the end of an object", `[{"a":1,}]`, "record 1, line 1: there is '}' where the name of a member should be; write it in quotes"},
		{"name without quotes", `[{a:1}]`, "record 1, line 1: there is 'a' where the name of a member should be; write it in quotes"},
		{"no colon", `[{"a" 1}]`, `record 1, line 1: a colon is missing after the name "a"`},
		{"no value", `[{"a":}]`, `record 1, line 1: there is '}' where the value of "a" should be`},
		{"no comma between members", `[{"a":1 "b":2}]`, `record 1, line 1: text in quotes follows the value of "a"; write a comma between members and } after the last`},
		{"leading zero", `[{"a":007}]`, `record 1, line 1: "007", the value of "a", is no JSON value; put text in quotes and write numbers like -3 or 12.50`},
		{"not a number", `[{"a":NaN}]`, `record 1, line 1: "NaN", the value of "a", is no JSON value; put text in quotes and write numbers like -3 or 12.50`},
		{"array cut short", `[{"a":1}`, "record 1, line 1: the array is not closed; end it with ]"},
		{"object cut short", "{\"a\":1", "record 1, line 1: the object is not closed; end it with }"},
		{"object cut short after its name", `{"a"`, `record 1, line 1: a colon is missing after the name "a"`},
		{"object cut short after its colon", `{"a":`, `record 1, line 1: the member "a" has no value`},
		{"text cut short", `{"a":"x\`, "record 1, line 1: a quote is not closed"},
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
		"{\"\xFF\":1}", `[{"a":"\ud83c"}]`, `[{"a":1e5}] x`, `{"a":-0.5E+7}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		got, err := readJSON(bytes.NewReader(in), 1<<20)
		if err != nil {
			if herb.CodeOf(err) != herb.CodeInvalid {
				t.Fatalf("an error without a code: %v", err)
			}
			return
		}
		d := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(in, []byte("\xEF\xBB\xBF"))))
		d.UseNumber()
		var records []map[string]any
		if bytes.HasPrefix(bytes.TrimLeft(bytes.TrimPrefix(in, []byte("\xEF\xBB\xBF")), " \t\r\n"), []byte("[")) {
			if err := d.Decode(&records); err != nil {
				t.Fatalf("accepted what is no JSON: %v", err)
			}
		} else {
			for {
				var r map[string]any
				if err := d.Decode(&r); err == io.EOF {
					break
				} else if err != nil {
					t.Fatalf("accepted what is no JSON: %v", err)
				}
				records = append(records, r)
			}
		}
		if len(records) != len(got)-1 {
			t.Fatalf("got %d records, want %d", len(got)-1, len(records))
		}
		for i, r := range records {
			for k, name := range got[0] {
				value := ""
				if k < len(got[i+1]) {
					value = got[i+1][k]
				}
				if want := plainText(r[name]); value != want {
					t.Fatalf("record %d, member %q: got %q, want %q", i+1, name, value, want)
				}
			}
		}
	})
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
