package export_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"herbarium/internal/export"
	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/testseed"
)

func fieldsOf(names ...string) []herb.Field {
	var fields []herb.Field
	for _, n := range names {
		fields = append(fields, herb.Field{Name: n, Type: herb.TypeText})
	}
	return fields
}

// streamOf returns a stream of records, followed by err if it is not nil.
func streamOf(total int, err error, records ...string) query.Stream {
	return query.Stream{Total: total, Records: func(yield func([]byte, error) bool) {
		for _, rec := range records {
			if !yield([]byte(rec), nil) {
				return
			}
		}
		if err != nil {
			yield(nil, err)
		}
	}}
}

func TestWrite_CSV(t *testing.T) {
	t.Parallel()
	object := func(fields []herb.Field, values ...string) string {
		return string(herb.Record(values).AppendJSON(nil, fields))
	}
	one, two := fieldsOf("a"), fieldsOf("a", "b")
	tests := []struct {
		name   string
		fields []herb.Field
		record string
		want   string // without the header
	}{
		{"plain", two, object(two, "x", "y"), "x,y"},
		{"empty", two, object(two, "", ""), ","},
		{"empty single field", one, object(one, ""), `""`},
		{"comma", two, object(two, "a,b", ","), `"a,b",","`},
		{"quotes", two, object(two, `"`, `say "hi"`), `"""","say ""hi"""`},
		{"line ends", two, object(two, "a\r\nb", "\n"), "\"a\r\nb\",\"\n\""},
		{"carriage return", two, object(two, "\r", "a\rb"), "\"\r\",\"a\rb\""},
		{"blanks at the ends", two, object(two, " a", "b "), `" a","b "`},
		{"blanks inside", two, object(two, "a b", "c\td"), "a b,c\td"},
		{"tabs at the ends", two, object(two, "\ta", "b\t"), "\"\ta\",\"b\t\""},
		{"a blank and nothing else", one, object(one, " "), `" "`},
		{"backslashes", two, object(two, `\`, `a\tb\"`), `\,"a\tb\"""`},
		{"backslash at the end", two, object(two, `C:\dir\`, `\\`), `C:\dir\,\\`},
		{"NUL and control characters", two, object(two, "\x00", "a\x01\x1fb\x7f"), "\x00,a\x01\x1fb\x7f"},
		{"formulas stay what they are", two, object(two, "=1+1", "@x"), "=1+1,@x"},
		{"leading zeros", two, object(two, "007", "1e5"), "007,1e5"},
		{"unicode", two, object(two, "植物園", "é😀\u2028"), "植物園,é😀\u2028"},
		{"byte order mark", two, object(two, "\uFEFFa", "a\uFEFF"), "\"\uFEFFa\",a\uFEFF"},
		{"byte order mark and an escape", one, object(one, "\uFEFF\x01"), "\"\uFEFF\x01\""},
		{"other separators", two, object(two, "a;b", "c|d"), "a;b,c|d"},
		{"escapes of other writers", two, `{"a":"\u003cb\u003e\/\b\f","\u0062":"\ud83d\ude00\u002c\u0022"}`,
			"<b>/\b\f,\"😀,\"\"\""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var b bytes.Buffer
			sum, err := export.Write(&b, export.CSV, tt.fields, streamOf(1, nil, tt.record))
			if err != nil {
				t.Fatal(err)
			}
			names := "a"
			if len(tt.fields) == 2 {
				names = "a,b"
			}
			if diff := cmp.Diff(names+"\r\n"+tt.want+"\r\n", b.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if sum.Rows != 1 || sum.Bytes != int64(b.Len()) {
				t.Errorf("got %+v", sum)
			}
		})
	}
}

func TestWrite_names(t *testing.T) {
	t.Parallel()
	tests := []struct {
		names []string
		want  string
	}{
		{[]string{"id", "first name", "größe"}, "id,first name,größe"},
		{[]string{"a,b", `c"d`, "e\nf"}, "\"a,b\",\"c\"\"d\",\"e\nf\""},
		{[]string{"a;b"}, `"a;b"`},
		{[]string{"a\tb", "c|d"}, "\"a\tb\",\"c|d\""},
		{[]string{"\uFEFFid"}, "\"\uFEFFid\""},
		{[]string{`back\slash`}, `back\slash`},
	}
	for _, tt := range tests {
		var b bytes.Buffer
		if _, err := export.Write(&b, export.CSV, fieldsOf(tt.names...), streamOf(0, nil)); err != nil {
			t.Fatal(err)
		}
		if b.String() != tt.want+"\r\n" {
			t.Errorf("%q is written as %q", tt.names, b.String())
		}
	}
}

func TestWrite_NDJSON(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	sum, err := export.Write(&b, export.NDJSON, fieldsOf("a"), streamOf(2, nil, `{"a":"x"}`, `{"a":"\n"}`))
	if want := `{"a":"x"}` + "\n" + `{"a":"\n"}` + "\n"; err != nil || b.String() != want || sum.Rows != 2 {
		t.Errorf("got %q, %+v, %v", b.String(), sum, err)
	}
	b.Reset()
	sum, err = export.Write(&b, export.NDJSON, fieldsOf("a"), streamOf(0, nil))
	if err != nil || b.Len() != 0 || sum.Rows != 0 {
		t.Errorf("of nothing: %q, %+v, %v", b.String(), sum, err)
	}
}

func TestWrite_digest(t *testing.T) {
	t.Parallel()
	rec := `{"a":"` + strings.Repeat("x", 100_000) + `"}`
	for _, f := range export.Formats() {
		var b bytes.Buffer
		sum, err := export.Write(&b, f, fieldsOf("a"), streamOf(3, nil, rec, rec, rec))
		if err != nil {
			t.Fatal(err)
		}
		h := sha256.Sum256(b.Bytes())
		want := export.Summary{Rows: 3, Bytes: int64(b.Len()), Digest: "sha-256=:" +
			base64.StdEncoding.EncodeToString(h[:]) + ":"}
		if sum != want {
			t.Errorf("%s: got %+v, want %+v", f, sum, want)
		}
	}
}

// pieces records the sizes of writes.
type pieces struct {
	sizes []int
	fail  int // number of the write that fails; 0 for none
}

var errFull = errors.New("full")

func (p *pieces) Write(b []byte) (int, error) {
	p.sizes = append(p.sizes, len(b))
	if len(p.sizes) == p.fail {
		return 0, errFull
	}
	return len(b), nil
}

func TestWrite_failures(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	random := make([]byte, 64<<10)
	for i := range random {
		random[i] = byte('a' + rand.IntN(26)) // compression must not hide the size
	}
	rec := `{"a":"` + string(random) + `"}`
	tests := []struct {
		name   string
		w      io.Writer
		s      query.Stream
		want   error
		inText string
	}{
		{"the source fails", io.Discard, streamOf(2, broken, rec), broken, ""},
		{"the writer fails", &pieces{fail: 1}, streamOf(5, nil, rec, rec, rec), errFull, ""},
		{"the writer fails at the end", &pieces{fail: 1}, streamOf(1, nil, `{"a":"x"}`), errFull, ""},
		{"too few records", io.Discard, streamOf(2, nil, rec), nil, "1 of 2 records"},
		{"too many records", io.Discard, streamOf(1, nil, rec, rec), nil, "more than the announced 1 records"},
	}
	for _, tt := range tests {
		for _, f := range export.Formats() {
			t.Run(tt.name+" "+string(f), func(t *testing.T) {
				t.Parallel()
				if p, ok := tt.w.(*pieces); ok {
					tt.w = &pieces{fail: p.fail}
				}
				sum, err := export.Write(tt.w, f, fieldsOf("a"), tt.s)
				if err == nil || tt.want != nil && !errors.Is(err, tt.want) ||
					!strings.Contains(err.Error(), tt.inText) ||
					sum != (export.Summary{}) {
					t.Errorf("got %+v, %v", sum, err)
				}
			})
		}
	}
	if _, err := export.Write(io.Discard, "xml", nil, streamOf(0, nil)); err == nil {
		t.Error("xml is written")
	}
}

func TestWrite_malformedRecords(t *testing.T) {
	t.Parallel()
	for _, rec := range []string{
		"", "{", "{}", `{"a"}`, `{"a":"x"`, `{"a":"x"}}`, `{"a":"x","b":"y"}`, `{"a":1}`, `{"a":"x\"}`, `{"a":"\x"}`,
		`{"a":"\u12"}`,
		`{"a":"\uzzzz"}`, `["x"]`, `{"a" :"x"}`, `{"a":"\ud83d"}`, `{"b":"x"}`,
	} {
		if _, err := export.Write(io.Discard, export.CSV, fieldsOf("a"), streamOf(1, nil, rec)); err == nil {
			t.Errorf("%s is accepted as a record", rec)
		}
	}
}

// TestWrite_random reads random values back with the readers of the standard library.
func TestWrite_random(t *testing.T) {
	t.Parallel()
	seed := testseed.Seed(t)
	rnd := rand.New(rand.NewPCG(seed, 0))
	alphabet := []string{"a", "b", ",", `"`, "\n", " ", "\t", `\`, "\x00", "\x1f", "é", "😀", "\uFEFF", ";", "0",
		"{", "}", ":"}
	value := func() string {
		var b strings.Builder
		for range rnd.IntN(6) {
			b.WriteString(alphabet[rnd.IntN(len(alphabet))])
		}
		return b.String()
	}
	for range 300 {
		fields := fieldsOf("a", "b", "c")[:1+rnd.IntN(3)]
		var want [][]string
		var records []string
		for range rnd.IntN(8) {
			rec := make(herb.Record, len(fields))
			for i := range rec {
				rec[i] = value()
			}
			want = append(want, rec)
			if rnd.IntN(2) == 0 {
				records = append(records, string(rec.AppendJSON(nil, fields)))
			} else { // with different escapes
				b := []byte{'{'}
				for i, v := range rec {
					quoted, err := json.Marshal(v)
					if err != nil {
						t.Fatal(err)
					}
					b = fmt.Appendf(b, "%q:%s,", fields[i].Name, quoted)
				}
				records = append(records, string(b[:len(b)-1])+"}")
			}
		}
		var b bytes.Buffer
		if _, err := export.Write(&b, export.CSV, fields, streamOf(len(records), nil, records...)); err != nil {
			t.Fatal(err)
		}
		got, err := csv.NewReader(&b).ReadAll()
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if diff := cmp.Diff(want, got[1:], cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("seed %d (-want +got):\n%s", seed, diff)
		}
	}
}

// TestWrite_memory checks that the number of allocations does not depend on the number of records.
// It is not parallel, because allocations of other tests would count.
func TestWrite_memory(t *testing.T) {
	rec := []byte(`{"a":"some, \"text\"","b":"1234"}`)
	for _, f := range export.Formats() {
		allocations := func(n int) float64 {
			s := query.Stream{Total: n, Records: func(yield func([]byte, error) bool) {
				for range n {
					if !yield(rec, nil) {
						return
					}
				}
			}}
			return testing.AllocsPerRun(5, func() {
				if _, err := export.Write(io.Discard, f, fieldsOf("a", "b"), s); err != nil {
					t.Fatal(err)
				}
			})
		}
		if few, many := allocations(1_000), allocations(10_000); many > few+5 {
			t.Errorf("%s: %v allocations for 1,000 records, %v for 10,000", f, few, many)
		}
	}
}

func TestParseFormat(t *testing.T) {
	t.Parallel()
	for _, f := range export.Formats() {
		if got, err := export.ParseFormat(strings.ToUpper(string(f))); err != nil || got != f {
			t.Errorf("%s: %q, %v", f, got, err)
		}
	}
	if _, err := export.ParseFormat("xml"); herb.CodeOf(err) != herb.CodeInvalid ||
		!strings.Contains(err.Error(), "csv, ndjson, xlsx or geojson") {
		t.Errorf("got %v", err)
	}
}

func BenchmarkWrite(b *testing.B) {
	fields := fieldsOf("id", "title", "description", "price")
	about := "Grows well, everywhere; a \"shrub\" of " + strings.Repeat("words ", 20)
	rec := herb.Record{"12345", "Common hazel", about, "12.50"}.AppendJSON(nil, fields)
	const n = 10_000
	s := query.Stream{Total: n, Records: func(yield func([]byte, error) bool) {
		for range n {
			if !yield(rec, nil) {
				return
			}
		}
	}}
	for _, f := range export.Formats() {
		b.Run(string(f), func(b *testing.B) {
			b.SetBytes(int64(n * len(rec)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := export.Write(io.Discard, f, fields, s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestFormats checks that every format is described, and that an unknown one is not taken for
// another.
func TestFormats(t *testing.T) {
	t.Parallel()
	for _, f := range export.Formats() {
		found, ok := export.FormatOf("a/B." + f.Label())
		if !ok || found != f || f.MediaType() == "" || f.Purpose() == "" ||
			!strings.Contains(export.List("."), "."+string(f)) {
			t.Errorf("%s: %q %q %q %v %t", f, f.Label(), f.MediaType(), f.Purpose(), found, ok)
		}
	}
	if f, ok := export.FormatOf("a.parquet"); ok || f.MediaType() != "" {
		t.Errorf("a.parquet has the format %s and the media type %q", f, f.MediaType())
	}
}
