package segment_test

import (
	"strconv"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment"
)

// BenchmarkReader_List lists pages of 25 of 200,000 records: in dataset order, sorted, filtered,
// and by relevance.
func BenchmarkReader_List(b *testing.B) {
	records := make([]herb.Record, 200_000)
	for i := range records {
		records[i] = herb.Record{strconv.Itoa(i), "genus" + strconv.Itoa(i%50) + " species" + strconv.Itoa(i%5000),
			"tag" + strconv.Itoa(i%10)}
	}
	r := openBuilt(b, herb.PlantFields(), records, segment.Options{FS: unsynced{}})
	for _, raw := range []string{"", "page=4000", "sort=name", "tag=tag3", "tag=tag3&sort=name&order=desc&page=400",
		"search=species77", "search=genus7+tag7"} {
		q, err := query.Parse(raw, herb.PlantFields())
		if err != nil {
			b.Fatal(err)
		}
		b.Run(raw, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.List(b.Context(), q); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
