package web

import (
	"encoding/json"
	"slices"
	"testing"

	"herbarium/internal/herb"
)

func TestHumanNumber(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"0": "0", "2024": "2024", "12345": "12,345", "-12345.678": "-12,345.678", "+1234567": "+1,234,567", "1234.56789": "1234.56789",
		"00042": "00,042", "1e10000": "1e10000", "": "",
	} {
		if got := humanNumber(in); got != want {
			t.Errorf("humanNumber(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestHumanDate(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"2024-02-29": "29 Feb 2024", "2024-12-01": "1 Dec 2024", "2024-13-01": "2024-13-01", "2024-1-01": "2024-1-01", "soon": "soon", "": "",
	} {
		if got := humanDate(in); got != want {
			t.Errorf("humanDate(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestWebAddress(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"https://example.org", "http://example.org/a?b=c#d", "https://münchen.example/ä", "https://[::1]:8080/x", "https://a.example/@user"} {
		if !webAddress(s) {
			t.Errorf("%q is not taken for an address", s)
		}
	}
	for _, s := range []string{
		"", "https://", "https:///x", "http:x", "HTTPS://example.org", "javascript:alert(1)", "ftp://x", "//x", " https://x", "https://a b", "https://a\nb",
		"https://user@host/", "https://a%20b/", `https://a"b`, "https://a<b", "https://a\\b", "mailto:a@b",
	} {
		if webAddress(s) {
			t.Errorf("%q is taken for an address", s)
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
		want kind
	}{
		{"a", herb.TypeText, kindImage}, {"b", herb.TypeText, kindText}, {"coverImage", herb.TypeText, kindImage}, {"imagine", herb.TypeText, kindText},
		{"thumb_url", herb.TypeText, kindImage}, {"id", herb.TypeNumber, kindCode}, {"orderNo", herb.TypeNumber, kindCode}, {"price", herb.TypeNumber, kindNumber},
		{"image", herb.TypeDate, kindDate}, {"image", herb.TypeList, kindList},
	} {
		d := herb.Dataset{Fields: []herb.Field{{Name: tt.name, Type: tt.typ}}}
		d.Report = report(tt.name)
		if got := kindOf(&d, 0); got != tt.want {
			t.Errorf("%s (%s) is shown as %d, want %d", tt.name, tt.typ, got, tt.want)
		}
	}
}

// FuzzDecodeRecord holds that records are read as any reader of JSON would, and that nothing else does harm.
func FuzzDecodeRecord(f *testing.F) {
	f.Add("a", "b", []byte(`{"x":"\ud83c\udf31\u0000","y":"`))
	f.Add("\"\\\n\r\t\x00\x1f", "é\u2028", []byte(`{"x":"\`))
	f.Fuzz(func(t *testing.T, a, b string, raw []byte) {
		var junk [2]string
		_ = decodeRecord(string(raw), junk[:])
		fields := []herb.Field{{Name: a}, {Name: b}}
		record := herb.Record{a, b}.AppendJSON(nil, fields)
		if !json.Valid(record) {
			return
		}
		var got [2]string
		if err := decodeRecord(string(record), got[:]); err != nil || !slices.Equal(got[:], []string{a, b}) {
			t.Errorf("%s reads as %q, %v", record, got, err)
		}
		loose, err := json.Marshal([]string{a})
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		if err := json.Unmarshal(loose, &want); err != nil {
			t.Fatal(err)
		}
		if err := decodeRecord(`{"a":`+string(loose[1:len(loose)-1])+`}`, got[:1]); err != nil || got[0] != want[0] {
			t.Errorf("%s reads as %q, %v", loose, got[0], err)
		}
	})
}
