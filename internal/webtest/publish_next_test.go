package webtest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestPublishing_batch sends several files, of which two cannot be read, for a collection whose
// name is not valid: the page says why, lists the others as they wait, and removes them together.
func TestPublishing_batch(t *testing.T) {
	t.Parallel()
	for _, script := range scriptModes() {
		t.Run(fmt.Sprintf("script=%v", script), func(t *testing.T) {
			t.Parallel()
			collection := fmt.Sprintf("city-of-basel-%v", script)
			b := open(t, newPress(t, nil), tabOptions{NoScript: !script, Fails: []int{401, 422}})
			b.enterKey()
			b.chooseFiles(fmt.Sprintf("City of Basel %v/", script), file(t, "trees.csv", "a,b\n1,2\n"),
				file(t, "report.pdf", "%PDF-1.7\n%âãÏÓ\n1 0 obj\n"), file(t, "parks.csv", "a,b\n1,2\n3,4\n"),
				file(t, "empty.csv", ""))
			b.Click(".send .primary")
			mine := `[...document.querySelectorAll(".drafts li a")].filter((a) => a.closest("li").textContent.includes(` +
				quote(collection+"/") + `))` // other tests have drafts, too
			b.Until(mine + `.length === 2`)
			reasons := strings.Join(append(b.Texts(".sending .failure"), b.Texts(".start > .notice")...), "\n")
			if !strings.Contains(reasons, "report.pdf: ") || !strings.Contains(reasons, "empty.csv: ") ||
				strings.Contains(reasons, "trees") {
				t.Errorf("the reasons are %q", reasons)
			}
			drafts := b.Text(".drafts")
			if !strings.Contains(drafts, collection+"/trees") || !strings.Contains(drafts, collection+"/parks") {
				t.Errorf("waiting: %q", drafts)
			}
			b.Visit("/publish-all?" + eval[string](b, mine+`.map((a) => "draft=" + a.pathname.split("/").at(-1)).join("&")`))
			b.Until(`document.readyState === "complete" && !document.querySelector("[data-refresh]")`)
			if got := strings.Join(b.Texts(".waiting .state"), "; "); got !=
				"2 records, a new dataset; 1 record, a new dataset" {
				t.Errorf("the states are %q", got)
			}
			b.Click(".discard summary")
			b.Click(b.Pick(".discard button", "Discard 2 files"))
			b.Until(`location.pathname === "/publish" && document.readyState === "complete"`)
			if n := eval[int](b, mine+`.length`); n != 0 {
				t.Errorf("%d files still wait", n)
			}
		})
	}
}

// TestPublishing_absentColumn sends an edition without a column, after a column of the edition
// before was hidden: the field is removed with consent, and the hidden column stays hidden.
func TestPublishing_absentColumn(t *testing.T) {
	t.Parallel()
	const ref = "nursery/squirrels"
	b := open(t, newPress(t, nil), tabOptions{Fails: []int{401}})
	b.enterKey()
	b.chooseFiles(ref, file(t, "squirrels.csv", "id,shift,color,notes\n1,am,gray,a\n2,pm,red,b\n3,am,black,c\n"))
	b.send()
	b.edit(func() { b.Click("button[value='hide 3']") })
	b.Click(".publish-foot .primary")
	b.live(ref)

	b.Visit("/publish?namespace=nursery&dataset=squirrels")
	b.chooseFiles(ref, file(t, "squirrels.csv", "id,color,notes\n1,gray,a\n2,red,b\n4,black,d\n"))
	b.send()
	if got := b.Text(".breaking-change"); !strings.Contains(got, `field "shift" is removed`) ||
		b.Count(".settings .notice") != 0 {
		t.Fatalf("the change is %q, the error %q", got, b.Texts(".settings .notice"))
	}
	b.Click("[name=consent]")
	b.Click(".publish-foot .primary")
	b.live(ref)
	got := b.Texts("#grid th .col-name")
	slices.Sort(got)
	if !slices.Equal(got, []string{"color", "id"}) {
		t.Errorf("the columns are %q", got)
	}
}

// TestPublishing_headerRows marks three rows as the header, and takes one of them out.
func TestPublishing_headerRows(t *testing.T) {
	t.Parallel()
	b := open(t, newPress(t, nil), tabOptions{Fails: []int{401}})
	b.enterKey()
	b.chooseFiles("nursery/bees", file(t, "bees.csv", "State,Colonies,Colonies\nname,lost,added\nx,y,z\nOhio,1,2\nIowa,3,4\n"))
	b.send()
	b.edit(func() { b.Click("#r1 button.header") })
	b.edit(func() { b.Click(b.Pick("#r2 button", "+ header")) })
	if got := eval[string](b, `document.getElementById("name-1").value`); got != "Colonies lost" {
		t.Errorf("two rows give the name %q", got)
	}
	b.edit(func() { b.Click(b.Pick("#r3 button", "+ header")) })
	if got := eval[string](b, `document.getElementById("name-1").value`); got != "Colonies lost y" {
		t.Errorf("three rows give the name %q", got)
	}
	b.edit(func() { b.Click("#r3 .label") })
	if got := b.Text(".publish-foot .primary"); got != "Publish 3 records" {
		t.Errorf("without the third row, the button is %q", got)
	}
}
