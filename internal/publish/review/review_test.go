package review_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/publish"
	"herbarium/internal/publish/review"
	"herbarium/internal/versions"
)

// priceList is a file with a title, records, two prices in words and a footnote.
func priceList() string {
	var b strings.Builder
	b.WriteString("Prices of the nursery\n\nid;name;price\n")
	for i := range 100 {
		price := fmt.Sprintf("%d,50", i)
		if i == 40 || i == 60 {
			price = "on request"
		}
		fmt.Fprintf(&b, "%d;plant %d;%s\n", i+1, i, price)
	}
	b.WriteString("\nNote: all prices with tax\n")
	return b.String()
}

// rowsOf describes rows in one line each.
func rowsOf(rows []review.Row) (lines []string) {
	for _, r := range rows {
		line := fmt.Sprintf("%d %s", r.Number, r.Kind)
		if r.Kind == review.RowGap {
			line = fmt.Sprintf("gap of %d", r.Count)
		}
		if r.Text != "" || r.Reason != "" {
			line += fmt.Sprintf(" (%s: %s)", r.Reason, r.Text)
		}
		for i, c := range r.Cells {
			mark := ""
			if r.Marked != nil && r.Marked[i] {
				mark = "!"
			}
			if r.Missing != nil && r.Missing[i] {
				mark += "-"
			}
			line += "|" + c + mark
		}
		if r.Edited {
			line += " edited"
		}
		lines = append(lines, line)
	}
	return lines
}

// TestReview follows a new dataset from the file to the live version.
func TestReview(t *testing.T) {
	t.Parallel()
	n := newNode(t, nodeOptions{})
	id := n.create("prices.csv", priceList())
	r := n.review(id)
	if r.Error != "" || r.Live != "" || r.Records != 100 || r.Unit != "line" || r.LeftOut != 2 ||
		r.Format != "csv, semicolon between values" || r.Access != herb.AccessOpen {
		t.Errorf("got %+v", r)
	}
	lines := rowsOf(r.Rows)
	want := []string{"1 left out (above the table: Prices of the nursery)", "3 header|id|name|price",
		"4 record|1|plant 0|0,50"}
	if diff := cmp.Diff(want, lines[:3]); diff != "" {
		t.Errorf("first rows (-want +got):\n%s", diff)
	}
	want = []string{"28 record|25|plant 24|24,50", "gap of 15", "44 record|41|plant 40|on request!", "gap of 19",
		"64 record|61|plant 60|on request!", "gap of 34",
		"99 record|96|plant 95|95,50", "100 record|97|plant 96|96,50", "101 record|98|plant 97|97,50",
		"102 record|99|plant 98|98,50", "103 record|100|plant 99|99,50",
		"105 left out (footnote: Note: all prices with tax)"}
	if diff := cmp.Diff(want, lines[len(lines)-len(want):]); diff != "" {
		t.Errorf("last rows (-want +got):\n%s", diff)
	}
	price := r.Columns[2]
	if price.Field != "price" || price.Type != herb.TypeNumber || price.Almost != herb.TypeNumber || price.Rest != 2 ||
		!slices.Equal(price.Others, []review.Exception{{Value: "on request", Count: 2, Row: 44}}) || price.Added {
		t.Errorf("the prices are %+v", price)
	}

	title := "Price list"
	r = n.edit(id, review.Edits{
		Title: &title, Columns: map[int]review.ColumnEdit{2: {Missing: []string{"on request"}}}})
	price = r.Columns[2]
	if r.Error != "" || price.Type != herb.TypeNumber || price.Almost != "" ||
		!slices.Equal(price.Edit.Missing, []string{"on request"}) || r.Title != title {
		t.Errorf("after the edit: %+v, %+v", r, price)
	}
	if line := rowsOf(r.Rows)[27]; line != "gap of 70" {
		t.Errorf("the rows that prevented the type are still shown: %s", line)
	}
	result := n.publish(id, false, r.Live)
	if result.State != publish.StateLive || result.Result.Records != 100 ||
		result.Result.Fields[2].Type != herb.TypeNumber {
		t.Errorf("the publish is %+v", result)
	}
	n.reviews.Stop() // waits until the draft is removed
	if _, err := n.reviews.Draft(t.Context(), id); herb.CodeOf(err) != herb.CodeNotFound {
		t.Errorf("the draft after its publish: %v", err)
	}
	if left := n.leftovers(); left != nil {
		t.Errorf("left over: %v", left)
	}
}

// TestReview_exceptions chooses types that few or most values do not have.
func TestReview_exceptions(t *testing.T) {
	t.Parallel()
	n := newNode(t, nodeOptions{})
	content := "price;day\non request;01/02/2026\n"
	for i := range 9 {
		content += fmt.Sprintf("%d,50;%02d/02/2026\n", i, i+2)
	}
	id := n.create("few.csv", content)
	r := n.edit(id, review.Edits{Columns: map[int]review.ColumnEdit{0: {Type: herb.TypeNumber}}})
	if c := r.Columns[0]; !strings.Contains(r.Error, `"on request" (line 2) is not a number`) || c.Rest != 1 ||
		c.Most || c.Others[0].Value != "on request" {
		t.Errorf("prices: %s, %+v", r.Error, c)
	}
	r = n.edit(id, review.Edits{Columns: map[int]review.ColumnEdit{1: {Type: herb.TypeDate}}})
	if c := r.Columns[1]; r.Error == "" || c.Rest != 0 || len(c.DateNotations) != 2 {
		t.Errorf("ambiguous dates: %s, %+v", r.Error, c)
	}
}

