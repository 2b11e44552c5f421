package segment

import (
	"hash/maphash"
	"path/filepath"
	"strconv"
	"testing"

	"herbarium/internal/herb"
)

// TestDuplicateSearch_rounds finds duplicates with memory for a few hashes at a time.
func TestDuplicateSearch_rounds(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x")
	fields := []herb.Field{{Name: "x", Type: herb.TypeText}}
	records := func(yield func(herb.Record, error) bool) {
		for i := range 1000 {
			if !yield(herb.Record{strconv.Itoa(i % 990)}, nil) {
				return
			}
		}
	}
	if _, err := Create(t.Context(), path, fields, records, Options{}); err != nil {
		t.Fatal(err)
	}
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Release() }()
	s := duplicateSearch{r: r, fields: []int{0}, seed: maphash.MakeSeed(), atOnce: 100}
	d, err := s.run(t.Context())
	if err != nil || d.Records != 10 || len(d.First) != 5 || d.First[0].Values[0] != "0" {
		t.Errorf("%+v, %v; want 10 duplicates, beginning with 0", d, err)
	}
}
