package segment_test

import (
	"fmt"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment"
)

// BenchmarkOrder measures the first, the middle and the last page of a million records sorted by one to three fields, with and
// without filters, and exports.
func BenchmarkOrder(b *testing.B) {
	const n = 1_000_000
	fields := []herb.Field{{Name: "five"}, {Name: "thousand"}, {Name: "pairs"}, {Name: "distinct"}, {Name: "third"}, {Name: "hundredth"}}
	for i := range fields {
		fields[i].Type, fields[i].Sortable, fields[i].Filterable = herb.TypeNumber, true, true
	}
	records := make([]herb.Record, n)
	for i := range records {
		shuffled := i * 7919 % n
		records[i] = herb.Record{
			fmt.Sprint(shuffled % 5), fmt.Sprint(shuffled / 7 % 1000), fmt.Sprint(shuffled / 2), fmt.Sprint(i * 104_729 % n),
			fmt.Sprint(i % 3), fmt.Sprint(i / 10 % 100),
		}
	}
	r := openBuilt(b, fields, records, segment.Options{FS: unsynced{}})
	sorts := []string{
		"five", "-five", "distinct", "-distinct",
		"five,distinct", "-five,-distinct", "five,thousand,-distinct", "five,third,distinct", "thousand,distinct", "-thousand,-five,-distinct",
		"pairs,-distinct", "distinct,five", "third,five,hundredth,thousand,pairs,-distinct",
	}
	for _, sort := range sorts {
		for _, filter := range []string{"", "third=1&", "hundredth=7&"} {
			for _, share := range []float64{0, 0.5, 1} {
				q, err := query.Parse(filter+"per_page=100&sort="+sort, fields)
				if err != nil {
					b.Fatal(err)
				}
				page, err := r.List(b.Context(), q)
				if err != nil {
					b.Fatal(err)
				}
				q.Page = max(1, int(share*float64(q.Meta(page.Total).TotalPages)))
				b.Run(fmt.Sprintf("sort=%s/filter=%s/page=%d", sort, strings.TrimSuffix(filter, "&"), q.Page), func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						if _, err := r.List(b.Context(), q); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
	for _, sort := range sorts {
		b.Run("export/sort="+sort, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if total, err := count(b, r, fields, "sort="+sort); err != nil || total != n {
					b.Fatal(total, err)
				}
			}
		})
	}
}
