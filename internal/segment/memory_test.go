package segment_test

import (
	"fmt"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment"
	"herbarium/internal/segment/segmenttest"
)

// openInMemory builds a segment in memory.
func openInMemory(t testing.TB, fields []herb.Field, records []herb.Record) *segment.Reader {
	t.Helper()
	r, err := segment.InMemory(t.Context(), fields, records)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestInMemory compares segments in memory with the oracle.
func TestInMemory(t *testing.T) {
	t.Parallel()
	segmenttest.Run(t, segmenttest.Engine{
		Open: func(t testing.TB, fields []herb.Field, records []herb.Record) query.Engine {
			return openInMemory(t, fields, records)
		},
	})
}

// TestInMemory_pages checks that a segment in memory keeps its content: releasing the pages of a
// mapped file after reading them would replace those on the heap by zeros.
func TestInMemory_pages(t *testing.T) {
	t.Parallel()
	r := openInMemory(t, herb.PlantFields(), manyPlants(5000))
	r.DropPages()
	n := 0
	if err := r.Each(t.Context(), func(record []byte) error {
		n++
		if record[0] != '{' {
			return fmt.Errorf("record %d is %q", n, record)
		}
		return nil
	}); err != nil || n != r.Len() {
		t.Fatalf("%d records, error %v", n, err)
	}
	if err := r.Verify(); err != nil {
		t.Error(err)
	}
}

// manyPlants returns plants with names of three words and one of ten tags.
func manyPlants(n int) (records []herb.Record) {
	for i := range n {
		records = append(records,
			herb.Record{fmt.Sprint(i), fmt.Sprintf("Genus%d species%d variety%d", i%50, i*7%5000, i),
				fmt.Sprint("tag", i%10)})
	}
	return records
}

// BenchmarkInMemory builds segments in memory.
func BenchmarkInMemory(b *testing.B) {
	for _, n := range []int{1, 16, 128, 1024, 4096} {
		records := manyPlants(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				openInMemory(b, herb.PlantFields(), records)
			}
		})
	}
}
