package export_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/export"
	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/testseed"
)

func TestWrite_XLSX(t *testing.T) {
	t.Parallel()
	fields := []herb.Field{{Name: "a & b", Type: herb.TypeText}, {Name: "n", Type: herb.TypeNumber}}
	european := []herb.Field{
		fields[0], {Name: "n", Type: herb.TypeNumber,
			Notation: herb.Notation{Group: ".", Decimal: ",", Missing: []string{"NA"}}}}
	tests := []struct {
		name  string
		value herb.Record
		want  string // cells of the row
	}{
		{"text", herb.Record{"<b> & c", ""}, inline("&lt;b&gt; &amp; c") + "<c/>"},
		{"plain number", herb.Record{"", "-12.50"}, "<c/><c><v>-12.50</v></c>"},
		{"leading zero", herb.Record{"007", "007"}, inline("007") + inline("007")},
		{"number in a text field", herb.Record{"7", ""}, inline("7") + "<c/>"},
		{"sixteen digits", herb.Record{"", "1234567890123456"}, "<c/>" + inline("1234567890123456")},
		{"fifteen digits", herb.Record{"", "123456789012.345"}, "<c/><c><v>123456789012.345</v></c>"},
		{"fifteen digits with a sign and a point", herb.Record{"", "-123456789012.345"},
			"<c/><c><v>-123456789012.345</v></c>"},
		{"currency", herb.Record{"", "$5"}, "<c/>" + inline("$5")},
		{"control characters", herb.Record{"a\x01\r\n\tb\uffff", ""}, inline("a_x0001__x000D_\n\tb_xFFFF_") + "<c/>"},
		{"looks escaped", herb.Record{"_x0041_ _x00 _", ""}, inline("_x005F_x0041_ _x00 _") + "<c/>"},
		{"looks escaped before an escaped character", herb.Record{"_x0041\x01_x0041\n", ""},
			inline("_x005F_x0041_x0001__x0041\n") + "<c/>"},
		{"thousands after a point", herb.Record{"decimal comma", "1.234"}, inline("decimal comma") +
			"<c><v>1234</v></c>"},
		{"decimal comma", herb.Record{"decimal comma", "-1.234,50"}, inline("decimal comma") +
			"<c><v>-1234.50</v></c>"},
		{"sixteen digits with a decimal comma", herb.Record{"decimal comma", "12.345.678.901.234,56"},
			inline("decimal comma") + inline("12.345.678.901.234,56")},
		{"missing value", herb.Record{"decimal comma", "NA"}, inline("decimal comma") + inline("NA")},
		{"signs and exponents", herb.Record{"", "+1.5e2"}, "<c/><c><v>150</v></c>"},
		{"plain number with a decimal comma", herb.Record{"decimal comma", "1234"}, inline("decimal comma") +
			"<c><v>1234</v></c>"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var file bytes.Buffer
			fields := fields
			if tt.value[0] == "decimal comma" {
				fields = european
			}
			rec := string(tt.value.AppendJSON(nil, fields))
			if _, err := export.Write(&file, export.XLSX, fields, streamOf(1, nil, rec)); err != nil {
				t.Fatal(err)
			}
			_, rows, _ := strings.Cut(part(t, file.Bytes(), "xl/worksheets/sheet1.xml"), "<sheetData>")
			want := "<row>" + inline("a &amp; b") + inline("n") + "</row><row>" + tt.want +
				"</row></sheetData></worksheet>"
			if diff := cmp.Diff(want, rows); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestWrite_dates checks which dates are numbers of days with a style, and which are text.
func TestWrite_dates(t *testing.T) {
	t.Parallel()
	number := func(style int, days string) string { return fmt.Sprintf(`<c s="%d"><v>%s</v></c>`, style, days) }
	day := herb.Field{Name: "d", Type: herb.TypeDate, Notation: herb.Notation{Missing: []string{"NA"}}}
	european := herb.Field{Name: "d", Type: herb.TypeDate, Notation: herb.Notation{DateFormat: "%d/%m/%Y"}}
	months := herb.Field{Name: "d", Type: herb.TypeDate, Notation: herb.Notation{DateFormat: "%Y-%m"}}
	at := herb.Field{Name: "d", Type: herb.TypeDateTime}
	clock, length := herb.Field{Name: "d", Type: herb.TypeTime}, herb.Field{Name: "d", Type: herb.TypeDuration}
	for _, tt := range []struct {
		field       herb.Field
		value, want string
	}{
		{day, "2024-02-29", number(1, "45351")},
		{day, "1900-03-01", number(1, "61")},
		{day, "1900-02-28", inline("1900-02-28")}, // 59 or 58
		{day, "1899-12-31", inline("1899-12-31")},
		{day, "0001-01-01", inline("0001-01-01")},
		{day, "9999-12-31", number(1, "2958465")},
		{day, "NA", inline("NA")},
		{day, "", "<c/>"},
		{european, "29/02/2024", number(1, "45351")},
		{european, "1/3/1899", inline("1/3/1899")},
		{months, "2024-02", inline("2024-02")},
		{at, "2024-02-29T13:30:00Z", number(2, "45351.5625")},
		{at, "2024-02-29 13:30", number(2, "45351.5625")},
		{at, "2024-02-29T13:30:00+00:00", number(2, "45351.5625")},
		{at, "2024-02-29", number(2, "45351")},
		{at, "2024-02-29T23:59:59.999Z", number(3, "45351.999999988424")},
		{at, "2024-02-29T13:30:00.5", number(3, "45351.562505787035")},
		{at, "2024-02-29T13:30:00.500000", number(3, "45351.562505787035")},
		{at, "2024-02-29T13:30:00.0000005", inline("2024-02-29T13:30:00.0000005")},
		{at, "2024-02-29T14:30:00+01:00", inline("2024-02-29T14:30:00+01:00")}, // a cell has no zone
		{at, "1900-02-28T00:00Z", inline("1900-02-28T00:00Z")},
		{clock, "6:00", number(4, "0.25")},
		{clock, "9:00 PM", number(4, "0.875")},
		{clock, "12:00:00.5", number(5, "0.500005787037037")},
		{clock, "23:59:60", inline("23:59:60")},
		{clock, "24:00", inline("24:00")},
		{clock, "12:00:00.0005", inline("12:00:00.0005")},
		{length, "36:00:00", number(6, "1.5")},
		{length, "1h 30m", number(6, "0.0625")},
		{length, "PT0.5S", number(7, "0.000005787037037037037")},
		{length, "9999:00:00", number(6, "416.625")},
		{length, "10000:00:00", inline("10000:00:00")},
		{length, "-1:00:00", inline("-1:00:00")},
		{length, "1000000000000000000:00:00", inline("1000000000000000000:00:00")},
		{herb.Field{Name: "d", Type: herb.TypeText}, "2024-02-29", inline("2024-02-29")},
	} {
		fields := []herb.Field{tt.field}
		var file bytes.Buffer
		if _, err := export.Write(&file, export.XLSX, fields,
			streamOf(1, nil, string(herb.Record{tt.value}.AppendJSON(nil, fields)))); err != nil {
			t.Fatal(err)
		}
		head, rows, _ := strings.Cut(part(t, file.Bytes(), "xl/worksheets/sheet1.xml"), "<sheetData>")
		if want := "<row>" + inline("d") + "</row><row>" + tt.want + "</row></sheetData></worksheet>"; rows != want {
			t.Errorf("%s %q: %s; want %s", tt.field.Type, tt.value, rows, want)
		}
		if isDate := tt.field.Type != herb.TypeText; strings.Contains(head, `<cols><col min="1" max="1" `) != isDate {
			t.Errorf("%s: %s", tt.field.Type, head)
		}
		if styles := part(t, file.Bytes(), "xl/styles.xml"); !strings.Contains(styles, `formatCode="yyyy\-mm\-dd"`) {
			t.Error(styles)
		}
	}
}

// TestWrite_datesReadBack checks that the number of days of random datetimes is the same
// millisecond again, as programs round it.
func TestWrite_datesReadBack(t *testing.T) {
	t.Parallel()
	g := rand.New(rand.NewPCG(testseed.Seed(t), 0))
	epoch, fields := time.Date(1899, time.December, 30, 0, 0, 0, 0, time.UTC),
		[]herb.Field{{Name: "d", Type: herb.TypeDateTime}}
	var records []string
	var want []time.Time
	for range 2000 {
		at := time.Date(1900, time.March, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, g.IntN(2958404)).Add(
			time.Duration(g.IntN(86_400_000)) * time.Millisecond)
		want = append(want, at)
		records = append(records, string(herb.Record{at.Format("2006-01-02T15:04:05.999Z")}.AppendJSON(nil, fields)))
	}
	var file bytes.Buffer
	if _, err := export.Write(&file, export.XLSX, fields, streamOf(len(records), nil, records...)); err != nil {
		t.Fatal(err)
	}
	for i, cell := range strings.Split(part(t, file.Bytes(), "xl/worksheets/sheet1.xml"), "<v>")[1:] {
		number, _, _ := strings.Cut(cell, "<")
		days, err := strconv.ParseFloat(number, 64)
		if err != nil {
			t.Fatal(err)
		}
		whole, fraction := math.Modf(days)
		if got := epoch.AddDate(0, 0,
			int(whole)).Add(time.Duration(math.Round(fraction*86_400_000)) * time.Millisecond); !got.Equal(want[i]) {
			t.Errorf("%s is read as %s, want %s", number, got, want[i])
		}
	}
}

// part returns a part of a workbook.
func part(t *testing.T, file []byte, name string) string {
	t.Helper()
	archive, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	content, err := fs.ReadFile(archive, name)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// inline returns a cell with a text.
func inline(text string) string {
	return `<c t="inlineStr"><is><t xml:space="preserve">` + text + `</t></is></c>`
}

func TestCheck(t *testing.T) {
	t.Parallel()
	one := fieldsOf("note")
	tests := []struct {
		name   string
		fields []herb.Field
		s      query.Stream
		want   string // empty: within the limits
	}{
		{"longest cell", one, streamOf(1, nil, `{"note":"`+strings.Repeat("x", 32767)+`"}`), ""},
		{"bytes are not characters", one, streamOf(1, nil, `{"note":"`+strings.Repeat("é", 32767)+`"}`), ""},
		{"long cell", one, streamOf(2, nil, `{"note":""}`, `{"note":"`+strings.Repeat("x", 32768)+`"}`),
			`"note" of record 2`},
		{"surrogate pairs", one, streamOf(1, nil, `{"note":"`+strings.Repeat("😀", 16384)+`"}`), `"note" of record 1`},
		{"many records", one, streamOf(1<<20, nil), "1048576 records, but a sheet has at most 1048575"},
		{"no record is long", one, query.Stream{Total: 1, Longest: 32767}, ""}, // its records are not read
		{"many fields", make([]herb.Field, 1<<14+1), streamOf(0, nil), "16385 fields"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := export.XLSX.Check(tt.fields, tt.s)
			if tt.want == "" && err != nil || tt.want != "" &&
				(herb.CodeOf(err) != herb.CodeInvalid || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}
