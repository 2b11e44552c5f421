package format

import "testing"

func TestIsWebAddress(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"https://example.org", "http://example.org/a?b=c#d", "https://münchen.example/ä",
		"https://[::1]:8080/x", "https://a.example/@user"} {
		if !IsWebAddress(s) {
			t.Errorf("%q is rejected", s)
		}
	}
	for _, s := range []string{
		"", "https://", "https:///x", "http:x", "HTTPS://example.org", "javascript:alert(1)", "ftp://x", "//x",
		" https://x", "https://a b", "https://a\nb",
		"https://user@host/", "https://a%20b/", `https://a"b`, "https://a<b", "https://a\\b", "mailto:a@b",
	} {
		if IsWebAddress(s) {
			t.Errorf("%q is accepted", s)
		}
	}
}
