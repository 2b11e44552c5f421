package parquet

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	meta "github.com/parquet-go/parquet-go/format"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/rowstest"
)

// craftedFooter has key-value metadata without a value, which the format allows.
type craftedFooter struct {
	Version   int32                `thrift:"1,required"`
	Schema    []meta.SchemaElement `thrift:"2,required"`
	NumRows   int64                `thrift:"3,required"`
	RowGroups []meta.RowGroup      `thrift:"4,required"`
	KeyValues []keyOnly            `thrift:"5,optional"`
}

type keyOnly struct {
	Key string `thrift:"1,required"`
}

type craftedPage struct {
	header meta.PageHeader
	body   []byte
}

func dictionaryPage(values int32, body []byte) craftedPage {
	return craftedPage{meta.PageHeader{
		Type:                 meta.DictionaryPage,
		DictionaryPageHeader: some(meta.DictionaryPageHeader{NumValues: values, Encoding: meta.Plain}),
	}, body}
}

func dataPage(values int32, encoding meta.Encoding, body []byte) craftedPage {
	return craftedPage{meta.PageHeader{
		Type: meta.DataPage, DataPageHeader: some(meta.DataPageHeader{NumValues: values, Encoding: encoding,
			DefinitionLevelEncoding: meta.RLE, RepetitionLevelEncoding: meta.RLE}),
	}, body}
}

