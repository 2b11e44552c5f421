package build

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	gocmp "github.com/google/go-cmp/cmp"

	"herbarium/internal/filesystem"
	"herbarium/internal/must"
	"herbarium/internal/segment/internal/file"
)

// items returns the encoded sets of a table.
func items(t *testing.T, table *setTable) (sets [][]byte) {
	t.Helper()
	var b bytes.Buffer
	_, err := table.Head().WriteTo(&b)
	if _, err2 := table.sets.WriteTo(&b); err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	all, err := file.OpenTable(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	for i := range all.Len() {
		sets = append(sets, all.At(i))
	}
	return sets
}

// sortedNames returns the names in order.
func sortedNames(v *invertedIndex) (names []string) {
	for _, id := range v.order() {
		names = append(names, string(v.name(id)))
	}
	return names
}

// decodeSet returns the members of an encoded set and what follows it.
func decodeSet(t *testing.T, raw []byte) (members []uint32, trailer []byte) {
	t.Helper()
	if len(raw) == 0 {
		return []uint32{}, []byte{}
	}
	set := roaring.New()
	n, err := set.ReadFrom(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	return set.ToArray(), raw[n:]
}

// TestInverted collects words in memory of various sizes and compares with plain maps. Some of the
// words are looked up before they have a number and some after, as concurrent goroutines would.
func TestInverted(t *testing.T) {
	t.Parallel()
	type found struct {
		Records []uint32
		Twice   []uint32
		Counts  []byte
	}
	const records = 4000
	for _, memory := range []int{0, 2000, 1 << 20} {
		t.Run(fmt.Sprint(memory), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(5, 6))
			tmp := newTempDir(t.Context(), filesystem.OS{}, t.TempDir(), memory, 1)
			v := newInvertedIndex(tmp, memory)
			ids, want := map[string]int{}, []found{}
			var names []string
			var batch tokens
			take := func(first int) {
				batch.assignIDs(&v.dictionary)
				for i := range len(batch.ends) {
					for _, id := range batch.next() {
						v.addPair(id, uint32(first+i), 0)
					}
					v.spillIfFull(uint32(first + i + 1))
				}
				batch.reset()
			}
			first := 0
			for record := range records {
				count := map[string]int{}
				for range r.IntN(12) {
					word := fmt.Sprintf("word%d", int(r.ExpFloat64()*20))
					if record == 100 {
						word = "often"
					}
					if _, ok := ids[word]; !ok {
						ids[word] = len(names)
						names, want = append(names, word),
							append(want, found{Records: []uint32{}, Twice: []uint32{}, Counts: []byte{}})
					}
					count[word]++
					batch.add(&v.dictionary, []byte(word))
				}
				batch.end()
				for word, n := range count {
					w := &want[ids[word]]
					w.Records = append(w.Records, uint32(record))
					if n > 1 {
						w.Twice, w.Counts = append(w.Twice, uint32(record)), append(w.Counts, byte(n))
					}
				}
				if r.IntN(100) == 0 {
					take(first)
					first = record + 1
				}
			}
			take(first)
			v.finish()
			var got []string
			for id := range v.count {
				got = append(got, string(v.name(uint32(id))))
			}
			if d := gocmp.Diff(names, got); d != "" {
				t.Errorf("names (-want +got):\n%s", d)
			}
			docs, freqs := newSetTable(tmp), newSetTable(tmp)
			sizes, err := v.encode(docs, freqs)
			must.NoError(t, err)
			encoded := []found{}
			for i, raw := range items(t, docs) {
				all, _ := decodeSet(t, raw)
				repeated, counts := decodeSet(t, items(t, freqs)[i])
				if len(all) != int(sizes[i]) {
					t.Errorf("name %d has %d records; want %d", i, sizes[i], len(all))
				}
				encoded = append(encoded, found{all, repeated, counts[:len(repeated)]})
			}
			if d := gocmp.Diff(want, encoded); d != "" {
				t.Errorf("records (-want +got):\n%.2000s", d)
			}
			sorted := sortedNames(v)
			if !slices.IsSorted(sorted) || len(sorted) != len(names) {
				t.Errorf("the names are not sorted: %q", sorted)
			}
			if err := tmp.close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestInverted_order sorts more names than are compared at once: random ones, names with a long
// common start, and names that begin with each other.
func TestInverted_order(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for name, make := range map[string]func(i int) string{
		"random": func(int) string { return fmt.Sprintf("%x", random.Uint64()>>random.IntN(64)) },
		"bytes": func(i int) string {
			return string([]byte{byte(i), byte(i >> 8), 0, byte(i >> 16)}[:1+i%4])
		},
		"a common start":  func(i int) string { return fmt.Sprintf("%0200d", i) },
		"of one another":  func(i int) string { return string(bytes.Repeat([]byte("ab"), i%300)) + fmt.Sprint(i/300) },
		"few":             func(i int) string { return fmt.Sprint(min(i, 2*maxCompared)) },
		"one is the rest": func(i int) string { return string(bytes.Repeat([]byte("x"), i%5000)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tmp := newTempDir(t.Context(), filesystem.OS{}, t.TempDir(), 1<<20, 1)
			v := newInvertedIndex(tmp, 1<<20)
			for i := range 5 * maxCompared {
				v.id([]byte(make(i)))
			}
			v.finish()
			if names := sortedNames(v); len(names) != v.count || !slices.IsSorted(names) ||
				len(slices.Compact(names)) != v.count {
				t.Errorf("%d of %d names are not in order", len(names), v.count)
			}
			if v.count <= maxCompared {
				t.Errorf("%d names are too few", v.count)
			}
			equal := newDictionary(&tmp.tables) // names that occur three times, as sort keys do
			for range 3 {
				for id := range uint32(v.count) {
					equal.add(v.name(id))
				}
			}
			equal.finish()
			order := equal.order(tmp)
			isOrdered := func(a, b uint32) int {
				return cmp.Or(bytes.Compare(equal.name(a), equal.name(b)), cmp.Compare(a, b))
			}
			if len(order) != 3*v.count || !slices.IsSortedFunc(order, isOrdered) {
				t.Error("equal names are not in the order of their numbers")
			}
			must.NoError(t, tmp.close())
		})
	}
}

// TestInverted_orderCanceled ends the sorting of many names with the build.
func TestInverted_orderCanceled(t *testing.T) {
	t.Parallel()
	tmp := newTempDir(t.Context(), filesystem.OS{}, t.TempDir(), 1<<20, 1)
	v := newInvertedIndex(tmp, 1<<20)
	for i := range 2 * maxCompared {
		v.id(fmt.Append(nil, 10*maxCompared-i))
	}
	v.finish()
	tmp.cancel(nil)
	if slices.IsSorted(sortedNames(v)) {
		t.Error("names are sorted after the build is canceled")
	}
	must.NoError(t, tmp.close())
}
