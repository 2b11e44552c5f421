package store_test

import (
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/store"
)

func TestSearchWords(t *testing.T) {
	t.Parallel()
	d := herb.Dataset{
		Ref: herb.Ref{Namespace: "garden", Name: "seeds"}, Title: "Spring Årets", Access: herb.AccessOpen,
		Fields: []herb.Field{{Name: "id"}, {Name: "titel", Title: "Überschrift"}},
		Details: herb.Details{Descriptor: herb.NewDescriptor(
			[]byte(`{"package":{"keywords":["Bulbs","two\nlines","#1"]},"resource":{"keywords":"malformed"}}`))},
	}
	protected, overridden := d, d
	protected.Access = herb.AccessKey
	overridden.Descriptor = herb.NewDescriptor(
		[]byte(`{"package":{"keywords":["Bulbs"]},"resource":{"keywords":["Roots"]}}`))
	for search, want := range map[string]bool{
		"garden": true, "spri": true, "arets": true, "autumn": false, "pring": false, "bulb": true, "titel see": true,
		"titel autumn": false,
		"uberschrift":  true, "lines": true,
	} {
		if got := store.NewSearchFilter(search, "").Match(store.NewSearchWords(d)); got != want {
			t.Errorf("%q matches: %t", search, got)
		}
	}
	for _, tt := range []struct {
		dataset herb.Dataset
		keyword string
		want    bool
	}{
		{d, "Bulbs", true}, {d, "bulbs", false}, {d, "Bulb", false}, {d, "two\nlines", true}, {d, "lines", false},
		{d, "#1", true},
		{d, "1", false}, {d, "titel", false}, {protected, "Bulbs", false}, {overridden, "Bulbs", false},
		{overridden, "Roots", true},
	} {
		words := store.NewSearchWords(tt.dataset)
		if got := store.NewSearchFilter("see", tt.keyword).Match(words); got != tt.want {
			t.Errorf("keyword %q: %t, in %q", tt.keyword, got, words)
		}
		if store.NewSearchFilter("moss", tt.keyword).Match(words) {
			t.Errorf("keyword %q and another word match %q", tt.keyword, words)
		}
	}
}

func TestNumbered(t *testing.T) {
	t.Parallel()
	for statement, want := range map[string]string{
		"":                               "",
		"SELECT 1":                       "SELECT 1",
		"?":                              "$1",
		"a = ? AND b IN (?,?) LIMIT ?":   "a = $1 AND b IN ($2,$3) LIMIT $4",
		strings.Repeat("?,", 11) + "end": "$1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,end",
	} {
		wantEqual(t, statement, want, store.Numbered(statement))
	}
}
