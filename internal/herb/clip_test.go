package herb_test

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"herbarium/internal/herb"
)

// TestDecodeClipped compares random records with those that were encoded.
func TestDecodeClipped(t *testing.T) {
	t.Parallel()
	fields := []herb.Field{{Name: "a"}, {Name: `b "quoted" \`}, {Name: "ç"}, {Name: "skipped"}}
	pieces := []string{"a", " ", `"`, `\`, "\n", "\x01", "ç", "植", "🌱", strings.Repeat("long ", 20), `\\"`, "}",
		"{", ",", ":"}
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		values := make(herb.Record, len(fields))
		for i := range values {
			for range random.IntN(12) {
				values[i] += pieces[random.IntN(len(pieces))]
			}
		}
		limits := []int{1 + random.IntN(40), 1 + random.IntN(40), 1 + random.IntN(200), 0}
		got, err := herb.DecodeClipped(fields, values.AppendJSON(nil, fields), func(i int) int { return limits[i] })
		if err != nil {
			t.Fatalf("%q: %v", values, err)
		}
		for i, want := range values {
			if len(want) > limits[i] {
				end := limits[i]
				for end > 0 && !utf8.RuneStart(want[end]) {
					end--
				}
				want = want[:end]
			}
			if got[i] != want {
				t.Fatalf("%q up to %d bytes: %q; want %q", values[i], limits[i], got[i], want)
			}
		}
	}
	for _, malformed := range []string{``, `{`, `{}`, `{"a"`, `{"a":"`, `{"a":"b"`, `{"a":"b","c":"d"}`, `{"a":"\`,
		`{"a":"\x"}`, `[]`, `{"a":"b"}x`} {
		if _, err := herb.DecodeClipped(fields[:1], []byte(malformed), func(int) int { return 10 }); err == nil {
			t.Errorf("%s is accepted", malformed)
		}
	}
}

// TestDecodeClipped_memory checks that clipping a large record needs little memory.
func TestDecodeClipped_memory(t *testing.T) {
	fields := []herb.Field{{Name: "a"}, {Name: "b"}}
	record := herb.Record{strings.Repeat("x", 1<<20), strings.Repeat("\n\"", 1<<20)}.AppendJSON(nil, fields)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := herb.DecodeClipped(fields, record, func(int) int { return 1000 }); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 16<<10 {
		t.Errorf("%d bytes are allocated", got)
	}
}

// TestAppendMembers splits records and reads the values of the members.
func TestAppendMembers(t *testing.T) {
	t.Parallel()
	for record, want := range map[string][]string{
		`{"a":"1"}`:                         {"1"},
		`{"a\"b":"x\\","c":"\"y\\\\\""}`:    {`x\`, `"y\\"`},
		`{"a":"","b":"\u0001\né","c":"\\"}`: {"", "\x01\né", `\`},
		`{"a":"1","b":"2}`:                  nil,
		`{"a":1}`:                           nil,
		`{"a"}`:                             nil,
		`"a":"1"}`:                          nil,
	} {
		members, err := herb.AppendMembers(nil, []byte(record), len(want))
		var got []string
		for _, m := range members {
			value, failed := herb.MemberText(m)
			if failed != nil {
				t.Errorf("%s: %v", record, failed)
			}
			got = append(got, value)
		}
		if (err != nil) != (want == nil) || want != nil && !slices.Equal(got, want) {
			t.Errorf("%s has the values %q (%v), want %q", record, got, err, want)
		}
	}
}
