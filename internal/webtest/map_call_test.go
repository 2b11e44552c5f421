package webtest_test

import (
	"strings"
	"testing"
)

// TestMap_call checks that the bar below a map shows the API call for what is drawn: without a script, counts.
func TestMap_call(t *testing.T) {
	t.Parallel()
	for _, script := range []bool{true, false} {
		b := open(t, newSite(t, nil), tabOptions{noScript: !script})
		b.visit(wide + "/map?latitude[gte]=0")
		b.settled()
		want := map[bool]string{true: "/api/v1/wide/thousand/data?latitude[gte]=0", false: "/api/v1/wide/thousand/grid?latitude[gte]=0"}[script]
		if got := b.text("#call"); !strings.HasPrefix(got, "GET "+want) || strings.Count(got, "/api/") != 1 {
			t.Errorf("script %v: the call is %q, want %q", script, got, want)
		}
	}
}
