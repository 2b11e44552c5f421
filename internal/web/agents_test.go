package web_test

import (
	"strings"
	"testing"
)

// TestConnectAgent checks what the API reference of a dataset says about agents: the address of the
// server, and that a dataset which requires a key needs one.
func TestConnectAgent(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	for ref, key := range map[string]bool{"garden/catalog": false, "locked/staff": true} {
		got := words(one(t, s.page(t, "/datasets/"+ref+"/api", 200), byID("agent")))
		if !strings.Contains(got, "claude mcp add --transport http herbarium http://herbarium.test/mcp") ||
			!strings.Contains(got, "Then ask about "+ref) ||
			strings.Count(got, "Authorization: Bearer <key>") != map[bool]int{false: 0, true: 2}[key] {
			t.Errorf("%s: %s", ref, got)
		}
	}
}
