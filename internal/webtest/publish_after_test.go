package webtest_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestPublishing_after begins at the catalogue without a key, accepts the proposed primary key, and
// checks what the page says after the first and the second publish.
func TestPublishing_after(t *testing.T) {
	t.Parallel()
	for _, script := range scriptModes() {
		t.Run(fmt.Sprintf("script=%v", script), func(t *testing.T) {
			t.Parallel()
			ref := fmt.Sprintf("nursery/after-%v", script)
			b := open(t, newPress(t, nil), tabOptions{NoScript: !script, Fails: []int{401}})
			b.Visit("/")
			b.Click(b.Pick("a.button", "Publish a file"))
			b.Until(`location.pathname === "/publish" && document.getElementById("key")`)
			b.enterKey()
			b.chooseFiles(ref, file(t, "Prices.csv", stockCSV()))
			b.send()
			if got := b.Text(".proposal"); !strings.Contains(got, "The values of Code all differ") {
				t.Fatalf("the proposal is %q", got)
			}
			b.edit(func() { b.Click(".proposal button") })
			if got := b.Text("#key-value"); got != "Code" || b.Count(".proposal") != 0 {
				t.Errorf("the primary key is %q", got)
			}
			b.Click(".publish-foot .primary")
			b.live(ref)
			want := []string{b.url + "/datasets/" + ref, b.url + "/api/v1/" + ref + "/data"}
			if got := b.Texts(".done code"); strings.Join(got, " ") != strings.Join(want, " ") {
				t.Errorf("the addresses are %q", got)
			}
			b.Visit("/publish")
			b.chooseFiles(ref, file(t, "Prices.csv", stockRows(38)))
			b.send()
			if n := b.Count("[name=consent]"); n > 0 {
				b.Click("[name=consent]")
			}
			b.Click(".publish-foot .primary")
			b.live(ref)
			b.Click(".done summary")
			if got := b.Text(".done"); !strings.Contains(got, "38 rows are live.") || !strings.Contains(got, "Undo") ||
				!strings.Contains(got, "40") {
				t.Errorf("the page says %q", got)
			}
		})
	}
}
