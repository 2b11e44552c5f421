package ingest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/deprecated"
	meta "github.com/parquet-go/parquet-go/format"

	"herbarium/internal/herb"
)

// readParquet reads a file: the names of the columns, then the rows.
func readParquet(b []byte) ([][]string, error) {
	p, err := newParquetReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil, err
	}
	rows, err := readRows(p)
	return append([][]string{p.columns()}, rows...), errors.Join(err, p.Close())
}

// mustWrite writes rows of Go values.
func mustWrite[T any](t testing.TB, rows []T, options ...parquet.WriterOption) []byte {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[T](&b, options...)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// mustWriteColumn writes one optional column; a nil value is null.
func mustWriteColumn(t testing.TB, node parquet.Node, values []any, options ...parquet.WriterOption) []byte {
	t.Helper()
	var b bytes.Buffer
	schema := parquet.NewSchema("test", parquet.Group{"v": parquet.Optional(node)})
	w := parquet.NewWriter(&b, append([]parquet.WriterOption{schema}, options...)...)
	for _, v := range values {
		value := parquet.ValueOf(v).Level(0, 1, 0)
		if v == nil {
			value = parquet.NullValue().Level(0, 0, 0)
		}
		if _, err := w.WriteRows([]parquet.Row{{value}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestParquet_Types(t *testing.T) {
	t.Parallel()
	le := binary.LittleEndian
	interval := func(months, days, millis uint32) []byte {
		return le.AppendUint32(le.AppendUint32(le.AppendUint32(nil, months), days), millis)
	}
	day := deprecated.Int96{0, 0, 2_440_588} // 1970-01-01
	fixed := func(n int) parquet.Node { return parquet.Leaf(parquet.FixedLenByteArrayType(n)) }
	for _, c := range []struct {
		name   string
		node   parquet.Node
		values []any
		want   []string
	}{
		{"boolean", parquet.Leaf(parquet.BooleanType), []any{true, false, nil}, []string{"true", "false", ""}},
		{"int32", parquet.Leaf(parquet.Int32Type), []any{int32(math.MinInt32), int32(math.MaxInt32)}, []string{"-2147483648", "2147483647"}},
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
			[]any{0.1, 0.30000000000000004, 1e21, 1.5e-9, 0.0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), nil},
			[]string{
				"0.1", "0.30000000000000004", "1000000000000000000000", "0.0000000015", "0", "-0", "NaN", "Infinity", "-Infinity", "",
			},
		},
		{"no exponent however large", parquet.Leaf(parquet.DoubleType), []any{1e300}, []string{"1" + strings.Repeat("0", 300)}},
		{
			"decimal in 32 bits", parquet.Decimal(2, 9, parquet.Int32Type), []any{int32(0), int32(5), int32(-5), int32(12345), int32(-100)},
			[]string{"0.00", "0.05", "-0.05", "123.45", "-1.00"},
		},
		{"decimal in 64 bits", parquet.Decimal(0, 18, parquet.Int64Type), []any{int64(math.MinInt64)}, []string{"-9223372036854775808"}},
		{
			"decimal in fixed bytes", parquet.Decimal(10, 38, parquet.FixedLenByteArrayType(16)),
			[]any{
				append(make([]byte, 15), 1), bytes.Repeat([]byte{0xFF}, 16),
				[]byte{0x4B, 0x3B, 0x4C, 0xA8, 0x5A, 0x86, 0xC4, 0x7A, 0x09, 0x8A, 0x22, 0x3F, 0xFF, 0xFF, 0xFF, 0xFF},
			},
			[]string{"0.0000000001", "-0.0000000001", "9999999999999999999999999999.9999999999"},
		},
		{
			"decimal in bytes", parquet.Decimal(3, 20, parquet.ByteArrayType), []any{[]byte{0x80}, []byte{0x00, 0x80}, []byte{}},
			[]string{"-0.128", "0.128", "0.000"},
		},
		{
			"date", parquet.Date(), []any{int32(0), int32(-1), int32(19782), int32(-719528), int32(2932897), int32(-719529)},
			[]string{"1970-01-01", "1969-12-31", "2024-02-29", "0000-01-01", "+010000-01-01", "-000001-12-31"},
		},
		{"time in millis", parquet.TimeAdjusted(parquet.Millisecond, true), []any{int32(49_500_007)}, []string{"13:45:00.007Z"}},
		{"time in micros", parquet.TimeAdjusted(parquet.Microsecond, false), []any{int64(86_399_999_999)}, []string{"23:59:59.999999"}},
		{"time in nanos", parquet.TimeAdjusted(parquet.Nanosecond, false), []any{int64(1)}, []string{"00:00:00.000000001"}},
		{
			"timestamp in millis", parquet.TimestampAdjusted(parquet.Millisecond, true), []any{int64(0), int64(-1), int64(1709214300000)},
			[]string{"1970-01-01T00:00:00.000Z", "1969-12-31T23:59:59.999Z", "2024-02-29T13:45:00.000Z"},
		},
		{"timestamp in micros", parquet.TimestampAdjusted(parquet.Microsecond, false), []any{int64(-1)}, []string{"1969-12-31T23:59:59.999999"}},
		{
			"timestamp in nanos", parquet.TimestampAdjusted(parquet.Nanosecond, true), []any{int64(math.MinInt64), int64(math.MaxInt64)},
			[]string{"1677-09-21T00:12:43.145224192Z", "2262-04-11T23:47:16.854775807Z"},
		},
		{"int96", parquet.Leaf(parquet.Int96Type), []any{day, deprecated.Int96{1, 0, 2_440_587}}, []string{"1970-01-01T00:00:00.000000000", "1969-12-31T00:00:00.000000001"}},
		{"string", parquet.String(), []any{"", "Ärzte, \"quoted\"\r\n\x00", nil}, []string{"", "Ärzte, \"quoted\"\r\n\x00", ""}},
		{"enum", parquet.Enum(), []any{"TREE"}, []string{"TREE"}},
		{"json", parquet.JSON(), []any{`{"a": 1.50}`}, []string{`{"a": 1.50}`}},
		{"bson", parquet.BSON(), []any{"text"}, []string{"dGV4dA=="}},
		{
			"uuid", parquet.UUID(), []any{[]byte("\x01\x23\x45\x67\x89\xab\xcd\xef\x01\x23\x45\x67\x89\xab\xcd\xef")},
			[]string{"01234567-89ab-cdef-0123-456789abcdef"},
		},
		{"bytes that are text", parquet.Leaf(parquet.ByteArrayType), []any{"Grüße", "a\tb", nil}, []string{"Grüße", "a\tb", ""}},
		{"bytes of which one is not text", parquet.Leaf(parquet.ByteArrayType), []any{"text", "\xFF"}, []string{"dGV4dA==", "/w=="}},
		{"bytes of which one is a control character", parquet.Leaf(parquet.ByteArrayType), []any{"text", "\x01"}, []string{"dGV4dA==", "AQ=="}},
		{"fixed bytes", fixed(2), []any{[]byte("ab"), []byte("cd")}, []string{"ab", "cd"}},
		{
			"interval", parquet.IntervalNode(),
			[]any{interval(14, 3, 1500), interval(0, 0, 0), interval(0, 1, 0), interval(0, 0, math.MaxUint32)},
			[]string{"P14M3DT1.500S", "P0D", "P1D", "PT4294967.295S"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := readParquet(mustWriteColumn(t, c.node, c.values))
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

func TestParquet_Half(t *testing.T) {
	t.Parallel()
	for bits, want := range map[uint16]string{
		0x0000: "0", 0x8000: "-0", 0x3C00: "1", 0xC000: "-2", 0x2E66: "0.099975586", 0x7BFF: "65504", 0x0001: "0.000000059604645",
		0x7C00: "Infinity", 0xFC00: "-Infinity", 0x7E00: "NaN",
	} {
		if got := string(appendFloat(nil, half(bits), 32)); got != want {
			t.Errorf("%04X: got %s, want %s", bits, got, want)
		}
	}
}

func TestParquet_Nested(t *testing.T) {
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
	rows := []plant{
		{
			Name: "rose", Tags: []string{"shade", "hardy"}, Bare: []int64{1, 2}, Place: &place{"A", []int32{7}, &lat},
			Places: []place{{"B", []int32{1, 2}, nil}, {"C \"\n\x01", nil, &lat}}, Names: map[string]string{"de": "Rose, rot"},
			Deep: [][]string{{"a", "b"}, {}},
		},
		{Name: "none"},
		{Name: "commas", Tags: []string{"a,b", "c"}, Bare: []int64{-1}, Place: &place{Bed: "D"}, Places: []place{{}}},
		{Name: "one", Tags: []string{"x"}},
		{Name: "empty element", Tags: []string{"x", ""}},
	}
	got, err := readParquet(mustWrite(t, rows))
	want := [][]string{
		{"name", "tags", "bare", "place.bed", "place.rows", "place.lat", "places", "names", "deep"},
		{
			"rose", "shade,hardy", "1,2", "A", "7", "52.5",
			`[{"bed":"B","rows":[1,2],"lat":null},{"bed":"C \"\n\u0001","rows":[],"lat":52.5}]`, `{"de":"Rose, rot"}`, `[["a","b"],[]]`,
		},
		{"none", "", "", "", "", "", "", "", ""},
		{"commas", `["a,b","c"]`, "-1", "D", "", "", `[{"bed":"","rows":[],"lat":null}]`, "", ""},
		{"one", "x", "", "", "", "", "", "", ""},
		{"empty element", `["x",""]`, "", "", "", "", "", "", ""},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
}

// TestParquet_Lists reads the ways in which writers have nested lists and maps.
func TestParquet_Lists(t *testing.T) {
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
			[]parquet.Row{{null(0, 0)}, {value("a", 0, 1)}, {value("a", 0, 1), value("b", 1, 1)}}, []string{"", "a", "a,b"},
		}, {
			"repeated group", parquet.Repeated(element("x", parquet.String())),
			[]parquet.Row{{null(0, 0)}, {value("a", 0, 1), value("b", 1, 1)}}, []string{"", `[{"x":"a"},{"x":"b"}]`},
		}, {
			"three levels", parquet.Optional(parquet.List(optional)),
			[]parquet.Row{{null(0, 0)}, {null(0, 1)}, {null(0, 2)}, {value("a", 0, 3), null(1, 2)}, {value("a", 0, 3), value("b", 1, 3)}},
			[]string{"", "", "[null]", `["a",null]`, "a,b"},
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
			got, err := readParquet(b.Bytes())
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

// TestParquet_Compression reads every codec, with values that compress well and with values that do not, in both versions
// of data pages and over several pages and row groups.
func TestParquet_Compression(t *testing.T) {
	t.Parallel()
	type row struct {
		Noise string  `parquet:"noise"`
		Same  string  `parquet:"same,dict"`
		Delta int64   `parquet:"delta,delta"`
		Maybe *string `parquet:"maybe,optional"`
		Many  []int32 `parquet:"many,list"`
	}
	r := rand.New(rand.NewPCG(1, 2))
	var rows []row
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
		rows = append(rows, v)
		want = append(want, []string{v.Noise, v.Same, fmt.Sprint(v.Delta), maybe, strings.TrimPrefix(many, ",")})
	}
	for name, codec := range map[string]compress.Codec{
		"none": &parquet.Uncompressed, "snappy": &parquet.Snappy, "gzip": &parquet.Gzip, "brotli": &parquet.Brotli,
		"zstd": &parquet.Zstd, "lz4": &parquet.Lz4Raw,
	} {
		for _, version := range []int{1, 2} {
			t.Run(fmt.Sprint(name, " ", version), func(t *testing.T) {
				t.Parallel()
				b := mustWrite(t, rows, parquet.Compression(codec), parquet.DataPageVersion(version), parquet.PageBufferSize(2000),
					parquet.MaxRowsPerRowGroup(1100))
				got, err := readParquet(b)
				if diff := cmp.Diff(want, got); diff != "" || err != nil {
					t.Errorf("error %v (-want +got):\n%.2000s", err, diff)
				}
			})
		}
	}
}

// TestParquet_Wide reads columns whose pages do not fit into memory together.
func TestParquet_Wide(t *testing.T) {
	t.Parallel()
	const columns, rows, flush = 12, 1300, 1000
	group, names := parquet.Group{}, []string{}
	for c := range columns {
		name := fmt.Sprintf("c%02d", c)
		group[name], names = parquet.String(), append(names, name)
	}
	value := func(row, column int) string { return fmt.Sprintf("%2000d", row*columns+column) }
	var b bytes.Buffer
	w := parquet.NewWriter(&b, parquet.NewSchema("wide", group), parquet.PageBufferSize(8<<20))
	row := make(parquet.Row, columns)
	for i := range rows {
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
	p, err := newParquetReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	n := 0
	for {
		cells, err := p.next()
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
	if n != rows || p.spool == nil {
		t.Errorf("got %d rows, spooled %t", n, p.spool != nil)
	}
	if diff := cmp.Diff(names, p.columns()); diff != "" {
		t.Error(diff)
	}
}

func TestParquet_Refused(t *testing.T) {
	t.Parallel()
	whole := mustWriteColumn(t, parquet.String(), []any{"a", "\xFF"})
	encrypted := bytes.Clone(whole)
	copy(encrypted, "PARE")
	long := bytes.Clone(whole)
	binary.LittleEndian.PutUint32(long[len(long)-8:], 1<<31)
	for _, c := range []struct{ name, file, want string }{
		{"empty", "", "the file is no Parquet file, or it is cut off: it has only 0 bytes"},
		{"another format", "id,name\n1,rose\n2,elm\n", "the file is no Parquet file: it does not begin with PAR1"},
		{"cut off", string(whole[:len(whole)-1]), "the Parquet file is cut off: it does not end with PAR1; copy it again"},
		{"footer outside", string(long), "the Parquet file is damaged: what describes it would begin before the file; copy it again"},
		{"encrypted", string(encrypted), "the Parquet file is encrypted; write it again without encryption"},
		{"not UTF-8", string(whole), `row 2, column "v": the text is not valid UTF-8; write it as UTF-8, or as bytes without a type`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := readParquet([]byte(c.file))
			if err == nil || err.Error() != c.want || herb.CodeOf(err) != herb.CodeInvalid {
				t.Errorf("got error  %v\nwant error %s", err, c.want)
			}
		})
	}
}

func TestParquet_PageLimit(t *testing.T) {
	t.Parallel()
	b := mustWriteColumn(t, parquet.String(), []any{strings.Repeat("x", 1000)})
	p, err := newParquetReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	p.largest = 2000
	const want = `row group 1, column "v": a page of 1 values needs 3036 bytes of memory, and can need 2000; write the file with smaller pages`
	if _, err := p.next(); err == nil || err.Error() != want {
		t.Errorf("got error  %v\nwant error %s", err, want)
	}
}

// TestPageStream_Unpack sees to it that no codec unpacks more than a page says that it has.
func TestPageStream_Unpack(t *testing.T) {
	t.Parallel()
	z, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(maxPage))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	plain := bytes.Repeat([]byte("herbarium "), 1000)
	for _, codec := range []compress.Codec{&parquet.Snappy, &parquet.Gzip, &parquet.Brotli, &parquet.Zstd, &parquet.Lz4Raw} {
		packed, err := codec.Encode(nil, plain)
		if err != nil {
			t.Fatal(err)
		}
		s := &pageStream{codec: codec.CompressionCodec(), zstd: z}
		if got, err := s.unpack(packed, len(plain)); err != nil || !bytes.Equal(got, plain) {
			t.Errorf("%s: error %v", codec, err)
		}
		if _, err := s.unpack(packed, len(plain)-1); err == nil {
			t.Errorf("%s: unpacked more than there should be", codec)
		}
	}
	// The older kind of LZ4: two blocks, each behind its sizes.
	block, err := parquet.Lz4Raw.Encode(nil, plain)
	if err != nil {
		t.Fatal(err)
	}
	var framed []byte
	for range 2 {
		framed = binary.BigEndian.AppendUint32(framed, uint32(len(plain)))
		framed = binary.BigEndian.AppendUint32(framed, uint32(len(block)))
		framed = append(framed, block...)
	}
	s := &pageStream{codec: meta.Lz4}
	if got, err := s.unpack(framed, 2*len(plain)); err != nil || !bytes.Equal(got, append(bytes.Clone(plain), plain...)) {
		t.Errorf("LZ4 in blocks: error %v", err)
	}
	if got, err := s.unpack(block, len(plain)); err != nil || !bytes.Equal(got, plain) {
		t.Errorf("LZ4 without blocks: error %v", err)
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
	var rows []row
	for i := range 40 {
		rows = append(rows, row{fmt.Sprint("plant ", i%7), &size, []string{"a", "b"}[:i%3], map[string]string{"k": "v"}}, row{})
	}
	return mustWrite(t, rows, parquet.Compression(codec), parquet.PageBufferSize(200))
}

// TestParquet_Damaged cuts a file at every length and changes each of its bytes. A cut file is refused; a changed one may
// be read, but what is wrong must be an error that blames the file.
func TestParquet_Damaged(t *testing.T) {
	t.Parallel()
	for _, codec := range []compress.Codec{&parquet.Uncompressed, &parquet.Snappy, &parquet.Zstd, &parquet.Lz4Raw} {
		t.Run(codec.String(), func(t *testing.T) {
			t.Parallel()
			whole := damagedParquet(t, codec)
			if _, err := readParquet(whole); err != nil {
				t.Fatal(err)
			}
			for n := range whole {
				if _, err := readParquet(whole[:n]); herb.CodeOf(err) != herb.CodeInvalid {
					t.Fatalf("cut to %d bytes: %v", n, err)
				}
				changed := bytes.Clone(whole)
				changed[n] ^= 1 << (n % 8)
				if _, err := readParquet(changed); err != nil && herb.CodeOf(err) != herb.CodeInvalid {
					t.Fatalf("byte %d changed: %v", n, err)
				}
			}
		})
	}
}

func FuzzParquet(f *testing.F) {
	for _, codec := range []compress.Codec{&parquet.Uncompressed, &parquet.Snappy, &parquet.Gzip} {
		f.Add(damagedParquet(f, codec))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := readParquet(b); err != nil && herb.CodeOf(err) != herb.CodeInvalid {
			t.Error(err)
		}
	})
}
