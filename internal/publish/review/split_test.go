package review_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/publish/review"
)

// TestSplit makes a draft of each of two tables. If one cannot be made, nothing changes.
func TestSplit(t *testing.T) {
	t.Parallel()
	n := newNode(t, nodeOptions{})
	id := n.create("book.json", `{"a":[{"x":1},{"x":2}],"b":[{"y":1},{"y":2},{"y":3}],"c":[{"z":1},{"z":2}]}`)
	if r := n.review(id); len(r.Tables) != 3 {
		t.Fatalf("the tables are %q", r.Tables)
	}
	ref := func(name string) herb.Ref { return herb.Ref{Namespace: "shop", Name: name} }
	part := func(name, table string) review.TablePart { return review.TablePart{Ref: ref(name), Table: table} }
	for want, parts := range map[string][]review.TablePart{
		"two tables would become the dataset shop/x": {part("x", "a"), part("x", "b")},
		"reserved":       {part("x", "a"), {Ref: herb.PlantsRef, Table: "b"}},
		"select at most": make([]review.TablePart, review.MaxDrafts),
	} {
		if _, err := n.reviews.Split(t.Context(), id, parts, actor); err == nil ||
			!strings.Contains(herb.MessageOf(err), want) {
			t.Errorf("got the error %v, want %q", err, want)
		}
		if drafts, err := n.reviews.Drafts(t.Context(), actor.ID); err != nil || len(drafts) != 1 ||
			drafts[0].ID != id {
			t.Errorf("after %q, the drafts are %+v, %v", want, drafts, err)
		}
	}
	drafts, err := n.reviews.Split(t.Context(), id, []review.TablePart{part("x", "a"), part("y", "b")}, actor)
	if err != nil || len(drafts) != 2 {
		t.Fatalf("%d drafts, %v", len(drafts), err)
	}
	for i, want := range []string{"shop/x 2 a", "shop/y 3 b"} {
		r := n.review(drafts[i].ID)
		if got := fmt.Sprintf("%s %d %s", r.Draft.Ref, r.Records, r.Draft.Edits.Table); got != want {
			t.Errorf("draft %d is %q, want %q", i, got, want)
		}
	}
	if _, err := n.reviews.Draft(t.Context(), id); herb.CodeOf(err) != herb.CodeNotFound {
		t.Errorf("the draft of the file still exists: %v", err)
	}
	if n.publish(drafts[0].ID, false, "").Code != "" || n.publish(drafts[1].ID, false, "").Code != "" {
		t.Error("a draft was not published")
	}
	n.stop() // drafts are removed after the publish
	if files := n.leftovers(); len(files) != 0 {
		t.Errorf("files are left: %q", files)
	}
}

// TestNameTable names datasets after tables.
func TestNameTable(t *testing.T) {
	t.Parallel()
	for table, want := range map[string]string{
		"Prices 2026": "book-prices-2026", "a/Stops.TXT": "stops", "in.xlsx#Größe": "in-grosse",
		"価格": "book-u4fa1u683c", "!": "book", "v1.2": "book-v1.2",
	} {
		if got := review.NameTable(herb.Ref{Namespace: "shop", Name: "book"}, table); got != want {
			t.Errorf("%q is named %q, want %q", table, got, want)
		}
	}
}

// TestReview_joined makes sheets of a file, and files, one dataset, and lists the next edition.
func TestReview_joined(t *testing.T) {
	t.Parallel()
	n := newNode(t, nodeOptions{})
	const two = `{"jan":[{"day":"2024-01-31","sold":2}],"feb":[{"day":"2024-02-01","sold":3}]}`
	id := n.create("sales.json", two)
	if r := n.review(id); len(r.Tables) != 2 {
		t.Fatalf("the tables are %q, %s", r.Tables, r.Error)
	}
	r := n.edit(id, review.Edits{Tables: &[]string{"jan", "feb"}})
	if r.Error != "" || r.Records != 2 || len(r.Joined) != 2 || r.Unit != "" ||
		!strings.Contains(r.Format, "2 tables") {
		t.Fatalf("joined: %+v", r)
	}
	r = n.edit(id, review.Edits{Tables: &[]string{"jan", "feb"},
		Columns: map[int]review.ColumnEdit{1: {Name: "pieces"}}})
	if r.Error != "" || r.Columns[1].Field != "pieces" {
		t.Errorf("with an edited column: %+v", r)
	}
	n.publish(id, false, "")
	if got := n.listing(prices); !strings.Contains(got, "2024-01-31") || !strings.Contains(got, "2024-02-01") {
		t.Errorf("the dataset is %s", got)
	}
	id = n.create("sales.json", strings.Replace(two, `}]}`, `}],"mar":[{"day":"2024-03-01","sold":4}]}`, 1))
	r = n.review(id)
	if r.Error != "" || r.Records != 2 || len(r.Warnings) == 0 ||
		!strings.Contains(strings.Join(r.Warnings, "; "), `"mar" is not part`) {
		t.Errorf("the next edition: %d records, %q, %q", r.Records, r.Warnings, r.Error)
	}
	r = n.edit(id, review.Edits{Tables: &[]string{"jan", "feb", "mar"}})
	if r.Error != "" || r.Records != 3 {
		t.Errorf("with its new table: %d records, %q", r.Records, r.Error)
	}
	if r = n.edit(id, review.Edits{Table: "mar"}); r.Error != "" || r.Records != 1 || len(r.Joined) > 0 {
		t.Errorf("one table: %d records, %q", r.Records, r.Error)
	}
	id = n.create("sales.csv", "day,sold\n2024-03-01,4\n")
	if r = n.review(id); !strings.Contains(r.Error, "the file has one table") || len(r.Joined) != 2 {
		t.Errorf("a file of one table: %q", r.Error)
	}
	if r = n.edit(id, review.Edits{Tables: &[]string{}}); r.Error != "" || r.Records != 1 {
		t.Errorf("a file of one table, as one: %q", r.Error)
	}
	feb := n.create("b.csv", "day,sold\n2024-02-01,3\n")
	jan := n.create("a.csv", "day,sold\n2024-01-31,2\n")
	var archive bytes.Buffer
	names, err := n.reviews.Archive(t.Context(), []string{feb, jan}, &archive)
	if err != nil || strings.Join(names, " ") != "a.csv b.csv" {
		t.Fatalf("the archive has %q, %v", names, err)
	}
	joined, err := n.reviews.Create(t.Context(), herb.Ref{Namespace: "shop", Name: "sales"},
		n.receive("sales.zip", archive.String()), review.Edits{Tables: &names}, actor)
	if r = n.review(joined.ID); err != nil || r.Error != "" || r.Records != 2 || r.Rows[1].Cells[0] != "2024-01-31" {
		t.Errorf("the files: %v, %q, %+v", err, r.Error, r.Rows)
	}
	r = n.edit(joined.ID, review.Edits{Tables: &[]string{"a.csv", "c.csv"}})
	if !strings.Contains(r.Error, `no such file "c.csv"`) || len(r.Tables) != 2 {
		t.Errorf("a file that is not there: %q, %q", r.Error, r.Tables)
	}
}
