package review_test

import (
	"slices"
	"strings"
	"testing"

	"herbarium/internal/publish/review"
)

// TestReview_link reviews files that were fetched from a link: the review says when the link is
// that of a page.
func TestReview_link(t *testing.T) {
	t.Parallel()
	n := newNode(t, nodeOptions{})
	for link, want := range map[string]bool{
		"https://github.com/owner/repository/blob/main/prices.csv": true, "https://example.org/prices.csv": false,
	} {
		r := n.edit(n.create("prices.csv", "id,price\n1,2\n"), review.Edits{Link: link, Refresh: "1h"})
		says := slices.ContainsFunc(r.Warnings, func(w string) bool {
			return strings.Contains(w, "the path is a page of GitHub; the file that it shows is fetched")
		})
		if says != want || r.Error != "" {
			t.Errorf("%s: %q, %q", link, r.Warnings, r.Error)
		}
	}
}
