package webtest_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestPublishing_totals leaves out a total with one click, sees that the next file is read by the
// same rule, and keeps the row again.
func TestPublishing_totals(t *testing.T) {
	t.Parallel()
	for _, script := range []bool{true, false} {
		t.Run(fmt.Sprintf("script=%v", script), func(t *testing.T) {
			t.Parallel()
			ref := fmt.Sprintf("nursery/totals-%v", script)
			b := open(t, newPress(t, nil), tabOptions{NoScript: !script, Fails: []int{401}})
			b.enterKey()
			const rows = "Ort,Einwohner\nAu,3\nBach,4\nCham,5\n"
			b.chooseFiles(ref, file(t, "Orte.csv", rows+"Summe,12\n"))
			b.send()
			if got := b.Text(".totals"); !strings.HasPrefix(got, `Line 5 looks like a total: Ort is "Summe", and its numbers are the sums of the other rows.`) {
				t.Fatalf("the review says %q", got)
			}
			b.edit(func() { b.Click(b.Pick(".totals button", "Leave it out")) })
			if got := b.Text(".totals"); !strings.HasPrefix(got, "1 row is left out, also from later files: Ort is “Summe”.") {
				t.Errorf("the review says %q", got)
			}
			if got := b.Text("#r5"); !strings.HasPrefix(got, "left out: excluded by its values 5") || b.Count("#r5 button") != 0 {
				t.Errorf("row 5 is %q", got)
			}
			b.Click(b.Pick(".publish-foot .primary", "Publish 3 records"))
			b.live(ref)

			b.Visit("/publish")
			b.chooseFiles(ref, file(t, "Orte.csv", rows+"Dorf,6\nSumme,18\n"))
			b.send()
			if got := b.Text(".publish-foot .primary"); got != "Publish 4 records" {
				t.Errorf("the button is %q", got)
			}
			b.edit(func() { b.Click(b.Pick(".totals button", "Keep it")) })
			if got := b.Text(".publish-foot .primary"); got != "Publish 5 records" || b.Count(".breaking-change") != 1 {
				t.Errorf("the button is %q, and %d changes require a consent", got, b.Count(".breaking-change"))
			}
			b.edit(func() { b.Click(b.Pick(".totals button", "Leave it out")) })
			b.Click(b.Pick(".publish-foot .primary", "Publish 4 records"))
			b.live(ref)
			if l := get(t, b.url+"/api/v1/"+ref+"/data"); l.Meta.Total != 4 {
				t.Errorf("%d records are live", l.Meta.Total)
			}
		})
	}
}
