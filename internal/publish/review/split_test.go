package review_test

import (
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
