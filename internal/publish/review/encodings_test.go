package review_test

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/encoding/charmap"

	"herbarium/internal/ingest/rows"
	"herbarium/internal/must"
	"herbarium/internal/publish/review"
)

// TestReview_encodings checks that a review of a file that does not tell its encoding shows words
// in the encodings that it may have, and that one of them can be chosen.
func TestReview_encodings(t *testing.T) {
	t.Parallel()
	n := newNode(t, nodeOptions{})
	file, err := charmap.ISO8859_2.NewEncoder().String("id,name\n1,Łódź\n2,Kraków\n3,Gdańsk\n")
	must.NoError(t, err)
	id := n.create("prices.csv", file)
	r := n.review(id)
	find := func(encoding string) string {
		i := slices.IndexFunc(r.Encodings, func(s rows.EncodingSample) bool {
			return strings.EqualFold(s.Encoding, encoding)
		})
		if i < 0 {
			return ""
		}
		return strings.Join(r.Encodings[i].Words, " ")
	}
	if got := find("ISO-8859-2"); got != "Łódź Kraków Gdańsk" || find("windows-1252") == "" || r.Encoding != "" ||
		!strings.Contains(r.Error, "does not tell its encoding") {
		t.Fatalf("the encoding is %q of %+v, the error %q", r.Encoding, r.Encodings, r.Error)
	}
	for _, encoding := range []string{"windows-1252", "ISO-8859-2"} {
		r = n.edit(id, review.Edits{Encoding: encoding, Columns: map[int]review.ColumnEdit{1: {Name: "city"}}})
		if r.Error != "" || r.Encoding != encoding || !strings.HasPrefix(find(encoding), r.Rows[1].Cells[1]) {
			t.Errorf("in %s, the first value is %q; the samples are %+v: %s", encoding, r.Rows[1].Cells[1],
				r.Encodings, r.Error)
		}
	}
	n.publish(id, false, "")
	if got := n.listing(prices); !strings.Contains(got, "1|Łódź") {
		t.Errorf("the listing is %s", got)
	}

	// A file that cannot be read in the chosen encoding can be read in others.
	r = n.edit(n.create("prices.csv", file), review.Edits{Encoding: "UTF-8"})
	if r.Error == "" || find("ISO-8859-2") == "" || len(r.Rows) == 0 {
		t.Errorf("in UTF-8, the error is %q, the encodings are %+v", r.Error, r.Encodings)
	}
	other := newNode(t, nodeOptions{})
	if r := other.review(other.create("prices.csv", "id,name\n1,Łódź\n")); len(r.Encodings) > 0 {
		t.Errorf("a file in UTF-8 has the encodings %+v", r.Encodings)
	}
}
