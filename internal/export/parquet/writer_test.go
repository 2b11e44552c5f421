package parquet_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	reference "github.com/parquet-go/parquet-go"

	"herbarium/internal/export/parquet"
	"herbarium/internal/herb"
	"herbarium/internal/testseed"
	"herbarium/internal/text"
	"herbarium/internal/typed"
)

// write returns a file of records.
func write(t testing.TB, fields []herb.Field, records []herb.Record, exact bool) []byte {
	t.Helper()
	scratch, err := os.Create(filepath.Join(t.TempDir(), "scratch"))
	if err != nil {
		t.Fatal(err)
	}
	defer scratch.Close()
	types := make([]typed.Column, len(fields))
	for i := range fields {
		var facts typed.Facts
		for _, r := range records {
			facts.Add(&fields[i], []byte(r[i]))
		}
		types[i] = typed.Of(&fields[i], facts)
	}
	var out bytes.Buffer
	w, err := parquet.NewWriter(&out, parquet.Options{Fields: fields, Types: types, Exact: exact, Sorted: -1,
		Scratch:  scratch,
		Metadata: [][2]string{{"title", "Test"}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		for i, v := range r {
			if err := w.Add(i, []byte(v)); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.EndRecord(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// readBack reads all values of a file with another implementation: by field, the values of each
// record as texts; nil if one is missing.
func readBack(t testing.TB, content []byte) (names []string, values [][][]string) {
	t.Helper()
	f, err := reference.OpenFile(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	if title, _ := f.Lookup("title"); title != "Test" {
		t.Errorf("the metadata has the title %q", title)
	}
	leaves := f.Schema().Columns()
	for _, path := range leaves {
		names = append(names, path[0])
	}
	values = make([][][]string, len(names))
	for _, g := range f.RowGroups() {
		if g.NumRows() > parquet.RowGroupRows {
			t.Errorf("a row group has %d records", g.NumRows())
		}
		rows := g.Rows()
		buf := make([]reference.Row, 100)
		for {
			n, err := rows.ReadRows(buf)
			for _, row := range buf[:n] {
				for i := range names {
					values[i] = append(values[i], nil)
				}
				for _, v := range row {
					of := &values[v.Column()]
					last := len(*of) - 1
					leaf, _ := f.Schema().Lookup(leaves[v.Column()]...)
					if isList := len(leaves[v.Column()]) > 1; !v.IsNull() {
						(*of)[last] = append((*of)[last], format(leaf.Node.Type(), v))
					} else if isList && v.DefinitionLevel() == 1 {
						(*of)[last] = []string{}
					}
				}
			}
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		rows.Close()
	}
	return names, values
}

// format returns a value as a text by its logical type.
func format(kind reference.Type, v reference.Value) string {
	logical := kind.LogicalType()
	if logical == nil {
		return v.String()
	}
	switch l := logical.String(); {
	case strings.HasPrefix(l, "DECIMAL"):
		scale, _ := strconv.Atoi(strings.TrimSuffix(l[strings.Index(l, ",")+1:], ")"))
		if precision := l[len("DECIMAL("):strings.Index(l, ",")]; strings.Contains(precision, "scale") {
			panic(l)
		}
		n := big.NewInt(0)
		if v.Kind() == reference.FixedLenByteArray {
			n.SetBytes(v.ByteArray())
			if v.ByteArray()[0]&0x80 != 0 {
				n.Sub(n, new(big.Int).Lsh(big.NewInt(1), 128))
			}
		} else {
			n.SetInt64(v.Int64())
		}
		return new(big.Rat).SetFrac(n, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)).RatString()
	case l == "DATE":
		return time.Unix(int64(v.Int32())*24*60*60, 0).UTC().Format(time.DateOnly)
	case strings.HasPrefix(l, "TIMESTAMP"):
		at := time.UnixMicro(v.Int64())
		if strings.Contains(l, "NANOS") {
			at = time.Unix(0, v.Int64())
		}
		return at.UTC().Format(text.CanonicalDateTime)
	case strings.HasPrefix(l, "TIME"):
		unit := time.Microsecond
		if strings.Contains(l, "NANOS") {
			unit = time.Nanosecond
		}
		return time.Time{}.Add(time.Duration(v.Int64()) * unit).Format("15:04:05.999999999")
	}
	if v.Kind() != reference.ByteArray {
		return v.String()
	}
	return string(v.ByteArray())
}

// want returns the values of a record for a field as readBack returns them.
func want(c typed.Column, f *herb.Field, value string) []string {
	if c.Kind == typed.List {
		if value == "" {
			return nil
		}
		return append([]string{}, text.Elements(f, value)...)
	}
	if text.MissingPosition(f, value) >= 0 {
		return nil
	}
	if c.Kind == typed.Text {
		return []string{value}
	}
	canonical, _ := text.Canonical(f, value)
	if c.Kind == typed.Decimal {
		exact, _ := new(big.Rat).SetString(canonical)
		canonical = exact.RatString()
	}
	if c.Kind == typed.Double {
		d, _ := strconv.ParseFloat(canonical, 64)
		canonical = reference.DoubleValue(d).String()
	}
	return []string{canonical}
}

// everyKind returns fields of all types, and functions that return random values.
func everyKind(random *rand.Rand) (fields []herb.Field, value []func() string) {
	pick := func(values ...string) func() string {
		return func() string { return values[random.IntN(len(values))] }
	}
	add := func(name string, kind herb.Type, n herb.Notation, v func() string) {
		fields, value = append(fields, herb.Field{Name: name, Type: kind, Notation: n}), append(value, v)
	}
	digits := func(n int) string {
		b := []byte{byte('1' + random.IntN(9))}
		for range random.IntN(n) {
			b = append(b, byte('0'+random.IntN(10)))
		}
		return string(b)
	}
	euro := herb.Notation{Decimal: ",", Group: ".", Affix: "€", Missing: []string{"k. A."}}
	add("z int", herb.TypeNumber, herb.Notation{},
		func() string { return strconv.FormatInt(int64(random.Uint64()), 10) })
	add("small", herb.TypeNumber, herb.Notation{}, pick("1", "-2", "3", ""))
	add("money", herb.TypeNumber, euro, pick("1.234,50 €", "-7 €", "k. A.", "0,05 €", "", "12,00 €"))
	add("wide", herb.TypeNumber, herb.Notation{}, func() string { return "-" + digits(20) + "." + digits(10) })
	add("wide positive", herb.TypeNumber, herb.Notation{}, func() string { return digits(28) + "." + digits(10) })
	add("double", herb.TypeNumber, herb.Notation{}, pick("1e30", "-0.30000000000000004", "1.5e-20", "0"))
	add("date", herb.TypeDate, herb.Notation{DateFormat: "%d.%m.%Y"},
		pick("1.1.1970", "31.12.1969", "29.02.2024", "1.1.0001", ""))
	add("instant", herb.TypeDateTime, herb.Notation{},
		pick("2024-02-29T13:30:00+05:30", "1969-12-31T23:59:59.999999Z", ""))
	add("local", herb.TypeDateTime, herb.Notation{}, pick("2024-02-29 13:30:00.123456789", "1700-01-01"))
	add("time", herb.TypeTime, herb.Notation{}, pick("9:05 pm", "00:00", "23:59:59.5"))
	add("nano time", herb.TypeTime, herb.Notation{}, pick("23:59:59.123456789", ""))
	add("boolean", herb.TypeBoolean, herb.Notation{}, pick("yes", "no", ""))
	add("duration", herb.TypeDuration, herb.Notation{}, pick("1:20:00", "PT1.5S"))
	add("list", herb.TypeList, herb.Notation{}, pick("", " ", "a", "a, b, a", "c"))
	add("text", herb.TypeText, herb.Notation{},
		func() string { return strings.Repeat("ä", random.IntN(100)) + digits(5) })
	add("code", herb.TypeText, herb.Notation{}, pick("007", "", "x", "\n\"", "🌵"))
	add("missing", herb.TypeNumber, herb.Notation{}, pick("", " "))
	add("a mixed", herb.TypeDateTime, herb.Notation{}, pick("2024-02-29T13:30Z", "2024-02-29T13:30"))
	return fields, value
}

// TestWriter compares files with what another implementation reads from them.
func TestWriter(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(testseed.Seed(t), 0))
	for _, size := range []int{0, 1, 7, 8, 9, 1000, 45_000} {
		fields, value := everyKind(random)
		if size > 1000 {
			fields, value = fields[12:], value[12:]
		}
		records := make([]herb.Record, size)
		for i := range records {
			for _, v := range value {
				records[i] = append(records[i], v())
			}
		}
		for _, exact := range []bool{false, true} {
			content := write(t, fields, records, exact)
			if again := write(t, fields, records, exact); !bytes.Equal(content, again) {
				t.Fatal("two files of the same records differ")
			}
			names, got := readBack(t, content)
			for i := range fields {
				var facts typed.Facts
				for _, r := range records {
					facts.Add(&fields[i], []byte(r[i]))
				}
				c := typed.Of(&fields[i], facts)
				if names[i] != fields[i].Name || len(got[i]) != size {
					t.Fatalf("column %d is %q with %d values", i, names[i], len(got[i]))
				}
				for n, r := range records {
					expected := []string{r[i]}
					if !exact {
						expected = want(c, &fields[i], r[i])
					}
					if !slices.Equal(got[i][n], expected) || (got[i][n] == nil) != (expected == nil) {
						t.Fatalf("%d records, %s (%s), record %d, %q: %q, want %q", size, names[i], c, n, r[i],
							got[i][n], expected)
					}
				}
			}
		}
	}
}

// TestWriter_layout checks that the bytes change only with the number that names them.
func TestWriter_layout(t *testing.T) {
	t.Parallel()
	fields, value := everyKind(rand.New(rand.NewPCG(1, 1)))
	records := make([]herb.Record, 500)
	for i := range records {
		for _, v := range value {
			records[i] = append(records[i], v())
		}
	}
	sum := sha256.Sum256(write(t, fields, records, false))
	got := fmt.Sprintf("%d %s", parquet.Layout, hex.EncodeToString(sum[:8]))
	if want := "2 3d472e1a91bdbe8e"; got != want {
		t.Errorf("layout and hash are %q, want %q; if the bytes are to change, raise Layout", got, want)
	}
}

// TestWriter_rowGroups checks the limits of row groups, and that long values are cut in bounds.
func TestWriter_rowGroups(t *testing.T) {
	t.Parallel()
	fields := []herb.Field{{Name: "long", Type: herb.TypeText}, {Name: "n", Type: herb.TypeNumber}}
	long := strings.Repeat("é", 1<<20)
	var records []herb.Record
	for i := range 40 {
		records = append(records, herb.Record{long + strconv.Itoa(i), strconv.Itoa(i)})
	}
	content := write(t, fields, records, false)
	f, err := reference.OpenFile(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(f.RowGroups()); n != 2 {
		t.Errorf("%d row groups", n)
	}
	for _, g := range f.Metadata().RowGroups {
		s := g.Columns[0].MetaData.Statistics
		if string(s.MinValue) != strings.Repeat("é", 32) || string(s.MaxValue) != strings.Repeat("é", 31)+"ê" {
			t.Errorf("bounds %q %q", s.MinValue, s.MaxValue)
		}
	}
	if _, values := readBack(t, content); values[0][39][0] != records[39][0] {
		t.Error("a long value differs")
	}
}
