package parquet

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/deprecated"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/rowstest"
)

func TestReader_Types(t *testing.T) {
	t.Parallel()
	day := deprecated.Int96{0, 0, 2_440_588} // 1970-01-01
	fixed := func(n int) parquet.Node { return parquet.Leaf(parquet.FixedLenByteArrayType(n)) }
	for _, c := range []struct {
		name   string
		node   parquet.Node
		values []any
		want   []string
	}{
		{"boolean", parquet.Leaf(parquet.BooleanType), []any{true, false, nil}, []string{"true", "false", ""}},
		{"int32", parquet.Leaf(parquet.Int32Type), []any{int32(math.MinInt32), int32(math.MaxInt32)},
			[]string{"-2147483648", "2147483647"}},
		{
			"int64", parquet.Leaf(parquet.Int64Type), []any{int64(math.MinInt64), int64(9007199254740993), nil},
			[]string{"-9223372036854775808", "9007199254740993", ""},
		},
		{"int8", parquet.Int(8), []any{int32(-128), int32(127)}, []string{"-128", "127"}},
		{"uint8", parquet.Uint(8), []any{int32(255)}, []string{"255"}},
		{"uint32", parquet.Uint(32), []any{int32(-1)}, []string{"4294967295"}},
		{"uint64", parquet.Uint(64), []any{int64(-1)}, []string{"18446744073709551615"}},
		{
			"float", parquet.Leaf(parquet.FloatType), []any{float32(0.1), float32(1), float32(16777216), float32(1e-7)},
			[]string{"0.1", "1", "16777216", "0.0000001"},
		}, {
			"double", parquet.Leaf(parquet.DoubleType),
			[]any{0.1, 0.30000000000000004, 1e21, 1.5e-9, 0.0, math.Copysign(0, -1), math.NaN(), math.Inf(1),
				math.Inf(-1), nil},
			[]string{
				"0.1", "0.30000000000000004", "1000000000000000000000", "0.0000000015", "0", "-0", "NaN", "Infinity",
				"-Infinity", "",
			},
		},
		{"no exponent however large", parquet.Leaf(parquet.DoubleType), []any{1e300},
			[]string{"1" + strings.Repeat("0", 300)}},
		{
			"decimal in 32 bits", parquet.Decimal(2, 9, parquet.Int32Type),
			[]any{int32(0), int32(5), int32(-5), int32(12345), int32(-100)},
			[]string{"0.00", "0.05", "-0.05", "123.45", "-1.00"},
		},
		{"decimal in 64 bits", parquet.Decimal(0, 18, parquet.Int64Type), []any{int64(math.MinInt64)},
			[]string{"-9223372036854775808"}},
		{
			"decimal in fixed bytes", parquet.Decimal(10, 38, parquet.FixedLenByteArrayType(16)),
			[]any{
				append(make([]byte, 15), 1), bytes.Repeat([]byte{0xFF}, 16),
				[]byte{0x4B, 0x3B, 0x4C, 0xA8, 0x5A, 0x86, 0xC4, 0x7A, 0x09, 0x8A, 0x22, 0x3F, 0xFF, 0xFF, 0xFF, 0xFF},
			},
			[]string{"0.0000000001", "-0.0000000001", "9999999999999999999999999999.9999999999"},
		},
		{
			"decimal in bytes", parquet.Decimal(3, 20, parquet.ByteArrayType),
			[]any{[]byte{0x80}, []byte{0x00, 0x80}, []byte{}},
			[]string{"-0.128", "0.128", "0.000"},
		},
		{
			"date", parquet.Date(), []any{int32(0), int32(-1), int32(19782), int32(-719528), int32(2932897),
				int32(-719529)},
			[]string{"1970-01-01", "1969-12-31", "2024-02-29", "0000-01-01", "+010000-01-01", "-000001-12-31"},
		},
		{"time in millis", parquet.TimeAdjusted(parquet.Millisecond, true), []any{int32(49_500_007)},
			[]string{"13:45:00.007"}},
		{"time in micros", parquet.TimeAdjusted(parquet.Microsecond, false), []any{int64(86_399_999_999)},
			[]string{"23:59:59.999999"}},
		{"time in nanos", parquet.TimeAdjusted(parquet.Nanosecond, false), []any{int64(1)},
			[]string{"00:00:00.000000001"}},
		{
			"timestamp in millis", parquet.TimestampAdjusted(parquet.Millisecond, true),
			[]any{int64(0), int64(-1), int64(1709214300000)},
			[]string{"1970-01-01T00:00:00.000Z", "1969-12-31T23:59:59.999Z", "2024-02-29T13:45:00.000Z"},
		},
		{"timestamp in micros", parquet.TimestampAdjusted(parquet.Microsecond, false), []any{int64(-1)},
			[]string{"1969-12-31T23:59:59.999999"}},
		{
			"timestamp in nanos", parquet.TimestampAdjusted(parquet.Nanosecond, true),
			[]any{int64(math.MinInt64), int64(math.MaxInt64)},
			[]string{"1677-09-21T00:12:43.145224192Z", "2262-04-11T23:47:16.854775807Z"},
		},
		{"int96", parquet.Leaf(parquet.Int96Type), []any{day, deprecated.Int96{1, 0, 2_440_587}},
			[]string{"1970-01-01T00:00:00.000000000", "1969-12-31T00:00:00.000000001"}},
		{"string", parquet.String(), []any{"", "Ärzte, \"quoted\"\r\n\x00", nil},
			[]string{"", "Ärzte, \"quoted\"\r\n\x00", ""}},
		{"enum", parquet.Enum(), []any{"TREE"}, []string{"TREE"}},
		{"json", parquet.JSON(), []any{`{"a": 1.50}`}, []string{`{"a": 1.50}`}},
		{"bson", parquet.BSON(), []any{"text"}, []string{"dGV4dA=="}},
		{
			"uuid", parquet.UUID(), []any{[]byte("\x01\x23\x45\x67\x89\xab\xcd\xef\x01\x23\x45\x67\x89\xab\xcd\xef")},
			[]string{"01234567-89ab-cdef-0123-456789abcdef"},
		},
		{"bytes that are text", parquet.Leaf(parquet.ByteArrayType), []any{"Grüße", "a\tb", nil},
			[]string{"Grüße", "a\tb", ""}},
		{"fixed bytes", fixed(2), []any{[]byte("ab"), []byte("\xFF\x00")}, []string{"YWI=", "/wA="}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := readFile(mustWriteColumn(t, c.node, c.values))
			want := [][]string{{"v"}}
			for _, v := range c.want {
				want = append(want, []string{v})
			}
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("error %v (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestReader_BytesThatAreNotText(t *testing.T) {
	t.Parallel()
	_, err := readFile(mustWriteColumn(t, parquet.Leaf(parquet.ByteArrayType), []any{"text", "\xFF"}))
	const want = `row 2, column "v": the value is not text, and its type is BYTE_ARRAY without an annotation`
	if err == nil || !strings.Contains(err.Error(), want) || herb.CodeOf(err) != herb.CodeInvalid {
		t.Errorf("got error  %v\nwant error %s", err, want)
	}
}

func TestReader_Nested(t *testing.T) {
	t.Parallel()
	type place struct {
		Bed  string   `parquet:"bed"`
		Rows []int32  `parquet:"rows,list"`
		Lat  *float64 `parquet:"lat,optional"`
	}
	type plant struct {
		Name   string            `parquet:"name"`
		Tags   []string          `parquet:"tags,list"`
		Bare   []int64           `parquet:"bare"`
		Place  *place            `parquet:"place,optional"`
		Places []place           `parquet:"places,list"`
		Names  map[string]string `parquet:"names"`
		Deep   [][]string        `parquet:"deep,list"`
	}
	lat := 52.5
	plants := []plant{
		{
			Name: "rose", Tags: []string{"shade", "hardy"}, Bare: []int64{1, 2}, Place: &place{"A", []int32{7}, &lat},
			Places: []place{{"B", []int32{1, 2}, nil}, {"C \"\n\x01", nil, &lat}},
			Names:  map[string]string{"de": "Rose, rot"},
			Deep:   [][]string{{"a", "b"}, {}},
		},
		{Name: "none"},
		{Name: "commas", Tags: []string{"a,b", "c"}, Bare: []int64{-1}, Place: &place{Bed: "D"}, Places: []place{{}}},
		{Name: "one", Tags: []string{"x"}},
		{Name: "empty element", Tags: []string{"x", ""}},
	}
	got, err := readFile(mustWrite(t, plants))
	want := [][]string{
		{"name", "tags", "bare", "place.bed", "place.rows", "place.lat", "places", "names", "deep"},
		{
			"rose", `["shade","hardy"]`, "[1,2]", "A", "[7]", "52.5",
			`[{"bed":"B","rows":[1,2],"lat":null},{"bed":"C \"\n\u0001","rows":[],"lat":52.5}]`, `{"de":"Rose, rot"}`,
			`[["a","b"],[]]`,
		},
		{"none", "", "", "", "", "", "", "", ""},
		{"commas", `["a,b","c"]`, "[-1]", "D", "", "", `[{"bed":"","rows":[],"lat":null}]`, "", ""},
		{"one", `["x"]`, "", "", "", "", "", "", ""},
		{"empty element", `["x",""]`, "", "", "", "", "", "", ""},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
}

// TestReader_Lists reads the ways in which writers have nested lists and maps.
func TestReader_Lists(t *testing.T) {
	t.Parallel()
	element := func(name string, n parquet.Node) parquet.Node { return parquet.Group{name: n} }
	value := func(v any, rep, def int) parquet.Value { return parquet.ValueOf(v).Level(rep, def, 0) }
	null := func(rep, def int) parquet.Value { return parquet.NullValue().Level(rep, def, 0) }
	optional := parquet.Optional(parquet.String())
	for _, c := range []struct {
		name string
		node parquet.Node // the column
		rows []parquet.Row
		want []string
	}{
		{
			"repeated leaf", parquet.Repeated(parquet.String()),
			[]parquet.Row{{null(0, 0)}, {value("a", 0, 1)}, {value("a", 0, 1), value("b", 1, 1)}},
			[]string{"", `["a"]`, `["a","b"]`},
		}, {
			"repeated group", parquet.Repeated(element("x", parquet.String())),
			[]parquet.Row{{null(0, 0)}, {value("a", 0, 1), value("b", 1, 1)}}, []string{"", `[{"x":"a"},{"x":"b"}]`},
		}, {
			"three levels", parquet.Optional(parquet.List(optional)),
			[]parquet.Row{{null(0, 0)}, {null(0, 1)}, {null(0, 2)}, {value("a", 0, 3), null(1, 2)},
				{value("a", 0, 3), value("b", 1, 3)}},
			[]string{"", "", "[null]", `["a",null]`, `["a","b"]`},
		}, {
			"list of maps", parquet.List(parquet.Map(parquet.Int(32), parquet.String())), nil, nil,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var b bytes.Buffer
			w := parquet.NewWriter(&b, parquet.NewSchema("test", parquet.Group{"v": c.node}))
			if _, err := w.WriteRows(c.rows); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			got, err := readFile(b.Bytes())
			want := [][]string{{"v"}}
			for _, v := range c.want {
				want = append(want, []string{v})
			}
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("error %v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// TestReader_Compression reads every codec, with values that compress well and with values that do
// not, in both versions of data pages and over several pages and row groups.
func TestReader_Compression(t *testing.T) {
	t.Parallel()
	type row struct {
		Noise string  `parquet:"noise"`
		Same  string  `parquet:"same,dict"`
		Delta int64   `parquet:"delta,delta"`
		Maybe *string `parquet:"maybe,optional"`
		Many  []int32 `parquet:"many,list"`
	}
	r := rand.New(rand.NewPCG(1, 2))
	var records []row
	want := [][]string{{"noise", "same", "delta", "maybe", "many"}}
	for i := range 3000 {
		v := row{Noise: fmt.Sprintf("%016x%016x", r.Uint64(), r.Uint64()), Same: "the same", Delta: r.Int64N(1e9)}
		maybe, many := "", ""
		if i%3 == 0 {
			maybe = fmt.Sprint(i)
			v.Maybe = &maybe
		}
		for k := range i % 5 {
			v.Many = append(v.Many, int32(k))
			many += fmt.Sprintf(",%d", k)
		}
		records = append(records, v)
		if many != "" {
			many = "[" + many[1:] + "]"
		}
		want = append(want, []string{v.Noise, v.Same, fmt.Sprint(v.Delta), maybe, many})
	}
	for name, codec := range map[string]compress.Codec{
		"none": &parquet.Uncompressed, "snappy": &parquet.Snappy, "gzip": &parquet.Gzip, "brotli": &parquet.Brotli,
		"zstd": &parquet.Zstd, "lz4": &parquet.Lz4Raw,
	} {
		for _, version := range []int{1, 2} {
			t.Run(fmt.Sprint(name, " ", version), func(t *testing.T) {
				t.Parallel()
				b := mustWrite(t, records, parquet.Compression(codec), parquet.DataPageVersion(version),
					parquet.PageBufferSize(2000),
					parquet.MaxRowsPerRowGroup(1100))
				got, err := readFile(b)
				if diff := cmp.Diff(want, got); diff != "" || err != nil {
					t.Errorf("error %v (-want +got):\n%.2000s", err, diff)
				}
			})
		}
	}
}

// TestReader_Wide reads row groups of many columns.
func TestReader_Wide(t *testing.T) {
	t.Parallel()
	const columns, count, flush = 20, 130, 100
	group, names := parquet.Group{}, []string{}
	for c := range columns {
		name := fmt.Sprintf("c%02d", c)
		group[name], names = parquet.String(), append(names, name)
	}
	value := func(row, column int) string { return fmt.Sprintf("%2000d", row*columns+column) }
	var b bytes.Buffer
	w := parquet.NewWriter(&b, parquet.NewSchema("wide", group), parquet.PageBufferSize(8<<20))
	row := make(parquet.Row, columns)
	for i := range count {
		for c := range columns {
			row[c] = parquet.ValueOf(value(i, c)).Level(0, 0, c)
		}
		if _, err := w.WriteRows([]parquet.Row{row}); err != nil {
			t.Fatal(err)
		}
		if i == flush {
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	p, err := openReader(t, b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	n := 0
	for {
		cells, err := p.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		for c, cell := range cells {
			if want := value(n, c); string(cell) != want {
				t.Fatalf("row %d, column %d: got %s, want %s", n, c, cell, want)
			}
		}
		n++
	}
	if n != count {
		t.Errorf("got %d rows", n)
	}
	for i, c := range p.Columns() {
		if c.Name != names[i] {
			t.Errorf("column %d is %q", i, c.Name)
		}
	}
}

func TestReader_Rejected(t *testing.T) {
	t.Parallel()
	whole := mustWriteColumn(t, parquet.String(), []any{"a", "\xFF"})
	encrypted := bytes.Clone(whole)
	copy(encrypted, "PARE")
	long := bytes.Clone(whole)
	binary.LittleEndian.PutUint32(long[len(long)-8:], 1<<31)
	for _, c := range []struct{ name, file, want string }{
		{"empty", "", "0 bytes"},
		{"another format", "id,name\n1,rose\n2,elm\n", "PAR1"},
		{"cut off", string(whole[:len(whole)-1]), "does not end with PAR1"},
		{"footer outside", string(long), "before the file"},
		{"encrypted", string(encrypted), "encrypted"},
		{"not UTF-8", string(whole), `row 2, column "v"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := readFile([]byte(c.file))
			if herb.CodeOf(err) != herb.CodeInvalid || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want one with %q", err, c.want)
			}
		})
	}
}

// TestDecompress checks that no codec decompresses more than the declared size of a page.
func TestDecompress(t *testing.T) {
	t.Parallel()
	z, err := newZstd()
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	plain := bytes.Repeat([]byte("herbarium "), 1000)
	for _, codec := range []compress.Codec{&parquet.Snappy, &parquet.Gzip, &parquet.Brotli, &parquet.Zstd,
		&parquet.Lz4Raw} {
		packed, err := codec.Encode(nil, plain)
		if err != nil {
			t.Fatal(err)
		}
		id := codec.CompressionCodec()
		if got, err := decompress(z, id, nil, packed, len(plain)); err != nil || !bytes.Equal(got, plain) {
			t.Errorf("%s: error %v", codec, err)
		}
		if _, err := decompress(z, id, nil, packed, len(plain)-1); err == nil {
			t.Errorf("%s: decompressed more than the declared size", codec)
		}
	}
}

// damagedParquet is a small file with much in it.
func damagedParquet(t testing.TB, codec compress.Codec) []byte {
	type row struct {
		Name string            `parquet:"name,dict"`
		Size *float64          `parquet:"size,optional"`
		Tags []string          `parquet:"tags,list"`
		Map  map[string]string `parquet:"map"`
	}
	size := 1.5
	var records []row
	for i := range 40 {
		records = append(records, row{fmt.Sprint("plant ", i%7), &size, []string{"a", "b"}[:i%3],
			map[string]string{"k": "v"}}, row{})
	}
	return mustWrite(t, records, parquet.Compression(codec), parquet.PageBufferSize(200))
}

// TestReader_Damaged cuts a file at every length and changes each of its bytes. A changed file may
// be readable; other errors must be CodeInvalid.
func TestReader_Damaged(t *testing.T) {
	t.Parallel()
	for _, codec := range []compress.Codec{&parquet.Uncompressed, &parquet.Snappy, &parquet.Zstd, &parquet.Lz4Raw} {
		t.Run(codec.String(), func(t *testing.T) {
			t.Parallel()
			whole := damagedParquet(t, codec)
			if _, err := readFile(whole); err != nil {
				t.Fatal(err)
			}
			for n := range whole {
				if _, err := readFile(whole[:n]); herb.CodeOf(err) != herb.CodeInvalid {
					t.Fatalf("cut to %d bytes: %v", n, err)
				}
				changed := bytes.Clone(whole)
				changed[n] ^= 1 << (n % 8)
				if _, err := readFile(changed); err != nil && herb.CodeOf(err) != herb.CodeInvalid {
					t.Fatalf("byte %d changed: %v", n, err)
				}
			}
		})
	}
}

func FuzzReader(f *testing.F) {
	for _, codec := range []compress.Codec{&parquet.Uncompressed, &parquet.Snappy, &parquet.Gzip} {
		f.Add(damagedParquet(f, codec))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // far longer than it takes, for busy machines
		defer cancel()
		var err error
		used := rowstest.Allocated(func() {
			var r rows.Rows
			r, err = openFile(ctx, b)
			if err != nil {
				return
			}
			defer r.Close()
			for err == nil {
				_, err = r.Next()
			}
		})
		if err != io.EOF && herb.CodeOf(err) != herb.CodeInvalid {
			t.Error(err)
		}
		if used > 512<<20 {
			t.Errorf("a file of %d bytes allocates %d", len(b), used)
		}
	})
}
