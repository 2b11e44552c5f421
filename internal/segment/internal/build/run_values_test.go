package build

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"herbarium/internal/filesystem"
	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/segment/internal/column"
	"herbarium/internal/text"
	"herbarium/internal/typed"
)

// TestRunValues compares the value keys of the runs with those of the sorted distinct values, with
// memory for all of them and for parts.
func TestRunValues(t *testing.T) {
	t.Parallel()
	const records = 20_000
	r := rand.New(rand.NewPCG(1, 2))
	var values []byte
	var want []string
	for range records {
		value := fmt.Sprintf("value %06d", r.IntN(records))
		if r.IntN(2) == 0 {
			value += "é"
		}
		values = append(binary.AppendUvarint(values, uint64(len(value))), value...)
		want = append(want, value)
	}
	slices.Sort(want)
	want = slices.Compact(want)
	for i, value := range want {
		key, _ := text.AppendSortKey(nil, herb.TypeText, []byte(value))
		if column.KeyIsAmbiguous(herb.TypeText, []byte(value)) {
			key = append(key, value...)
		}
		want[i] = string(key)
	}
	for _, memory := range []int{1 << 10, 1 << 22} {
		tmp := newTempDir(t.Context(), filesystem.OS{}, t.TempDir(), memory, 1)
		b := newColumnBuilder(herb.Field{Name: "f", Type: herb.TypeText, Filterable: true}, tmp, 0)
		must.NoError(t, b.add(values, typed.Facts{}, nil, records))
		must.NoError(t, b.sort(newSorter(tmp, memory, records, 4*b.size)))
		var stored bytes.Buffer
		if _, err := b.runValues.WriteTo(&stored); err != nil {
			t.Fatal(err)
		}
		var got []string
		before := ""
		for stored.Len() > 0 {
			shared, _ := binary.ReadUvarint(&stored)
			size, _ := binary.ReadUvarint(&stored)
			before = before[:shared] + string(stored.Next(int(size)))
			got = append(got, before)
		}
		if !slices.Equal(got, want) {
			t.Errorf("memory %d: %d values; want %d, or others", memory, len(got), len(want))
		}
		if err := tmp.close(); err != nil {
			t.Error(err)
		}
	}
}
