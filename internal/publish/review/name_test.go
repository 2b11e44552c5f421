package review_test

import (
	"slices"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/publish/review"
)

func TestNameDataset(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ namespace, dataset, file, want string }{
		{"nursery", "stock", "x.csv", "nursery/stock"},
		{"nursery", "", "Préise 2026.csv.gz", "nursery/preise-2026"},
		{"", "stock", "x.csv", "enter the collection"},
		{"City of Basel", "", "x.csv", "city-of-basel/x"},
		{"nursery", "Préise für 2026", "x.csv", "nursery/preise-fur-2026"},
		{"a--b.", "c-", "x.csv", "a--b./c-"}, // is valid
		{"nursery", "a/b", "x.csv", "lower-case letters"},
		{"…", "stock", "x.csv", "lower-case letters"},
		{"…", "", "x.csv", "lower-case letters"},
		{"nursery", "", "....csv", "enter a name"},
		{"store", "plants", "x.csv", "reserved"},
		{herb.PublishesNamespace, "x", "x.csv", "reserved"},
	} {
		ref, err := review.NameDataset(tt.namespace, tt.dataset, tt.file)
		got := ref.String()
		if err != nil {
			got = herb.MessageOf(err)
		}
		if got != tt.want && (err == nil || !strings.Contains(got, tt.want)) {
			t.Errorf("%q %q %q: %s, want %s", tt.namespace, tt.dataset, tt.file, got, tt.want)
		}
	}
}

// TestReview_keyOfError shows the primary key of settings that do not fit, not that of the file
// without settings.
func TestReview_keyOfError(t *testing.T) {
	t.Parallel()
	n := newNode(t, nodeOptions{})
	id := n.create("prices.csv", "code,name,price\na,Yew,1\nb,Hazel,2\n")
	key := []string{"code"}
	r := n.edit(id, review.Edits{PrimaryKey: &key, Columns: map[int]review.ColumnEdit{1: {Type: herb.TypeNumber}}})
	if r.Error == "" || !slices.Equal(r.Key, key) {
		t.Errorf("the key is %v, the error %q", r.Key, r.Error)
	}
}
