package comparisons

import (
	"strings"
	"testing"
)

// written returns a text with the signs of invisible characters in brackets.
func written(t Text) string {
	var b strings.Builder
	for _, p := range t.Pieces {
		if p.Name != "" {
			b.WriteString("[" + p.Text + "]")
		} else {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

func TestCompareTexts(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", 500_000)
	for _, tt := range []struct{ old, now, before, after, note string }{
		{"6.00", "6.40", "6.00", "6.40", ""},
		{"", "a", "", "a", ""},
		{" a", "a", "[␣]a", "a", "only invisible characters differ"},
		{"a  b c", "a b c", "a[␣][␣]b c", "a b c", "only invisible characters differ"},
		{"a\u00a0b", "a b", "a[⍽]b", "a b", "only invisible characters differ"},
		{"a\r\nb\t", "a\nb", "a[␍][↵]b[⇥]", "a[↵]b", "only invisible characters differ"},
		{"a\u200bb", "ab", "a[U+200B]b", "ab", "only invisible characters differ"},
		{"\u202eab", "ba", "[U+202E]ab", "ba", ""},
		{"Café", "Cafe\u0301", "Café", "Cafe\u0301",
			"the same characters, composed in another way: U+00E9 became U+0065"},
		{"Hazel", "Нazel", "Hazel", "Нazel", "other characters that look alike: U+0048 became U+041D"},
		{"1-2", "1\u20112", "1-2", "1\u20112", "other characters that look alike: U+002D became U+2011"},
		{"ⅳ", "iv", "ⅳ", "iv", "other characters that look alike: U+2173 became U+0069"},
		{long + "x", long + "y", "…" + strings.Repeat("ä", lead) + "x", "…" + strings.Repeat("ä", lead) + "y", ""},
		{long, long + "y", "…" + strings.Repeat("ä", lead), "…" + strings.Repeat("ä", lead) + "y", ""},
		{"a" + long, "b" + long, "a" + strings.Repeat("ä", maxChanged-1) + "…",
			"b" + strings.Repeat("ä", maxChanged-1) + "…", ""},
		// share their first byte
		{long + "é", long + "è", "…" + strings.Repeat("ä", lead) + "é", "…" + strings.Repeat("ä", lead) + "è", ""},
	} {
		before, after, note := compareTexts(tt.old, tt.now)
		if written(before) != tt.before || written(after) != tt.after || note != tt.note {
			t.Errorf("%.20q to %.20q: %q, %q, %q", tt.old, tt.now, written(before), written(after), note)
		}
	}
}

func TestPlainText(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"": "", "a\nb\x00": "a b ", strings.Repeat("é", 100): strings.Repeat("é", maxSame) + "…",
	} {
		if got := written(plainText(value)); got != want {
			t.Errorf("%q is shown as %q, want %q", value, got, want)
		}
	}
}
