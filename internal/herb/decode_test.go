package herb

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// decode decodes a record with the fields a and b twice with the same decoder, and returns the
// values of the second one.
func decode(record string) ([]string, error) {
	records, err := DecodeRecords([]Field{{Name: "a"}, {Name: "b"}}, [][]byte{[]byte(record), []byte(record)})
	if err != nil {
		return nil, err
	}
	return records[1], nil
}

func TestRecordDecoder(t *testing.T) {
	t.Parallel()
	for record, want := range map[string][]string{
		`{"a":"","b":""}`:                                            {"", ""},
		`{"a":"x","b":"植物園 and more"}`:                               {"x", "植物園 and more"},
		`{"a":"\"\\\/\b\f\n\r\t","b":"x"}`:                           {"\"\\/\b\f\n\r\t", "x"},
		`{"a":"\u00e9\u0000","b":"\uD83C\uDF33"}`:                    {"é\x00", "🌳"},
		`{"\u0061":"` + strings.Repeat("long ", 50) + `\"","b":"x"}`: {strings.Repeat("long ", 50) + `"`, "x"},
	} {
		if got, err := decode(record); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v; want %q", record, got, err, want)
		}
	}
	for _, record := range []string{
		``, `{`, `{}`, `{"a":"x"}`, `{"a":"x","b":"y"`, `{"a":"x","b":"y"}}`, `{"a":"x","b":"y"} `, `{"a":"x","c":"y"}`,
		`{"b":"x","a":"y"}`, `{"a":"x","b":1}`, `{"a":"x","b":null}`, `["a":"x","b":"y"]`, `{"a":"x" ,"b":"y"}`,
		"{\"a\":\"\n\",\"b\":\"y\"}", "{\"a\":\"xxxxxxxxxxx\x01xxxxxxxxxxxxx\",\"b\":\"y\"}",
		"{\"a\":\"\xff\",\"b\":\"y\"}",
		`{"a":"\x","b":"y"}`, `{"a":"\u12g4","b":"y"}`, `{"a":"x\`, `{"a":"\u12`,
	} {
		if got, err := decode(record); err == nil {
			t.Errorf("%s is decoded as %q; want an error", record, got)
		}
	}
}

// FuzzRecordDecoder compares the decoder with encoding/json: it decodes the same values, and
// accepts every flat object that encoding/json accepts.
func FuzzRecordDecoder(f *testing.F) {
	f.Add(`x`, "y")
	f.Add(`a\u00e9\n"`, "\x00\x1f植\u2028")
	f.Add("", "\t\r\n\b\f\"\\/\x7f")
	f.Add(`\ud83c\udf33`, strings.Repeat("z", 20)+`"`)
	f.Fuzz(func(t *testing.T, raw, value string) {
		record := `{"a":"` + raw + `","b":"x"}`
		got, err := decode(record)
		var want map[string]string
		if err == nil {
			if err := json.Unmarshal([]byte(record), &want); err != nil || want["a"] != got[0] || want["b"] != got[1] {
				t.Errorf("%q is read as %q; encoding/json says %q, %v", record, got, want, err)
			}
		}
		if !utf8.ValidString(value) {
			return
		}
		encoded, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		rendered := Record{value, value}.AppendJSON(nil, []Field{{Name: "a"}, {Name: "b"}})
		for _, record := range []string{`{"a":` + string(encoded) + `,"b":` + string(encoded) + `}`, string(rendered)} {
			if got, err := decode(record); err != nil || got[0] != value || got[1] != value {
				t.Errorf("%q is read as %q, %v", record, got, err)
			}
		}
	})
}
