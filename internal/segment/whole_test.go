package segment_test

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment"
)

// TestWholeLists finds records by the whole value of a list. Some values have equal sort keys but
// are written differently.
func TestWholeLists(t *testing.T) {
	t.Parallel()
	fields := []herb.Field{{Name: "tags", Type: herb.TypeList, Filterable: true}}
	values := []string{"", "a", "b", "a,b", "a, b", "b,a", "A,b", "a,b,", ",", "é,b", "e\u0301,b", "a\x00,b"}
	g, counts := rand.New(rand.NewPCG(1, 2)), map[string]int{}
	records := make([]herb.Record, 10_000)
	for i := range records {
		value := values[g.IntN(len(values))]
		if i%3 == 0 {
			value = fmt.Sprintf("a,%d", i)
		}
		records[i] = herb.Record{value}
		counts[value]++
	}
	r := openBuilt(t, fields, records, segment.Options{FS: unsynced{}})
	for _, value := range append(values, "a,0", "a,1", "0", "c") {
		q, err := query.Parse("tags="+url.QueryEscape(value), fields)
		if err != nil {
			t.Fatal(err)
		}
		q.MatchWholeValues()
		if page, err := r.List(t.Context(), q); err != nil || page.Total != counts[value] {
			t.Errorf("%q: %d, error %v; want %d", value, page.Total, err, counts[value])
		}
	}
}
