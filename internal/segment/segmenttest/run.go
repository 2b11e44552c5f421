// Package segmenttest defines correct listings: it has a deliberately simple oracle, and a
// conformance suite that compares every engine with it. Only tests import it.
package segmenttest

import (
	"cmp"
	"fmt"
	"strconv"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/testseed"
)

// Engine describes the engine under test.
type Engine struct {
	// Open loads records into a new engine, in dataset order, and closes it in t.Cleanup.
	Open func(t testing.TB, fields []herb.Field, records []herb.Record) query.Engine
	// Plants means that the engine stores plants only: its fields are herb.PlantFields, ids are
	// unique, and names and tags are valid in the plant store.
	Plants bool
	// Datasets is the number of small random datasets. Zero means 40. For every 20 of them there
	// is a medium one. A soak run has 16 times as many.
	Datasets int
	// Queries is the number of random queries to each of them. Zero means 12.
	Queries int
	// Large enables a test with so many records that bitmaps have several containers.
	Large bool

	// listings restricts random queries to pages and streams, for tests of engines whose other
	// results are those of the oracle.
	listings bool
}

// Run runs the conformance suite of listings. The random datasets have consecutive seeds; run the
// subtest of a seed to repeat it.
func Run(t *testing.T, e Engine) {
	t.Run("named", func(t *testing.T) {
		t.Parallel()
		for _, s := range testCases() {
			if e.Plants && !s.plants {
				continue
			}
			t.Run(s.name, func(t *testing.T) {
				t.Parallel()
				if err := s.check(t.Context(), e.Open(t, s.fields, s.records)); err != nil {
					t.Error(err)
				}
			})
		}
	})
	datasets := cmp.Or(e.Datasets, 40)
	if testseed.Soak() {
		datasets *= 16
	}
	for _, r := range []struct {
		name     string
		size     datasetSize
		datasets int
	}{{"random", smallDataset, datasets}, {"medium", mediumDataset, datasets / 20}, {"large", largeDataset, 1}} {
		if r.size == largeDataset && !e.Large {
			continue
		}
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			first := testseed.Seed(t)
			for i := range r.datasets {
				seed := first + uint64(i)
				t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
					if err := checkRandom(t, e, seed, r.size); err != nil {
						t.Fatal(err)
					}
				})
			}
		})
	}
	for name, check := range map[string]func(testing.TB, Engine) error{
		"canceled": checkCanceled, "concurrent": checkConcurrent,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := check(t, e); err != nil {
				t.Error(err)
			}
		})
	}
}

// facetShare is the number of queries per compared facet request, and per compared grid.
const facetShare = 5

// datasetSize is the size of a random dataset.
type datasetSize int

const (
	smallDataset  datasetSize = iota
	mediumDataset             // with so many records and words that engines choose other algorithms
	largeDataset              // around the container size of bitmaps
)

// checkRandom compares random queries on one random dataset.
func checkRandom(t testing.TB, e Engine, seed uint64, of datasetSize) error {
	g := newGenerator(seed, e.Plants)
	size, queries := g.size(), cmp.Or(e.Queries, 12)
	switch of { // the oracle is slow on each query
	case mediumDataset:
		size, queries = pick(g, []int{2047, 2048, 4096, 5000}), 30
	case largeDataset:
		size, queries = pick(g, []int{1<<16 - 1, 1 << 16, 1<<16 + 1, 70_000}), 10
	}
	if of != smallDataset || g.chance(30) {
		g.addRareWords()
	}
	fields := g.fields()
	records := g.records(fields, size)
	g.addCategories(seed, fields, records)
	o, l := NewOracle(fields, records), e.Open(t, fields, records)
	if err := agreeOnTypes(l, o); err != nil {
		return err
	}
	for i := range queries {
		raw := g.query(fields, records)
		err := agree(t.Context(), l, o, raw)
		listing := raw
		if err == nil && e.listings {
			continue
		}
		if err == nil && i%facetShare == 0 {
			raw = g.facets(fields, records, listing)
			if raw != "" {
				err = agreeOn(t.Context(), raw, fields, query.ParseFacets, l.Facets, o.Facets)
			}
		}
		if err == nil && i%facetShare == 1 {
			raw = g.grid(fields, records, listing)
			if raw != "" {
				err = agreeOn(t.Context(), raw, fields, query.ParseGrid, l.Grid, o.Grid)
			}
		}
		if err == nil && i%facetShare < 3 {
			raw = g.aggregate(o, listing)
			if raw != "" {
				err = agreeOn(t.Context(), raw, fields, query.ParseAggregate, l.Aggregate, o.Aggregate)
				if err == nil {
					err = checkTypedAggregate(t.Context(), l, raw, fields)
				}
				if err == nil {
					err = checkGroupStream(t.Context(), l, raw, fields)
				}
			}
		}
		if err != nil {
			return fmt.Errorf("query: %s\n%s%w", raw, describe(fields, records), err)
		}
	}
	return nil
}
