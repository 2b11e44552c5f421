package build

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"herbarium/internal/filesystem"
	"herbarium/internal/must"
)

// sortable is a record as input and output of a sorter.
type sortable struct {
	Key    string
	Record uint32
}

// checkSorter sorts records with a memory limit and compares with slices.SortFunc.
func checkSorter(t *testing.T, keys [][]byte, memory int) {
	t.Helper()
	tmp := newTempDir(t.Context(), filesystem.OS{}, t.TempDir(), memory, 1)
	defer func() {
		if err := tmp.close(); err != nil {
			t.Error(err)
		}
	}()
	var want, got []sortable
	size := int64(0)
	for i, k := range keys {
		want = append(want, sortable{string(k), uint32(i)})
		size += int64(len(k))
	}
	s := newSorter(tmp, memory, len(keys), 2*size)
	for range 2 { // also when it is used again
		s.begin(func(dst, value []byte) ([]byte, error) { return append(dst, value...), nil },
			func(dst, value []byte) []byte { return append(dst, value[:len(value)/2]...) })
		for _, x := range want {
			must.NoError(t, s.add([]byte(x.Key), x.Record))
		}
		got = nil
		must.NoError(t, s.each(func(key, payload []byte, record uint32) {
			if string(payload) != string(key[:len(key)/2]) {
				t.Errorf("record %d: key %q has payload %q", record, key, payload)
			}
			got = append(got, sortable{string(key), record})
		}))
		must.NoError(t, s.finish())
	}
	slices.SortStableFunc(want, func(a, b sortable) int { return cmp.Compare(a.Key, b.Key) })
	if d := gocmp.Diff(want, got); d != "" {
		t.Errorf("%d keys in %d bytes of memory (-want +got):\n%.2000s", len(keys), memory, d)
	}
}

// endKeys returns keys of which none is a prefix of another.
func endKeys(values [][]byte) [][]byte {
	for i, v := range values {
		v = bytes.ReplaceAll(v, []byte{0}, []byte{0, 1})
		values[i] = append(v, 0, 0)
	}
	return values
}

func TestSorter(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	random := func(n, length, letters int, prefix string) (keys [][]byte) {
		for range n {
			k := []byte(prefix)
			for range r.IntN(length + 1) {
				k = append(k, byte(r.IntN(letters)))
			}
			keys = append(keys, k)
		}
		return keys
	}
	rising := make([][]byte, 3000)
	for i := range rising {
		rising[i] = binary.BigEndian.AppendUint32(nil, uint32(i))
	}
	nested := make([][]byte, 200)
	for i := range nested {
		nested[i] = bytes.Repeat([]byte("a"), 9*(len(nested)-i))
	}
	for name, keys := range map[string][][]byte{
		"none":           {},
		"one":            {[]byte("x")},
		"short":          random(5000, 3, 256, ""),
		"two letters":    random(5000, 40, 2, ""),
		"long":           random(3000, 60, 256, ""),
		"one beginning":  random(3000, 20, 3, "https://www.herbarium.example/"),
		"all the same":   slices.Repeat([][]byte{bytes.Repeat([]byte("same"), 50)}, 2000),
		"few different":  append(random(2000, 1, 3, "a long beginning"), random(2000, 1, 2, "")...),
		"in order":       rising,
		"nested":         nested,
		"longer than it": {bytes.Repeat([]byte("z"), 100_000), []byte("a"), bytes.Repeat([]byte("z"), 90_000)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			keys := endKeys(keys)
			for _, memory := range []int{1 << 20, 1 << 15, 1000} {
				checkSorter(t, keys, memory)
			}
		})
	}
}

func FuzzSorter(f *testing.F) {
	f.Add([]byte("a,b,,ab,a"), 100)
	f.Add([]byte("\x00,\x00\x00,\x01,rosesrosesroses,rosesrosesrosfs"), 1<<20)
	f.Fuzz(func(t *testing.T, joined []byte, memory int) {
		keys := bytes.Split(bytes.Clone(joined), []byte(","))
		for i := range keys {
			keys[i] = bytes.Clone(keys[i])
		}
		keys = slices.Repeat(keys, 1+min(2000/len(keys), 20))
		checkSorter(t, endKeys(keys), min(max(memory, 64), 1<<20))
	})
}

func TestInvert(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{0, 1, 2, 63, 64, 65, 5000} {
		for _, memory := range []int{0, 4, 100, 4096, 1 << 20} {
			tmp := newTempDir(t.Context(), filesystem.OS{}, t.TempDir(), memory, 1)
			from := tmp.newSpillFile()
			want := make([]uint32, n)
			for i, p := range r.Perm(n) {
				want[p] = uint32(i)
				from.writeU32(uint32(p))
			}
			got := make([]uint32, 0, n)
			inverse, err := tmp.invert(from, n, memory)
			must.NoError(t, err)
			must.NoError(t, inverse.eachU32(func(n uint32) { got = append(got, n) }))
			if d := gocmp.Diff(want, got); d != "" {
				t.Errorf("%d numbers, %d bytes of memory (-want +got):\n%.1000s", n, memory, d)
			}
			if err := tmp.close(); err != nil {
				t.Error(err)
			}
		}
	}
}
