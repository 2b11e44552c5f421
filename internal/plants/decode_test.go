package plants_test

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
	"herbarium/internal/plants"
)

func plant(id int64, name string, tag ...string) herb.NewPlant {
	p := herb.NewPlant{ID: id, Plant: herb.Plant{Name: name}}
	if len(tag) > 0 {
		p.Tag = &tag[0]
	}
	return p
}

func TestDecode(t *testing.T) {
	t.Parallel()
	const fern = `,"name":"Fern"}`
	long := strings.Repeat("ü", 255)
	tests := []struct {
		name, body string
		want       herb.NewPlant
	}{
		{"all members", `{"id":1,"name":"Fern","tag":"shade"}`, plant(1, "Fern", "shade")},
		{"no tag", `{"id":1,"name":"Fern"}`, plant(1, "Fern")},
		{"empty tag", `{"id":1,"name":"Fern","tag":""}`, plant(1, "Fern", "")},
		{"blanks around", " \r\n\t{ \"id\" : 1 , \"name\" : \"Fern\" } \n", plant(1, "Fern")},
		{"unknown members", `{"id":1,"x":{"id":2,"y":[{"id":3},{"id":3}]},"name":"Fern","X":null}`, plant(1, "Fern")},
		{"member names are case-sensitive", `{"ID":9,"id":1,"Name":7,"name":"Fern","TAG":5}`, plant(1, "Fern")},
		{"escaped member name", `{"\u0069d":1,"name":"Fern"}`, plant(1, "Fern")},
		{"escapes", `{"id":1,"name":"\u00e9 \"\\\/ \ud83c\udf39"}`, plant(1, `é "\/ 🌹`)},
		{"escaped backslash before u", `{"id":1,"name":"\\ud800"}`, plant(1, `\ud800`)},
		{"html stays", `{"id":1,"name":"<b>&amp;"}`, plant(1, "<b>&amp;")},
		{"longest name and tag", `{"id":1,"name":"` + long + `","tag":"` + long + `"}`, plant(1, long, long)},
		{"blanks kept", `{"id":1,"name":" a ","tag":" "}`, plant(1, " a ", " ")},
		{"joined emoji", `{"id":1,"name":"👩‍🌾"}`, plant(1, "👩‍🌾")},

		{"id negative", `{"id":-7` + fern, plant(-7, "Fern")},
		{"id minus zero", `{"id":-0` + fern, plant(0, "Fern")},
		{"id minus zero point", `{"id":-0.0e5` + fern, plant(0, "Fern")},
		{"id with fraction of zeros", `{"id":1.000` + fern, plant(1, "Fern")},
		{"id with exponent", `{"id":1e3` + fern, plant(1000, "Fern")},
		{"id with signed exponent", `{"id":1E+3` + fern, plant(1000, "Fern")},
		{"id with negative exponent", `{"id":12300e-2` + fern, plant(123, "Fern")},
		{"id with fraction and exponent", `{"id":1.25e2` + fern, plant(125, "Fern")},
		{"id zero with huge exponent", `{"id":0e99999999999999999999` + fern, plant(0, "Fern")},
		{"id largest", `{"id":9223372036854775807` + fern, plant(math.MaxInt64, "Fern")},
		{"id least", `{"id":-9223372036854775808` + fern, plant(math.MinInt64, "Fern")},
		{"id beyond float64", `{"id":9007199254740993` + fern, plant(9007199254740993, "Fern")},
		{"id largest in parts", `{"id":0.9223372036854775807e19` + fern, plant(math.MaxInt64, "Fern")},
		{"id long and exact", `{"id":1` + strings.Repeat("0", 5000) + `e-5000` + fern, plant(1, "Fern")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := plants.Decode([]byte(tt.body))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecode_invalid(t *testing.T) {
	t.Parallel()
	const fern = `,"name":"Fern"}`
	tests := []struct{ name, body, message string }{
		{"nothing", "", "the body is empty; send a JSON object"},
		{"blank", " \n", "the body is empty; send a JSON object"},
		{"not JSON", "id=1", "not valid JSON at byte 1"},
		{"cut off", `{"id":1,"name":"Fern"`, "not valid JSON at byte"},
		{"array", `[{"id":1,"name":"Fern"}]`, "the body is an array; send a JSON object"},
		{"null", "null", "the body is null; send a JSON object"},
		{"string", `"Fern"`, "the body is a string; send a JSON object"},
		{"number", "7", "the body is a number; send a JSON object"},
		{"trailing object", `{"id":1,"name":"Fern"}{}`, "not valid JSON at byte 23"},
		{"trailing comma", `{"id":1,"name":"Fern",}`, "not valid JSON"},
		{"byte order mark", "\ufeff{\"id\":1" + fern, "not valid JSON at byte 1"},
		{"comment", `{"id":1/*x*/` + fern, "not valid JSON"},
		{"leading zero", `{"id":01` + fern, "not valid JSON"},
		{"plus sign", `{"id":+1` + fern, "not valid JSON"},
		{"raw line break", "{\"id\":1,\"name\":\"a\nb\"}", "not valid JSON"},
		{"too deep", `{"x":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + "}", "not valid JSON"},
		{"too long", `{"id":1,"name":"Fern","x":"` + strings.Repeat("x", plants.MaxBody) + `"}`, "larger than 1 MiB"},
		{"twice", `{"id":1,"id":1` + fern, `duplicate member "id"; give it once`},
		{"twice with an escape", `{"id":1,"i\u0064":2` + fern, `duplicate member "id"; give it once`},
		{"twice an unknown member", `{"x":1,"x":2,"id":1` + fern, `duplicate member "x"; give it once`},
		{"twice inside", `{"x":[{"y":{"z":1,"z":1}}],"id":1` + fern, `duplicate member "z"; give it once`},
		{"invalid UTF-8", "{\"id\":1,\"name\":\"\xff\"}", "not valid UTF-8"},
		{"invalid UTF-8 elsewhere", "{\"x\":\"\xc3\x28\",\"id\":1" + fern, "not valid UTF-8"},
		{"surrogate in UTF-8", "{\"id\":1,\"name\":\"\xed\xa0\x80\"}", "not valid UTF-8"},
		{"first half alone", `{"id":1,"name":"\ud83c"}`, "half of a \\u surrogate pair"},
		{"first half before a letter", `{"id":1,"name":"\ud83cx"}`, "half of a \\u surrogate pair"},
		{"first half before another escape", `{"id":1,"name":"\ud83c\n"}`, "half of a \\u surrogate pair"},
		{"first half twice", `{"id":1,"name":"\ud83c\ud83c"}`, "half of a \\u surrogate pair"},
		{"second half alone", `{"id":1,"name":"\udf39"}`, "half of a \\u surrogate pair"},
		{"half in a member name", `{"\udf39":1,"id":1` + fern, "half of a \\u surrogate pair"},

		{"no id", `{"name":"Fern"}`, `"id" is missing; it must be an integer from -9223372036854775808`},
		{"id of another case", `{"Id":1,"name":"Fern"}`, `"id" is missing`},
		{"id null", `{"id":null` + fern, `"id" is null; it must be an integer`},
		{"id string", `{"id":"1"` + fern, `"id" is a string; it must be an integer`},
		{"id boolean", `{"id":true` + fern, `"id" is a boolean; it must be an integer`},
		{"id object", `{"id":{}` + fern, `"id" is an object; it must be an integer`},
		{"id array", `{"id":[1]` + fern, `"id" is an array; it must be an integer`},
		{"id fraction", `{"id":1.5` + fern, `"id" is 1.5, which is not an integer`},
		{"id tiny", `{"id":1e-999999999999999999999` + fern, "which is not an integer"},
		{"id small exponent", `{"id":5e-1` + fern, "which is not an integer"},
		{"id one too large", `{"id":9223372036854775808` + fern, "which is out of range"},
		{"id one too small", `{"id":-9223372036854775809` + fern, "which is out of range"},
		{"id large exponent", `{"id":1e999999999` + fern, "which is out of range"},
		{"id larger exponent", `{"id":1e99999999999999999999` + fern, "which is out of range"},
		{"id long fraction", `{"id":1.` + strings.Repeat("0", 300) + "1" + fern, "which is not an integer"},

		{"no name", `{"id":1}`, `"name" is missing; it must be a string of 1 to 255 characters`},
		{"name null", `{"id":1,"name":null}`, `"name" is null; it must be a string`},
		{"name number", `{"id":1,"name":5}`, `"name" is a number; it must be a string`},
		{"name empty", `{"id":1,"name":""}`, `"name" has no visible character; it must have at least one`},
		{"name blank", `{"id":1,"name":" \u00a0\u3000"}`, `"name" has no visible character`},
		{"name invisible", `{"id":1,"name":"\u200b\u00ad\ufeff\u3164\u2800\ufe0f"}`, `"name" has no visible character`},
		{"name too long", `{"id":1,"name":"` + strings.Repeat("ü", 256) + `"}`,
			`"name" has 256 characters; it must have at most 255`},
		{"name with a line break", `{"id":1,"name":"a\nb"}`, `"name" contains the control character U+000A`},
		{"name with NUL", `{"id":1,"name":"a\u0000"}`, `"name" contains the control character U+0000`},
		{"name with DEL", `{"id":1,"name":"a` + "\x7f" + `"}`, `"name" contains the control character U+007F`},
		{"name with a C1 control", `{"id":1,"name":"a\u0085"}`, `"name" contains the control character U+0085`},
		{"tag null", `{"id":1,"name":"Fern","tag":null}`, `"tag" is null; it must be a string of up to 255 characters`},
		{"tag array", `{"id":1,"name":"Fern","tag":[]}`, `"tag" is an array; it must be a string`},
		{"tag too long", `{"id":1,"name":"Fern","tag":"` + strings.Repeat("t", 256) + `"}`, `"tag" has 256 characters`},
		{"tag with a tab", `{"id":1,"name":"Fern","tag":"\t"}`, `"tag" contains the control character U+0009`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p, err := plants.Decode([]byte(tt.body))
			if err == nil {
				t.Fatalf("accepted as %+v", p)
			}
			if code := herb.CodeOf(err); code != herb.CodeInvalid {
				t.Errorf("the code is %q", code)
			}
			if !strings.Contains(err.Error(), tt.message) {
				t.Errorf("got  %s\nwant …%s…", err, tt.message)
			}
			if len(err.Error()) > 400 {
				t.Errorf("the message has %d bytes", len(err.Error()))
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"id":1,"name":"Fern","tag":"shade"}`, `{"id":1.0e2,"name":"\ud83c\udf39","x":[{"a":1,"a":2}]}`,
		`{"id":-0,"name":"\u0000"}`, `{"id":1e999999999,"name":" "}`, `{"id":1,"name":"\ud83c"}`, `[`, "\xff", `{"\`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		p, err := plants.Decode(body)
		if err != nil {
			if herb.CodeOf(err) != herb.CodeInvalid {
				t.Fatalf("%q: the code is %q: %v", body, herb.CodeOf(err), err)
			}
			return
		}
		again, err := plants.Decode(encode(t, p))
		if err != nil {
			t.Fatalf("%q is accepted, but not what it means: %v", body, err)
		}
		if diff := cmp.Diff(p, again); diff != "" {
			t.Fatalf("%q (-first +again):\n%s", body, diff)
		}
	})
}

// encode writes a plant as a client would.
func encode(t *testing.T, p herb.NewPlant) []byte {
	t.Helper()
	rest, err := json.Marshal(p.Plant)
	if err != nil {
		t.Fatal(err)
	}
	return append([]byte(`{"id":`+strconv.FormatInt(p.ID, 10)+","), bytes.TrimPrefix(rest, []byte("{"))...)
}
