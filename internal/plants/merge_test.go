package plants

import (
	"context"
	"hash/fnv"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment"
	"herbarium/internal/segment/segmenttest"
	"herbarium/internal/testseed"
)

// divided lists plants that are divided among several segments. It counts them in one.
type divided struct {
	query.Engine
	parts []*segment.Reader
}

func (d divided) List(ctx context.Context, r *query.Request) (query.Page, error) {
	m, err := find(ctx, d.parts, r)
	if err != nil {
		return query.Page{}, err
	}
	defer m.release()
	from := min(r.Offset(), m.total)
	records, err := m.page(from, min(from+r.PerPage, m.total))
	return query.Page{Total: m.total, Records: records}, err
}

func (d divided) Stream(ctx context.Context, r *query.Request) (query.Stream, error) {
	m, err := find(ctx, d.parts, r)
	if err != nil {
		return query.Stream{}, err
	}
	return m.stream()
}

// divide divides records at random points among some files and a segment in memory. Any of them may
// be empty.
func divide(t testing.TB, fields []herb.Field, records []herb.Record, files int) divided {
	t.Helper()
	seed := fnv.New64()
	_, _ = seed.Write([]byte(t.Name()))
	random := rand.New(rand.NewPCG(seed.Sum64(), uint64(len(records))))
	inMemory := func(records []herb.Record) *segment.Reader {
		r, err := segment.InMemory(t.Context(), fields, records)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	ends := make([]int, files)
	for i := range ends {
		ends[i] = random.IntN(len(records) + 1)
	}
	slices.Sort(ends)
	d, start := divided{Engine: inMemory(records)}, 0
	for i, end := range ends {
		path := filepath.Join(t.TempDir(), strconv.Itoa(i))
		yield := func(yield func(herb.Record, error) bool) {
			for _, r := range records[start:end] {
				if !yield(r, nil) {
					return
				}
			}
		}
		if _, err := segment.Create(t.Context(), path, fields, yield, segment.Options{}); err != nil {
			t.Fatal(err)
		}
		r, err := segment.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = r.Release() })
		d.parts, start = append(d.parts, r), end
	}
	d.parts = append(d.parts, inMemory(records[start:]))
	return d
}

// TestMerger compares merged pages and streams with the oracle: plants that are divided at random
// points among different numbers of segments.
func TestMerger(t *testing.T) {
	t.Parallel()
	for files := range 4 {
		t.Run(strconv.Itoa(files), func(t *testing.T) {
			t.Parallel()
			segmenttest.Run(t, segmenttest.Engine{
				Plants: true, Datasets: 8, Queries: 60, Large: files == 2 && testseed.Soak(),
				Open: func(t testing.TB, fields []herb.Field, records []herb.Record) query.Engine {
					return divide(t, fields, records, files)
				},
			})
		})
	}
}