// craft returns a file of one row group from leaves with the same pages.
func craft(t testing.TB, count int64, leaves []meta.SchemaElement, pages ...craftedPage) []byte {
	t.Helper()
	var protocol thrift.CompactProtocol
	marshal := func(v any) []byte {
		b, err := thrift.Marshal(&protocol, v)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	file := []byte("PAR1")
	values := int64(0)
	for _, p := range pages {
		p.header.CompressedPageSize = int32(len(p.body))
		p.header.UncompressedPageSize = max(p.header.UncompressedPageSize, int32(len(p.body)))
		file = append(append(file, marshal(&p.header)...), p.body...)
		if p.header.Type != meta.DictionaryPage {
			values += pageValues(&p.header)
		}
	}
	footer := craftedFooter{
		Version: 1, NumRows: count, KeyValues: []keyOnly{{"writer"}},
		Schema: append([]meta.SchemaElement{group("root", meta.Required, int32(len(leaves)))}, leaves...),
	}
	rg := meta.RowGroup{NumRows: count}
	for _, l := range leaves {
		rg.Columns = append(rg.Columns, meta.ColumnChunk{MetaData: meta.ColumnMetaData{
			Type: l.Type.V, PathInSchema: []string{l.Name}, NumValues: values,
			TotalCompressedSize: int64(len(file) - 4), DataPageOffset: 4,
		}})
	}
	footer.RowGroups = append(footer.RowGroups, rg)
	b := marshal(&footer)
	file = binary.LittleEndian.AppendUint32(append(file, b...), uint32(len(b)))
	return append(file, "PAR1"...)
}

func required(t meta.Type) []meta.SchemaElement {
	return []meta.SchemaElement{leaf("v", meta.Required, t)}
}

// TestReader_ManyColumns reads a small file with almost as many values as it may have: each counts
// once.
func TestReader_ManyColumns(t *testing.T) {
	t.Parallel()
	const columns, count = 100, 20_000
	var leaves []meta.SchemaElement
	for i := range columns {
		leaves = append(leaves, leaf(fmt.Sprint("c", i), meta.Required, meta.Boolean))
	}
	b := craft(t, count, leaves, dataPage(count, meta.Plain, make([]byte, count/8)))
	budget := rows.NewBudget(t.Context(), 1, rows.Limits{})
	r, err := newReader(io.NewSectionReader(bytes.NewReader(b), 0, int64(len(b))), budget)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if cells, err := rows.Limit(r, budget).Next(); err != nil || len(cells) != columns {
		t.Errorf("got %d cells and error %v", len(cells), err)
	}
}

// TestReader_LongHeader reads a page whose header has long statistics.
func TestReader_LongHeader(t *testing.T) {
	t.Parallel()
	page := dataPage(1, meta.Plain, []byte{1, 0, 0, 0, 'a'})
	long := bytes.Repeat([]byte("x"), 4<<20)
	page.header.DataPageHeader.V.Statistics = meta.Statistics{MinValue: long, MaxValue: long}
	r, err := openFile(t.Context(), craft(t, 1, required(meta.ByteArray), page))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if cells, err := r.Next(); err != nil || string(cells[0]) != "a" {
		t.Errorf("got %q and error %v", cells, err)
	}
}

func TestReader_PageLimit(t *testing.T) {
	t.Parallel()
	page := dataPage(1, meta.Plain, []byte{1, 0, 0, 0, 'a'})
	for size, ok := range map[int32]bool{0: true, maxPage/2 - 100: true, maxPage / 2: false} {
		page.header.UncompressedPageSize = size
		b := craft(t, 1, required(meta.ByteArray), page)
		r, err := newReader(io.NewSectionReader(bytes.NewReader(b), 0, int64(len(b))),
			rows.NewBudget(t.Context(), 1<<30, rows.Limits{}))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		_, err = r.Next()
		isLimit := herb.CodeOf(err) == herb.CodeInvalid && strings.Contains(err.Error(), `column "v"`) &&
			strings.Contains(err.Error(), "smaller pages")
		if ok && err != nil || !ok && !isLimit {
			t.Errorf("a page of %d bytes: %v", size, err)
		}
	}
}

// TestReader_LargeDictionary reads one row with a dictionary of eight values, as Arrow writes
// categories, and key-value metadata without a value.
func TestReader_LargeDictionary(t *testing.T) {
	t.Parallel()
	var dictionary []byte
	for i := range 8 {
		dictionary = append(binary.LittleEndian.AppendUint32(dictionary, 1), byte('a'+i))
	}
	got, err := readFile(craft(t, 1, required(meta.ByteArray), dictionaryPage(8, dictionary),
		dataPage(1, meta.RLEDictionary, []byte{3, 2, 5})))
	if diff := cmp.Diff([][]string{{"v"}, {"f"}}, got); diff != "" || err != nil {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
}

// TestReader_OutsideDictionary reads pages that refer to the value after the last one of a
// dictionary, or to no dictionary.
func TestReader_OutsideDictionary(t *testing.T) {
	t.Parallel()
	page := func(index byte) craftedPage { return dataPage(1, meta.RLEDictionary, []byte{3, 2, index}) }
	text := dictionaryPage(1, []byte{1, 0, 0, 0, 'a'})
	number := dictionaryPage(2, []byte{1, 0, 0, 0, 2, 0, 0, 0})
	for _, c := range []struct {
		name  string
		kind  meta.Type
		pages []craftedPage
		ok    bool
	}{
		{"last text", meta.ByteArray, []craftedPage{text, page(0)}, true},
		{"text", meta.ByteArray, []craftedPage{text, page(1)}, false},
		{"last number", meta.Int32, []craftedPage{number, page(1)}, true},
		{"number", meta.Int32, []craftedPage{number, page(2)}, false},
		{"no dictionary", meta.Int32, []craftedPage{page(0)}, false},
	} {
		if _, err := readFile(craft(t, 1, required(c.kind), c.pages...)); c.ok != (err == nil) || err != nil &&
			herb.CodeOf(err) != herb.CodeInvalid {
			t.Errorf("%s: got error %v", c.name, err)
		}
	}
}

func TestReader_DeclaredTypes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		node   parquet.Node
		values []any
		want   herb.Type
	}{
		{"string of digits", parquet.String(), []any{"94110"}, herb.TypeText},
		{"double with NaN", parquet.Leaf(parquet.DoubleType), []any{1.5, math.NaN()}, herb.TypeNumber},
		{"int", parquet.Int(64), []any{int64(1)}, herb.TypeNumber},
		{"decimal", parquet.Decimal(2, 9, parquet.Int32Type), []any{int32(1)}, herb.TypeNumber},
		{"date", parquet.Date(), []any{int32(0)}, herb.TypeDate},
		{"timestamp", parquet.Timestamp(parquet.Millisecond), []any{int64(0)}, "datetime"},
		{"boolean", parquet.Leaf(parquet.BooleanType), []any{true}, "boolean"},
		{"uuid", parquet.UUID(), []any{bytes.Repeat([]byte{1}, 16)}, herb.TypeText},
		{"bytes without annotation", parquet.Leaf(parquet.ByteArrayType), []any{"94110"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := rowstest.Read(t.Context(), Format(), rowstest.File(mustWriteColumn(t, c.node, c.values)),
				rows.Options{}, rows.Limits{})
			if err != nil || got.Columns[0].Type != c.want {
				t.Errorf("got type %+v, error %v; want %q", got.Columns, err, c.want)
			}
		})
	}
	type lists struct {
		Plain  []string          `parquet:"plain,list"`
		Commas []string          `parquet:"commas,list"`
		Pairs  map[string]string `parquet:"pairs"`
	}
	b := mustWrite(t, []lists{{Plain: []string{"a", "b"}, Commas: []string{"a,b"}}})
	got, err := rowstest.Read(t.Context(), Format(), rowstest.File(b), rows.Options{}, rows.Limits{})
	want := []rows.Column{
		{Name: "plain", Type: herb.TypeList}, {Name: "commas", Type: herb.TypeList},
		{Name: "pairs", Type: herb.TypeText},
	}
	if diff := cmp.Diff(want, got.Columns); diff != "" || err != nil {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
	if got.Rows[1][0] != `["a","b"]` || got.Rows[1][1] != `["a,b"]` {
		t.Errorf("lists %q; want JSON", got.Rows[1])
	}
}

// TestReader_LongList reads one row with very many elements. Work must grow linearly.
func TestReader_LongList(t *testing.T) {
	type row struct {
		Tags []string `parquet:"tags,list"`
	}
	measure := func(n int) uint64 {
		tags := make([]string, n)
		for i := range tags {
			tags[i] = fmt.Sprint("tag", i)
		}
		b := mustWrite(t, []row{{tags}})
		var got [][]string
		var err error
		bytes := rowstest.Allocated(func() { got, err = readFile(b) })
		if err != nil || got[1][0] != `["`+strings.Join(tags, `","`)+`"]` {
			t.Fatalf("%d elements: error %v", n, err)
		}
		return bytes
	}
	small, large := measure(20_000), measure(320_000)
	if large > 32*small {
		t.Errorf("20,000 elements allocate %d bytes, 320,000 allocate %d", small, large)
	}
}

// TestReader_PrefixExpansion reads 60 equal strings of 1 MiB that share their prefix. Only one may
// be in memory.
func TestReader_PrefixExpansion(t *testing.T) {
	const count, size = 60, 1 << 20
	prefixes, lengths := make([]int32, count), make([]int32, count)
	for i := range count {
		prefixes[i] = size
	}
	prefixes[0], lengths[0] = 0, size
	var e delta.BinaryPackedEncoding
	a, err := e.EncodeInt32(nil, prefixes)
	if err != nil {
		t.Fatal(err)
	}
	b, err := e.EncodeInt32(nil, lengths)
	if err != nil {
		t.Fatal(err)
	}
	body := append(append(a, b...), bytes.Repeat([]byte("x"), size)...)
	file := craft(t, count, required(meta.ByteArray), dataPage(count, meta.DeltaByteArray, body))
	n := 0
	used := rowstest.Allocated(func() {
		r, err := openFile(t.Context(), file)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		for ; err == nil; n++ {
			var cells [][]byte
			cells, err = r.Next()
			if err == nil && len(cells[0]) != size {
				t.Fatalf("row %d has %d bytes", n, len(cells[0]))
			}
		}
		if err != io.EOF {
			t.Fatal(err)
		}
	})
	if used > 30<<20 || n != count+1 {
		t.Errorf("read %d rows with %d bytes", n-1, used)
	}
}

// TestReader_Endless reads files that claim far more than they hold. Each must end with an error,
// in little memory.
func TestReader_Endless(t *testing.T) {
	run := func(count uint64) []byte { return append(binary.AppendUvarint([]byte{1}, count<<1), 0) }
	levels := func(count uint64) []byte {
		runs := append(binary.AppendUvarint(nil, count<<1), 0)
		return append(binary.LittleEndian.AppendUint32(nil, uint32(len(runs))), runs...)
	}
	optional := func(t meta.Type) []meta.SchemaElement { return []meta.SchemaElement{leaf("v", meta.Optional, t)} }
	text := binary.LittleEndian.AppendUint32(nil, 1)
	deltas := binary.AppendUvarint([]byte{0x80, 0x80, 0x80, 0x80, 0x08, 1}, 1<<31-1) // one block of 2^31 values
	deltas = append(deltas, 0, 0, 0)
	withFooter := func(footer []byte) []byte {
		b := append([]byte("PAR1"), footer...)
		return append(binary.LittleEndian.AppendUint32(b, uint32(len(footer))), "PAR1"...)
	}
	huge := func(field byte) []byte { // a list of 2^31-1 structures
		return withFooter(binary.AppendUvarint([]byte{field, 0xFC}, math.MaxInt32))
	}
	var groups []byte // 20 row groups of no rows and 2^17 columns, each an empty structure
	for range 20 {
		groups = append(groups, "\x19\xFC\x80\x80\x08"...)
		groups = append(append(groups, make([]byte, 1<<17)...), 0x26, 0, 0)
	}
	shared := required(meta.ByteArray) // columns that share a page of 60 MiB, of which they use one value
	for i := range 5_000 {
		shared = append(shared, leaf(fmt.Sprint("v", i), meta.Required, meta.ByteArray))
	}
	large := dataPage(1, meta.Plain, append(text, 'x'))
	large.header.UncompressedPageSize = 60 << 20
	for _, c := range []struct {
		name string
		file []byte
	}{
		{"no columns and 2^60 rows", craft(t, 1<<60, nil)},
		{"10 million rows of one value",
			craft(t, 10_000_000, required(meta.ByteArray), dictionaryPage(1, append(text, 'x')),
				dataPage(10_000_000, meta.RLEDictionary, run(10_000_000)))},
		{"2^31 nulls of numbers",
			craft(t, 1<<31-1, optional(meta.Int64), dataPage(1<<31-1, meta.Plain, levels(1<<31-1)))},
		{"2^31 nulls of bytes", craft(t, 1<<31-1, optional(meta.ByteArray),
			dataPage(1<<31-1, meta.Plain, levels(1<<31-1)))},
		{"2^31 elements in a row", craft(t, 1, []meta.SchemaElement{leaf("v", meta.Repeated, meta.Int32)},
			dataPage(1<<31-1, meta.Plain, append(append(levels(1<<31-1), levels(1<<31-1)...), 0)))},
		{"2^31 deltas", craft(t, 1<<31-1, required(meta.Int64), dataPage(1<<31-1, meta.DeltaBinaryPacked, deltas))},
		{"2^31 rows without bytes", craft(t, 1<<31-1, required(meta.Int64), dataPage(1<<31-1, meta.Plain, []byte{1}))},
		{"a schema of 2^31 elements", huge(0x29)},
		{"2^31 row groups", huge(0x49)},
		{"2^21 columns without content", withFooter(append(append([]byte{0x49, 0xFC, 20}, groups...), 0))},
		{"structures in structures", withFooter(bytes.Repeat([]byte{0x1C}, 1<<20))},
		{"lists in lists", withFooter(bytes.Repeat([]byte{0x19}, 1<<20))},
		{"sets in maps", withFooter(append([]byte{0x1B}, bytes.Repeat([]byte{1, 0x5A, 0, 0x1B}, 1<<18)...))},
		{"columns that share a page", craft(t, 1, shared, large)},
	} {
		var err error
		used := rowstest.Allocated(func() {
			var r rows.Rows
			r, err = openFile(t.Context(), c.file)
			if err != nil {
				return
			}
			defer r.Close()
			for err == nil {
				_, err = r.Next()
			}
		})
		if herb.CodeOf(err) != herb.CodeInvalid || used > 100<<20 {
			t.Errorf("%s (%d bytes): error %v after allocating %d bytes", c.name, len(c.file), err, used)
		}
	}
}

// TestReader_Budget reads a small file with more than half of the values that the budget allows.
// Writing them to the temporary file must not be charged too.
func TestReader_Budget(t *testing.T) {
	t.Parallel()
	const count = 600_000
	run := append(binary.AppendUvarint([]byte{1}, count<<1), 0)
	file := craft(t, count, required(meta.Int32), dictionaryPage(1, []byte{7, 0, 0, 0}),
		dataPage(count, meta.RLEDictionary, run))
	r, err := openFile(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	n := -1
	for ; err == nil; n++ {
		_, err = r.Next()
	}
	if err != io.EOF || n != count {
		t.Errorf("read %d rows, error %v", n, err)
	}
}

func TestReader_Canceled(t *testing.T) {
	t.Parallel()
	b := mustWriteColumn(t, parquet.Leaf(parquet.Int64Type), make([]any, 20_000))
	ctx, cancel := context.WithCancel(t.Context())
	r, err := openFile(ctx, b)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cancel()
	for err == nil {
		_, err = r.Next()
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v", err)
	}
}

// TestDecoders compares the decoders with the encoders of the library, for all widths.
func TestDecoders(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for width := range 65 {
		ints, levels := make([]int64, 700), make([]int32, 700)
		for i := range ints {
			ints[i] = int64(r.Uint64() >> (64 - width))
			levels[i] = int32(r.Uint32() >> max(1, 32-width))
			if i%100 > 60 {
				levels[i] = levels[i-1] // runs
			}
		}
		b, err := new(delta.BinaryPackedEncoding).EncodeInt64(nil, ints)
		if err != nil {
			t.Fatal(err)
		}
		d, rest, err := cutDeltas(append(b, "rest"...))
		if string(rest) != "rest" || err != nil {
			t.Fatalf("width %d: rest %q, error %v", width, rest, err)
		}
		for i, want := range ints {
			if got, err := d.next(); got != want || err != nil {
				t.Fatalf("width %d, delta %d: got %d, error %v, want %d", width, i, got, err, want)
			}
		}
		if width > 31 {
			continue
		}
		b, err = (&rle.Encoding{BitWidth: width}).EncodeInt32(nil, levels)
		if err != nil {
			t.Fatal(err)
		}
		h := runReader{src: b, width: width}
		for i, want := range levels {
			if got, err := h.next(); got != uint64(want) || err != nil {
				t.Fatalf("width %d, level %d: got %d, error %v, want %d", width, i, got, err, want)
			}
		}
	}
}

// TestDecoders_Invalid decodes pages with wrong lengths.
func TestDecoders_Invalid(t *testing.T) {
	t.Parallel()
	text, number := leafType{stored: meta.ByteArray}, leafType{stored: meta.Int64, width: 8}
	for _, c := range []struct {
		name     string
		leaf     leafType
		encoding meta.Encoding
		body     []byte
	}{
		{"text longer than the page", text, meta.Plain, []byte{255, 255, 255, 255, 'a'}},
		{"no length", text, meta.Plain, []byte{1, 0}},
		{"too few bytes", number, meta.Plain, []byte{1, 2, 3}},
		{"too few booleans", leafType{stored: meta.Boolean}, meta.Plain, nil},
		{"no header of deltas", number, meta.DeltaBinaryPacked, []byte{128, 1}},
		{"empty blocks", number, meta.DeltaBinaryPacked, []byte{0, 0, 5, 0}},
		{"too few splits", leafType{stored: meta.Double, width: 8}, meta.ByteStreamSplit, []byte{1, 2, 3}},
		{"unknown encoding", text, 99, []byte{1}},
		{"prefix of nothing", text, meta.DeltaByteArray, []byte{128, 1, 4, 1, 20, 128, 1, 4, 1, 2, 'x'}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r, err := newValueReader(&c.leaf, nil, c.encoding, c.body)
			if err == nil {
				_, err = r()
			}
			if err == nil {
				t.Error("no error")
			}
		})
	}
}

func TestDictionaryReader_Width(t *testing.T) {
	t.Parallel()
	number := leafType{stored: meta.Int32, width: 4}
	if _, err := newValueReader(&number, fixedDictionary(make([]byte, 4), 4), meta.RLEDictionary,
		[]byte{33, 2, 0}); err == nil {
		t.Error("no error about indexes of 33 bits")
	}
}
