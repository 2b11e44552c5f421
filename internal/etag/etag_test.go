package etag_test

import (
	"net/http"
	"testing"

	"herbarium/internal/etag"
)

func TestNew(t *testing.T) {
	t.Parallel()
	tag := etag.New("a", "b")
	if again := etag.New("a", "b"); again != tag {
		t.Errorf("the same parts have the tags %s and %s", tag, again)
	}
	if tag == etag.New("ab") || tag == etag.New("a", "c") {
		t.Error("different parts have the same tag")
	}
}

func TestMatch(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		headers []string
		want    bool
	}{
		{"none", nil, false},
		{"weak", []string{`W/"x"`}, true},
		{"strong", []string{`"x"`}, true},
		{"any", []string{" * "}, true},
		{"in a list", []string{`"a", W/"b,c" ,W/"x"`}, true},
		{"in a second header", []string{`"a"`, `"x"`}, true},
		{"another", []string{`"xx"`}, false},
		{"part of another", []string{`"a,"x"`}, false},
		{"after a syntax error", []string{`a, "x"`}, false},
		{"without quotes", []string{`x`}, false},
		{"without end", []string{`"x`}, false},
	} {
		if got := etag.Match(http.Header{"If-None-Match": tt.headers}, `W/"x"`); got != tt.want {
			t.Errorf("%s: %t, want %t", tt.name, got, tt.want)
		}
	}
}
