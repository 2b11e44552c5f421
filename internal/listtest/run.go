package listtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/testseed"
)

// Engine is what the suite tests.
type Engine struct {
	// Open puts records into a new engine, in dataset order, and has it closed by t.Cleanup.
	Open func(t testing.TB, fields []herb.Field, records []herb.Record) Lister
	// Plants says that the engine holds plants alone: its fields are herb.PlantFields, no two ids are equal, and names
	// and tags are as the plant store takes them.
	Plants bool
	// Datasets is the number of random datasets. Zero means 100. A soak run has ten times as many.
	Datasets int
	// Queries is the number of random queries to each of them. Zero means 12.
	Queries int
	// Comparisons is the minimum number of compared answers to random queries. A suite that compares fewer fails. Zero means
	// any number.
	Comparisons int
	// Large has the suite also ask a dataset of so many records that sets of them fall into several parts.
	Large bool
}

// SeedVariable names the environment variable that makes Run repeat the one random dataset of a seed.
const SeedVariable = "LISTTEST_SEED"

// Run is the conformance suite of listings.
func Run(t *testing.T, e Engine) {
	t.Run("named", func(t *testing.T) {
		t.Parallel()
		for _, s := range scenes() {
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
	t.Run("random", func(t *testing.T) {
		t.Parallel()
		asked, run, all := 0, 0, seeds(t, e.datasets())
		for _, seed := range all {
			t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
				run++
				n, err := checkRandom(t, e, seed)
				if asked += n; err != nil {
					t.Fatalf("%v\nto repeat it: %s=%d", err, SeedVariable, seed)
				}
			})
		}
		t.Logf("%d answers about %d random datasets were compared", asked, run)
		if repeated := len(all) < e.datasets() || run < len(all); !repeated && !t.Failed() && asked < e.Comparisons {
			t.Errorf("%d answers were compared; want at least %d", asked, e.Comparisons)
		}
	})
	if e.Large {
		t.Run("large", func(t *testing.T) {
			t.Parallel()
			seed := seeds(t, 1)[0]
			n, err := checkLarge(t, e, seed)
			if err != nil {
				t.Fatalf("%v\nto repeat it: %s=%d", err, SeedVariable, seed)
			}
			t.Logf("%d answers about a large dataset were compared", n)
		})
	}
	t.Run("walk", func(t *testing.T) {
		t.Parallel()
		if err := checkWalks(t, e); err != nil {
			t.Error(err)
		}
	})
	t.Run("stream", func(t *testing.T) {
		t.Parallel()
		fields := herb.PlantFields()
		l := e.Open(t, fields, newGenerator(3, true).plantRecords(700))
		if err := checkStreams(t.Context(), l, fields); err != nil {
			t.Error(err)
		}
	})
	t.Run("concurrent", func(t *testing.T) {
		t.Parallel()
		if err := checkConcurrent(t, e); err != nil {
			t.Error(err)
		}
	})
}

// seeds returns the seeds of n random datasets: the same in every run, unless this is a soak run or one seed is requested.
func seeds(t *testing.T, n int) []uint64 {
	if s := os.Getenv(SeedVariable); s != "" {
		seed, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatalf("%s: %v", SeedVariable, err)
		}
		return []uint64{seed}
	}
	out := make([]uint64, n)
	for i := range out {
		out[i] = uint64(i + 1)
		if testseed.Soak() {
			out[i] = uint64(rand.Uint32()) // short enough to type
		}
	}
	return out
}

// soakFactor is how many times more random datasets a soak run compares.
const soakFactor = 10

func (e Engine) datasets() int {
	n := cmp.Or(e.Datasets, 100)
	if testseed.Soak() {
		n *= soakFactor
	}
	return n
}

// largeSizes are numbers of records about the border where sets of numbers begin another part.
var largeSizes = []int{1<<16 - 1, 1 << 16, 1<<16 + 1, 70_000}

// largeQueries is the number of random queries to a large dataset. The oracle takes long for each.
const largeQueries = 10

// facetShare says that facets are compared for one query in so many.
const facetShare = 5