// TestReview_liveType names the values that keep a column from having the type of the live version.
func TestReview_liveType(t *testing.T) {
	t.Parallel()
	n := newNode(t, nodeOptions{})
	n.put(prices, "prices.csv", "id;price\n1;1.200,50\n2;7\n", "", nil)
	id := n.create("prices.csv", "id;price\n1;1.300,50\n2;ca. 7\n3;8.25\n")
	r := n.review(id)
	c := r.Columns[1]
	want := []review.Exception{{Value: "ca. 7", Count: 1, Row: 3}, {Value: "8.25", Count: 1, Row: 4}}
	if diff := cmp.Diff(want, c.Others); c.Type != herb.TypeText || c.Almost != herb.TypeNumber || !c.Parses ||
		!isBreaking(r) || diff != "" {
		t.Errorf("%+v (-want +got)\n%s", c, diff)
	}
	r = n.edit(id, review.Edits{
		Columns: map[int]review.ColumnEdit{1: {Type: herb.TypeNumber, Missing: []string{"ca. 7", "8.25"}}}})
	if r.Error != "" || r.Columns[1].Type != herb.TypeNumber || isBreaking(r) {
		t.Errorf("after the edit: %+v", r)
	}
}

// TestReview_publishUnread rejects a draft whose edits were not reviewed.
func TestReview_publishUnread(t *testing.T) {
	t.Parallel()
	n := newNode(t, nodeOptions{})
	id := n.create("prices.csv", priceList())
	if _, err := n.reviews.Publish(t.Context(), id, versions.PublishOptions{}, "",
		actor); herb.CodeOf(err) != herb.CodeUnavailable {
		t.Errorf("before the review: %v", err)
	}
	n.review(id)
	must.NoError(t, n.replace(id, review.Edits{Columns: map[int]review.ColumnEdit{2: {Type: herb.TypeNumber}}}))
	if _, err := n.reviews.Publish(t.Context(), id, versions.PublishOptions{}, "",
		actor); herb.CodeOf(err) != herb.CodeUnavailable {
		t.Errorf("before the review of an edit: %v", err)
	}
	r := n.review(id)
	if !strings.Contains(r.Error, `"on request" (line 44) is not a number in the declared notation`) ||
		r.Columns[2].Rest != 2 || len(r.Rows) < 30 {
		t.Errorf("a type that does not fit: %+v", r)
	}
	if _, err := n.reviews.Publish(t.Context(), id, versions.PublishOptions{}, "", actor); err == nil ||
		herb.MessageOf(err) != r.Error {
		t.Errorf("publishing what does not fit: %v", err)
	}
	r = n.edit(id, review.Edits{
		Columns: map[int]review.ColumnEdit{2: {Type: herb.TypeNumber, Missing: []string{"on request"}}}})
	if r.Error != "" || r.Columns[2].Type != herb.TypeNumber {
		t.Errorf("with a missing value: %+v", r)
	}
}

// TestReview_liveSchema shows a file that does not fit the types that the live version declares,
// and publishes it after an edit.
func TestReview_liveSchema(t *testing.T) {
	t.Parallel()
	n := newNode(t, nodeOptions{})
	const descriptor = `{"name":"shop","resources":[{"name":"prices","path":"a.csv","schema":{"fields":[{"name":"id"},{"name":"name"},
		{"name":"cost","type":"number","decimalChar":",","herbarium":{"from":"price"}}]},"herbarium":{"order":"cost"}}]}`
	fitting := strings.ReplaceAll(priceList(), "on request", "1,00")
	if r := n.put(prices, "a.csv", fitting, descriptor, nil); r.State != publish.StateLive {
		t.Fatal(r.Result.Error)
	}
	id := n.create("prices.csv", priceList())
	r := n.review(id)
	if !strings.Contains(r.Error, `"on request" (line 44) is not a number in the declared notation`) ||
		len(r.Rows) < 30 || len(r.Columns) != 3 || r.Changes != nil {
		t.Errorf("got %+v", r)
	}
	if _, err := n.reviews.Publish(t.Context(), id,
		versions.PublishOptions{Consents: []herb.Consent{herb.ConsentBreaking}}, r.Live, actor); err == nil {
		t.Error("a file that cannot be read was published")
	}
	r = n.edit(id, review.Edits{Columns: map[int]review.ColumnEdit{2: {Missing: []string{"on request"}}}})
	if r.Error != "" || isBreaking(r) {
		t.Errorf("after the edit: %+v", r)
	}
	if r.Columns[2].Field != "cost" || r.Compared == nil || r.Compared.Unchanged+r.Compared.Changed != 100 {
		t.Errorf("after the edit: %+v, %+v", r.Columns[2], r.Compared)
	}
	checkPublish(t, n, id, "prices.csv", priceList())
}
