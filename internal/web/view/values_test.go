package view

import (
	"slices"
	"testing"
	"unicode/utf8"

	"herbarium/internal/herb"
)

func TestNumber(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"0": "0", "2024": "2024", "12345": "12,345", "-12345.678": "-12,345.678", "+1234567": "+1,234,567", "1234.56789": "1234.56789",
		"00042": "00,042", "1e10000": "1e10000", "": "",
	} {
		if got := Number(in); got != want {
			t.Errorf("Number(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestDate(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"2024-02-29": "29 Feb 2024", "2024-12-01": "1 Dec 2024", "2024-13-01": "2024-13-01", "2024-1-01": "2024-1-01", "soon": "soon", "": "",
	} {
		if got := Date(in); got != want {
			t.Errorf("Date(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestIsWebAddress(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"https://example.org", "http://example.org/a?b=c#d", "https://münchen.example/ä", "https://[::1]:8080/x", "https://a.example/@user"} {
		if !IsWebAddress(s) {
			t.Errorf("%q is rejected", s)
		}
	}
	for _, s := range []string{
		"", "https://", "https:///x", "http:x", "HTTPS://example.org", "javascript:alert(1)", "ftp://x", "//x", " https://x", "https://a b", "https://a\nb",
		"https://user@host/", "https://a%20b/", `https://a"b`, "https://a<b", "https://a\\b", "mailto:a@b",
	} {
		if IsWebAddress(s) {
			t.Errorf("%q is accepted", s)
		}
	}
}

func TestKindOf(t *testing.T) {
	t.Parallel()
	report := func(name string) *herb.Report {
		if name == "a" {
			return &herb.Report{Columns: []herb.ColumnReport{{Field: "a", Min: "https://x.example/1.png", Max: "https://x.example/z.JPG"}}}
		}
		return &herb.Report{Columns: []herb.ColumnReport{{Field: "b", Min: "https://x.example/1.png", Max: "none"}}}
	}
	for _, tt := range []struct {
		name string
		typ  herb.Type
		want Kind
	}{
		{"a", herb.TypeText, KindImage}, {"b", herb.TypeText, KindText}, {"coverImage", herb.TypeText, KindImage}, {"imagine", herb.TypeText, KindText},
		{"thumb_url", herb.TypeText, KindImage}, {"id", herb.TypeNumber, KindCode}, {"orderNo", herb.TypeNumber, KindCode}, {"price", herb.TypeNumber, KindNumber},
		{"image", herb.TypeDate, KindDate}, {"image", herb.TypeList, KindList},
	} {
		d := herb.Dataset{Fields: []herb.Field{{Name: tt.name, Type: tt.typ}}}
		d.Report = report(tt.name)
		if got := KindOf(&d, 0); got != tt.want {
			t.Errorf("%s (%s) is shown as %d, want %d", tt.name, tt.typ, got, tt.want)
		}
	}
}

// FuzzDecodeRows checks that records are decoded as encoding/json does, and that malformed input does not panic.
func FuzzDecodeRows(f *testing.F) {
	f.Add("a", "b", []byte(`{"x":"\ud83c\udf31\u0000","y":"`))
	f.Add("\"\\\n\r\t\x00\x1f", "é\u2028", []byte(`{"x":"\`))
	f.Fuzz(func(t *testing.T, a, b string, raw []byte) {
		fields := []herb.Field{{Name: a}, {Name: b}}
		_, _ = DecodeRows([][]byte{raw}, fields)
		record := herb.Record{a, b}.AppendJSON(nil, fields)
		if !utf8.ValidString(a) || !utf8.ValidString(b) {
			return
		}
		rows, err := DecodeRows([][]byte{record, record}, fields)
		if err != nil || len(rows) != 2 || !slices.Equal(rows[1], []string{a, b}) {
			t.Errorf("%s decodes to %q, %v", record, rows, err)
		}
	})
}
