package webtest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestPublishing_tables publishes several sheets of a workbook in one go. One of them would break
// its dataset: it stays, and the others are live.
func TestPublishing_tables(t *testing.T) {
	t.Parallel()
	for _, script := range scriptModes() {
		t.Run(fmt.Sprintf("script=%v", script), func(t *testing.T) {
			t.Parallel()
			name := fmt.Sprintf("book-%v", script)
			press.in(t)
			press.publishText(t, "nursery/"+name+"-rooms", "rooms.csv", "Code,floor\nR1,2\n")
			b := open(t, newPress(t, nil), tabOptions{NoScript: !script, Fails: []int{400, 401}})
			b.enterKey()
			b.chooseFiles("nursery/"+name, file(t, "book.xlsx", workbook(t,
				"Prices", "code,price;a,1;b,2", "Staff &amp; guests", "name,room;Ana,7;Bo,8;Cy,9", "Rooms",
				"Code,size;R1,20", "Notes", "a,b;1,2;3,4")))
			b.send()
			if got := b.Texts(".tables label"); strings.Join(got, "|") != "Prices|Staff & guests|Rooms|Notes" {
				t.Fatalf("the tables are %q", got)
			}
			names := eval[[]string](b,
				`[...document.querySelectorAll(".tables .as input:not([type=hidden])")].map((i) => i.value)`)
			if want := []string{name + "-prices", name + "-staff-guests", name + "-rooms",
				name + "-notes"}; !slices.Equal(names, want) {
				t.Errorf("the names are %q", names)
			}
			b.Click(b.Pick("button", "Select all"))
			b.Until(`document.readyState === "complete" && document.querySelectorAll(".tables [type=checkbox]:checked").length === 4`)
			b.Click(".tables li:nth-child(4) [type=checkbox]")
			b.Fill("[name=as-1]", name+"-prices") // an error: another table has the name
			b.Click(b.Pick("button", "Review the selected tables"))
			b.Until(`document.querySelector(".notice")`)
			if got := b.Text(".notice"); !strings.Contains(got, "two tables would become the dataset nursery/"+name+
				"-prices") && !strings.Contains(got, "Two tables") {
				t.Errorf("the notice is %q", got)
			}
			if n := b.Count(".tables [type=checkbox]:checked"); n != 3 {
				t.Errorf("%d tables are still selected", n)
			}
			b.Fill("[name=as-1]", name+"-staff")
			b.Click(b.Pick("button", "Review the selected tables"))
			ready := func() {
				b.Until(`location.pathname === "/publish-all" && document.readyState === "complete" && !document.querySelector("[data-refresh]")`)
			}
			ready()
			want := []string{
				"nursery/" + name + "-prices Prices 2 records, a new dataset Review nursery/" + name + "-prices",
				"nursery/" + name + "-rooms Rooms Review it: it has 1 breaking change. Review nursery/" +
					name + "-rooms",
				"nursery/" + name + "-staff Staff & guests 3 records, a new dataset Review nursery/" + name + "-staff",
			}
			if got := b.Texts(".waiting li"); !slices.Equal(got, want) {
				t.Errorf("the page lists\n%s", strings.Join(got, "\n"))
			}
			if n := b.Count(".waiting [type=checkbox]:checked"); n != 2 {
				t.Errorf("%d drafts are selected", n)
			}
			b.Click(b.Pick("button", "Publish the selected datasets"))
			b.Until(`document.querySelectorAll("#done + ul li").length === 2`)
			ready()
			if got := b.Texts("#waiting + ul li code"); len(got) != 1 || got[0] != "nursery/"+name+"-rooms" {
				t.Errorf("still waiting: %q", got)
			}
			for dataset, total := range map[string]int{"-prices": 2, "-staff": 3, "-rooms": 1} {
				if l := get(t, b.url+"/api/v1/nursery/"+name+dataset+"/data"); l.Meta.Total != total {
					t.Errorf("%s has %d records", dataset, l.Meta.Total)
				}
			}
			b.Click(b.Pick(".waiting a", "Review nursery/"+name+"-rooms"))
			b.reviewed()
			if got := b.Text(".publish-head .line"); !strings.Contains(got, "Rooms") ||
				b.Count(".breaking-change") != 1 {
				t.Errorf("the review is about %q", got)
			}
		})
	}
}

// TestPublishing_joined makes sheets of a workbook one dataset, and files that are sent together.
func TestPublishing_joined(t *testing.T) {
	t.Parallel()
	for _, script := range scriptModes() {
		t.Run(fmt.Sprintf("script=%v", script), func(t *testing.T) {
			t.Parallel()
			name := fmt.Sprintf("sales-%v", script)
			b := open(t, newPress(t, nil), tabOptions{NoScript: !script, Fails: []int{400, 401}})
			b.enterKey()
			b.chooseFiles("nursery/"+name, file(t, "book.xlsx", workbook(t, "January", "day,sold;2024-01-31,2",
				"February", "day,sold;2024-02-01,3;2024-02-02,4", "Notes", "a,b;1,2;3,4")))
			b.send()
			b.Click(b.Pick("button", "Select all"))
			b.Until(`document.readyState === "complete" && document.querySelectorAll(".tables [type=checkbox]:checked").length === 3`)
			b.Click(b.Pick("button", "Review them as one dataset"))
			b.Until(`document.readyState === "complete" && document.querySelector(".settings .notice")`)
			if got := b.Text(".settings .notice"); !strings.Contains(got, "#Notes: ") ||
				!strings.Contains(got, "all parts must have the same columns") {
				t.Errorf("the reason is %q", got)
			}
			b.Click(".tables li:nth-child(3) [type=checkbox]")
			b.Click(b.Pick("button", "Review them as one dataset"))
			b.Until(`document.readyState === "complete" && document.querySelector(".file tbody")`)
			b.reviewed()
			if got := b.Text(".warnings"); !strings.Contains(got, `the table "Notes" is not part of the dataset`) {
				t.Errorf("the notes are %q", got)
			}
			b.Click(".publish-foot .primary")
			b.live("nursery/" + name)
			if l := get(t, b.url+"/api/v1/nursery/"+name+"/data?sort=day"); l.Meta.Total != 3 ||
				l.Data[0]["day"] != "2024-01-31" {
				t.Errorf("the sheets are %+v", l)
			}

			b.Visit("/publish")
			b.chooseFiles("nursery/", file(t, name+"-b.csv", "day,sold\n2024-02-01,3\n"),
				file(t, name+"-a.csv", "day,sold\n2024-01-31,2\n"))
			b.Click("#send .primary")
			b.Until(`location.pathname === "/publish-all" && document.readyState === "complete" && !document.querySelector("[data-refresh]")`)
			b.Click(".join summary")
			b.Click(b.Pick("button", "Review them as one dataset"))
			b.Until(`document.readyState === "complete" && document.querySelector(".notice")`)
			if got := b.Text(".notice"); !strings.Contains(got, "nter the name of the dataset") ||
				b.Count(".waiting [type=checkbox]:checked") != 2 {
				t.Errorf("the reason is %q", got)
			}
			b.Fill("#as", name+" files")
			b.Click(b.Pick("button", "Review them as one dataset"))
			b.Until(`document.readyState === "complete" && document.querySelector(".file tbody")`)
			b.reviewed()
			b.Click(".publish-foot .primary")
			b.live("nursery/" + name + "-files")
			if l := get(t, b.url+"/api/v1/nursery/"+name+"-files/data"); l.Meta.Total != 2 ||
				l.Data[0]["day"] != "2024-01-31" {
				t.Errorf("the files are %+v", l)
			}
		})
	}
}
