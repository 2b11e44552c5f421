package segment_test

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
	"herbarium/internal/listtest"
	"herbarium/internal/query"
	"herbarium/internal/segment"
)

// openUnion divides records at random points among some files and a segment in memory. Any of them
// may be empty.
func openUnion(t testing.TB, fields []herb.Field, records []herb.Record, files int) *segment.Union {
	t.Helper()
	seed := fnv.New64()
	_, _ = seed.Write([]byte(t.Name()))
	random := rand.New(rand.NewPCG(seed.Sum64(), uint64(len(records))))
	ends := make([]int, files)
	for i := range ends {
		ends[i] = random.IntN(len(records) + 1)
	}
	slices.Sort(ends)
	u := &segment.Union{}
	start := 0
	for _, end := range ends {
		u.Segments = append(u.Segments, openBuilt(t, fields, records[start:end], segment.Options{FS: unsynced{}}))
		start = end
	}
	u.Segments = append(u.Segments, openInMemory(t, fields, records[start:]))
	return u
}

// TestUnion compares unions with the oracle: datasets that are divided at random points into
// different numbers of parts.
func TestUnion(t *testing.T) {
	t.Parallel()
	for files := range 4 {
		t.Run(fmt.Sprint(files), func(t *testing.T) {
			t.Parallel()
			listtest.Run(t, listtest.Engine{
				Plants: true, Datasets: 8, Queries: 60, Large: files == 2,
				Open: func(t testing.TB, fields []herb.Field, records []herb.Record) query.Engine {
					return openUnion(t, fields, records, files)
				},
			})
		})
	}
}

// TestUnion_fewMatches counts values of so few matches that they are read from the records, in
// different segments.
func TestUnion_fewMatches(t *testing.T) {
	t.Parallel()
	var records []herb.Record
	var want []query.ValueCount
	for i := range 3000 {
		name, tag := fmt.Sprintf("plant %04d", i*7%3000), ""
		if i%100 == 0 {
			tag = "rare"
			want = append(want, query.ValueCount{Value: name, Count: 1})
		}
		records = append(records, herb.Record{strconv.Itoa(i), name, tag})
	}
	slices.SortFunc(want, func(a, b query.ValueCount) int { return strings.Compare(a.Value, b.Value) })
	u := openUnion(t, herb.PlantFields(), records, 3)
	q, err := query.ParseFacets("field=name&tag=rare&top=100", herb.PlantFields())
	if err != nil {
		t.Fatal(err)
	}
	got, err := u.Facets(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got.Fields[0].Values); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
}
