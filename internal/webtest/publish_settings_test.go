package webtest_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestPublishing_settings changes the settings of a dataset without its file, in the review and
// with a descriptor that makes it public, withdraws a version and removes the dataset.
func TestPublishing_settings(t *testing.T) {
	t.Parallel()
	for _, script := range scriptModes() {
		t.Run(fmt.Sprintf("script=%v", script), func(t *testing.T) {
			t.Parallel()
			ref := fmt.Sprintf("nursery/settings-%v", script)
			b := open(t, newPress(t, nil), tabOptions{NoScript: !script, Fails: []int{400, 401, 404, 409}})
			b.enterKey()
			b.chooseFiles(ref, file(t, "stock.csv", liveCSV()))
			b.send()
			b.Click(".publish-foot .primary")
			b.live(ref)
			versions := "/datasets/" + ref + "/versions"
			b.Visit(versions)
			b.settled()
			b.Click(b.Pick("button", "Change the settings"))
			b.reviewed()
			if got := b.Text(".settings"); !strings.Contains(got, "publishing changes nothing") {
				t.Errorf("the settings are %q", got)
			}
			b.change(func() { b.setValue("#title", "Our stock") })
			b.change(func() { b.setValue("#expected", "monthly") })
			b.change(func() { b.setValue("#access", "key") })
			if got := b.Text(".differences"); !strings.Contains(got, "edited: title, next edition") ||
				!strings.Contains(got, "access is key") {
				t.Errorf("the changes are %q", got)
			}
			if b.Count("[name=consent]") > 0 {
				b.Click("[name=consent]")
			}
			b.Click(".publish-foot .primary")
			b.live(ref)
			if got := b.Text(".bar1 h1"); got != "Our stock" {
				t.Errorf("the title is %q", got)
			}

			// A descriptor without the file would make the dataset public.
			b.Visit("/publish")
			b.chooseFiles(ref, file(t, "datapackage.json",
				`{"resources":[{"name":"stock","title":"By descriptor","herbarium":{"access":"open"}}]}`))
			b.send()
			if got := b.inputValue("#title"); got != "By descriptor" {
				t.Errorf("the title is %q", got)
			}
			b.Click(".publish-foot .primary")
			b.Until(`document.querySelector(".settings .notice")`)
			b.reviewed()
			b.Click("[name=consent]")
			b.Click(".publish-foot .primary")
			b.live(ref)
			if l := get(t, b.url+"/api/v1/"+ref+"/data"); l.Meta.Total != 38 {
				t.Errorf("%d records are public", l.Meta.Total)
			}

			b.Visit(versions)
			b.settled()
			b.Click(b.Pick(".rollback summary", "Withdraw this version"))
			b.Click(".rollback[open] [name=confirm]")
			b.Click(".rollback[open] .danger")
			b.Until(`document.querySelector("#withdrawn")`)
			b.settled()
			if got := b.Count(".versions > li"); got != 2 {
				t.Errorf("%d versions are listed", got)
			}
			b.Click(b.Pick(".rollback summary", "Remove the dataset"))
			b.Fill(".rollback [name=name]", "nursery/other")
			b.Click(".rollback[open] .danger")
			if got := b.inputValue(".rollback [name=name]"); got != "nursery/other" {
				t.Errorf("the form has %q; another name removes the dataset", got)
			}
			b.Fill(".rollback [name=name]", ref)
			b.Click(".rollback[open] .danger")
			b.Until(`location.pathname === "/"`)
			b.settled()
			b.Visit(versions)
			if got := b.Text("main"); !strings.Contains(got, "404") {
				t.Errorf("the dataset is still there: %q", got)
			}
		})
	}
}