// checkRandom asks one random dataset random questions and returns how many answers were compared.
func checkRandom(t testing.TB, e Engine, seed uint64) (compared int, err error) {
	g := newGenerator(seed, e.Plants)
	return check(t, e, g, g.size(), cmp.Or(e.Queries, 12))
}

// checkLarge does the same with a large dataset.
func checkLarge(t testing.TB, e Engine, seed uint64) (compared int, err error) {
	g := newGenerator(seed, e.Plants)
	return check(t, e, g, pick(g, largeSizes), largeQueries)
}

func check(t testing.TB, e Engine, g *generator, size, queries int) (compared int, err error) {
	fields := g.fields()
	records := g.records(fields, size)
	o, l := NewOracle(fields, records), e.Open(t, fields, records)
	for ; compared < queries; compared++ {
		raw := g.query(fields, records)
		r, err := query.Parse(raw, fields)
		if err == nil {
			err = errors.Join(agree(t.Context(), l, o, r), agreeInFull(t.Context(), l, o, r))
		}
		if err == nil && compared%facetShare == 0 {
			raw = g.facets(fields, raw)
			err = agreeInFacets(t.Context(), l, o, raw)
		}
		if err != nil {
			return compared, fmt.Errorf("query: %s\n%s%w", raw, describe(fields, records), err)
		}
	}
	return compared, nil
}

// walkQueries are walked through from the first page to the last. They hold for plants and for anything else that has
// their fields.
var walkQueries = []string{
	"", "sort=id", "sort=id&order=desc", "sort=name", "sort=name&order=desc", "sort=tag", "sort=tag&order=desc",
	"tag=", "tag[ne]=tree", "tag[ne]=tree&sort=tag&order=desc", "id[gte]=0&sort=name", "search=rose",
	"search=ro*&sort=tag",
	"search=-fern&sort=tag&order=desc",
}

// checkWalks reads all pages, one after the other, and expects every record once.
func checkWalks(t testing.TB, e Engine) error {
	fields := herb.PlantFields()
	records := newGenerator(1, true).plantRecords(150)
	o, l := NewOracle(fields, records), e.Open(t, fields, records)
	var errs []error
	for _, raw := range walkQueries {
		for _, perPage := range []int{7, 100} {
			if err := checkWalk(t.Context(), l, o, fmt.Sprintf("%s&per_page=%d", raw, perPage)); err != nil {
				errs = append(errs, fmt.Errorf("walking %q: %w", raw, err))
			}
		}
	}
	return errors.Join(errs...)
}

func checkWalk(ctx context.Context, l Lister, o *Oracle, raw string) error {
	var walked []herb.Record
	for page := 1; ; page++ {
		r, err := query.Parse(fmt.Sprintf("%s&page=%d", raw, page), o.fields)
		if err != nil {
			return err
		}
		a, err := ask(ctx, l, &o.decoder, r)
		if err != nil {
			return err
		}
		walked = append(walked, a.Records...)
		if len(walked) > len(o.records) {
			return fmt.Errorf("the walk has not ended after %d records", len(walked))
		}
		if a.Meta.HasNext {
			continue
		}
		want := answer{Meta: a.Meta}
		for _, n := range o.findAll(r) {
			want.Records = append(want.Records, o.records[n])
		}
		return want.differs(answer{Meta: a.Meta, Records: walked})
	}
}

// checkConcurrent has several goroutines ask at once.
func checkConcurrent(t testing.TB, e Engine) error {
	fields := herb.PlantFields()
	g := newGenerator(2, true)
	records := g.plantRecords(150)
	o, l := NewOracle(fields, records), e.Open(t, fields, records)
	var wg sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		var raws []string
		for range 25 {
			raws = append(raws, g.query(fields, records))
		}
		wg.Go(func() {
			for _, raw := range raws {
				r, err := query.Parse(raw, fields)
				if err == nil {
					err = agree(t.Context(), l, o, r)
				}
				if err != nil {
					errs[i] = fmt.Errorf("query: %s\n%w", raw, err)
					return
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}
