package segment_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/query"
	"herbarium/internal/segment"
	"herbarium/internal/segment/segmenttest"
)

// countingContext is canceled after a number of calls of Err.
type countingContext struct {
	context.Context
	checks int // calls of Err
	limit  int // calls that return nil; 0 means all
}

func (c *countingContext) Err() error {
	c.checks++
	if c.limit > 0 && c.checks > c.limit {
		return context.Canceled
	}
	return nil
}

// cancelRecords is the number of records in the segment of the tests below.
const cancelRecords = 100_000

// cancelFields returns the fields of that segment; each makes a different loop long.
func cancelFields() []herb.Field {
	fields := []herb.Field{
		{Name: "name", Type: herb.TypeText},                    // unique values
		{Name: "spelling", Type: herb.TypeText},                // one value with two written forms
		{Name: "tags", Type: herb.TypeList},                    // unique elements
		{Name: "size", Type: herb.TypeNumber},                  // unique values
		{Name: "group", Type: herb.TypeText, Searchable: true}, // three values
		{Name: "number", Type: herb.TypeNumber},                // a thousand values
		// a unique word, and common words with different frequencies
		{Name: "body", Type: herb.TypeText, Searchable: true},
	}
	for i := range fields {
		fields[i].Filterable, fields[i].Sortable = true, true
	}
	return fields
}

// cancelFile returns the file of that segment, which takes longer to build than most tests of it.
var cancelFile = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "segment-test")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "test.seg")
	_, err = segment.Create(context.Background(), path, cancelFields(), sequence(newCancelRecords()),
		segment.Options{FS: unsynced{}})
	if err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

func openCancelSegment(t *testing.T) *segment.Reader {
	t.Helper()
	content, err := cancelFile()
	must.NoError(t, err)
	r, err := openBytes(t, filepath.Join(t.TempDir(), "test.seg"), content)
	must.NoError(t, err)
	t.Cleanup(func() {
		if err := r.Release(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func newCancelRecords() []herb.Record {
	records := make([]herb.Record, cancelRecords)
	for i := range records {
		spelling := "soft"
		if i%2 == 0 {
			spelling = "so\u00ADft"
		}
		body := fmt.Sprintf("w%06d rose fern", i)
		for range i % 3 {
			body += " rose moss fern"
		}
		records[i] = herb.Record{
			fmt.Sprintf("v%06d", i), spelling, fmt.Sprintf("e%06d, f%06d", i, i), fmt.Sprint(i * 7919 % cancelRecords),
			fmt.Sprint("g", i%3), fmt.Sprint(i % 1000), body,
		}
	}
	return records
}

// TestCancel counts how often each kind of query checks its context, which proves that its longest
// loop does, and then runs it with contexts that are canceled on the way.
func TestCancel(t *testing.T) {
	t.Parallel()
	r := openCancelSegment(t)
	const pass = cancelRecords / 4096 // checks of a loop over all records
	list := func(ctx context.Context, q *query.Request) error {
		_, err := r.List(ctx, q)
		return err
	}
	stream := func(ctx context.Context, q *query.Request) error {
		s, err := r.Stream(ctx, q)
		if err != nil {
			return err
		}
		for _, err := range s.Records {
			if err != nil {
				return err
			}
		}
		return nil
	}
	facets := func(field int) func(ctx context.Context, q *query.Request) error {
		return func(ctx context.Context, q *query.Request) error {
			_, err := r.Facets(ctx, &query.FacetRequest{Request: q, Fields: []int{field}, Top: 5, Buckets: 10})
			return err
		}
	}
	find := func(ctx context.Context, q *query.Request) error {
		_, err := r.Facets(ctx, &query.FacetRequest{Request: q, Fields: []int{0}, Top: 5, Containing: "9"})
		return err
	}
	grid := func(ctx context.Context, q *query.Request) error {
		bounds := query.Bounds{MaxX: cancelRecords, MaxY: 1000}
		_, err := r.Grid(ctx, &query.GridRequest{Request: q, X: 3, Y: 5, Columns: 100, Rows: 100, Bounds: bounds})
		return err
	}
	aggregate := func(raw string) func(ctx context.Context, q *query.Request) error {
		return func(ctx context.Context, q *query.Request) error {
			a, err := query.ParseAggregate(strings.NewReplacer("[", "%5B", "]", "%5D").Replace(raw), cancelFields())
			if err != nil {
				t.Fatal(err)
			}
			a.Request = q
			_, err = r.Aggregate(ctx, a)
			return err
		}
	}
	for _, tt := range []struct {
		name  string
		raw   string
		run   func(ctx context.Context, q *query.Request) error
		least int // checks
	}{
		{"list: prefix of distinct values", "name[prefix]=v0", list, 2},
		{"list: prefix and another filter", "name[prefix]=v05&tags[gte]=e", list, 2},
		{"list: equal among values written differently", "spelling=soft", list, pass},
		{"list: prefix of elements", "tags[prefix]=e", list, pass},
		{"list: range of elements", "tags[gte]=e", list, 2 * pass},
		{"list: range that ends inside a part", "size[gt]=100&size[lt]=98000", list, 1},
		{"list: sparse filter, sorted", "tags[lt]=e010000&sort=name", list, 2},
		{"list: dense filter, sorted", "group=g1&sort=size&page=300&per_page=100", list, 1},
		{"list: sorted by several fields", "sort=group,-spelling,size&page=300&per_page=100", list, 2},
		{"list: word, by relevance", "search=rose&page=900&per_page=100", list, pass / 2},
		{"list: words, by relevance", "search=" + url.QueryEscape("rose fern") + "&page=900&per_page=100", list, pass},
		{"list: phrase", "search=" + url.QueryEscape(`"fern rose moss"`), list, pass / 2},
		{"list: prefix of words", "search=" + url.QueryEscape("w* rose"), list, pass},
		{"list: phrase with a prefix", "search=" + url.QueryEscape(`rose-f*`), list, pass},
		{"list: exclusion", "search=" + url.QueryEscape(`-"rose moss"`), list, 1},
		{"list: first page by relevance", "search=rose", list, 1},
		{"list: prefix of words, by relevance", "search=" + url.QueryEscape("w09* rose") + "&page=50&per_page=100",
			list, pass / 10},
		{"list: match of a phrase", "body[match]=" + url.QueryEscape("rose-f*"), list, 2 * pass},
		{"list: match of alternatives", "body[match]=" + url.QueryEscape("fern-r*") + "&body[match]=-rose-f*",
			list, 3 * pass},
		{"stream: all", "", stream, pass},
		{"stream: sorted", "sort=size&order=desc", stream, pass},
		{"stream: filtered and sorted", "group=g1&sort=size&order=desc", stream, pass},
		{"stream: sorted by several fields", "sort=-group,spelling,-size", stream, 2 * pass},
		{"stream: short groups", "sort=number,-size", stream, 2 * pass},
		{"stream: by relevance", "search=rose", stream, pass},
		{"facets: distinct values", "", facets(0), 1},
		{"facets: distinct values of some", "group=g1", facets(0), 2},
		{"facets: distinct values of a few", "tags[lt]=e000100", facets(0), 2},
		{"facets: values written differently", "", facets(1), pass},
		{"facets: elements", "", facets(2), 2 * pass},
		{"facets: elements of some", "group=g1", facets(2), pass},
		{"facets: histogram", "group=g1", facets(3), 4},
		{"facets: few values", "search=rose", facets(4), 1},
		{"facets: value search", "", find, pass},
		{"facets: value search of some", "group=g1", find, pass / 3},
		{"grid: all", "", grid, pass},
		{"grid: some", "group=g1", grid, pass / 3},
		{"aggregate: count of values", "", aggregate("_by=name"), 2 * pass},
		{"aggregate: sorted by a median", "", aggregate("_by=name&_sort=-median:size"), 20 * pass},
		{"aggregate: sorted by a minimum", "", aggregate("_by=name&_sort=min:name"), 20 * pass},
		{"aggregate: having", "", aggregate("_by=name&_having=mean:size[gt]=5"), 16 * pass},
		{"aggregate: two fields", "group=g1", aggregate("_by=name&_by=number&_measure=sum:size"), 4 * pass / 3},
		{"aggregate: elements", "", aggregate("_by=tags&_by=number&_measure=distinct:tags"), 8 * pass},
		{"aggregate: values written differently", "",
			aggregate("_by=spelling&_measure=median:size&_measure=p10:number"), 3 * pass},
		{"aggregate: filled", "tags[lt]=e010000", aggregate("_by=size:3&_fill=zero&_sort=-by1"), pass / 2},
		{"aggregate: few of many values", "tags[lt]=e010000",
			aggregate("_measure=sum:size&_measure=median:size"), pass / 10},
	} {
		t.Run(tt.name, func(t *testing.T) {
			q, err := query.Parse(tt.raw, cancelFields())
			if err != nil {
				t.Fatal(err)
			}
			if err := tt.run(t.Context(), q); err != nil { // fills caches
				t.Fatal(err)
			}
			all := &countingContext{Context: t.Context()}
			if err := tt.run(all, q); err != nil {
				t.Fatal(err)
			}
			if all.checks < tt.least {
				t.Fatalf("the context was checked %d times; want at least %d", all.checks, tt.least)
			}
			for _, limit := range []int{1, all.checks / 4, all.checks / 2, all.checks - 1} {
				if limit < 1 || limit >= all.checks {
					continue
				}
				ctx := &countingContext{Context: t.Context(), limit: limit}
				if err := tt.run(ctx, q); !errors.Is(err, context.Canceled) {
					t.Errorf("canceled at check %d of %d: %v; want %v", limit, all.checks, err, context.Canceled)
				}
				if ctx.checks != limit+1 {
					t.Errorf("canceled at check %d: checked %d times more", limit, ctx.checks-limit-1)
				}
			}
			if err := tt.run(t.Context(), q); err != nil {
				t.Errorf("after canceled runs: %v", err)
			}
		})
	}
}

// TestYield checks that a long query yields at every check of its context, and a short one never.
func TestYield(t *testing.T) {
	t.Parallel()
	r := openCancelSegment(t)
	for _, tt := range []struct {
		raw   string
		least int
		most  int
	}{
		{"search=rose+fern&page=900&per_page=100", cancelRecords / 4096, cancelRecords},
		{"name[prefix]=v", 0, 0},
		{"tags[gte]=a", cancelRecords / 4096, cancelRecords},
		{"page=3", 0, 0},
	} {
		q, err := query.Parse(tt.raw, cancelFields())
		if err != nil {
			t.Fatal(err)
		}
		var p segmenttest.Pacer
		if _, err := r.List(query.WithPacer(t.Context(), &p), q); err != nil {
			t.Fatal(err)
		}
		if p.Yields < tt.least || p.Yields > tt.most {
			t.Errorf("%s: yielded %d times; want %d to %d", tt.raw, p.Yields, tt.least, tt.most)
		}
	}
}

// TestEqual_longRun filters a long run of values that compare equal but are written differently.
func TestEqual_longRun(t *testing.T) {
	t.Parallel()
	r := openCancelSegment(t)
	for raw, want := range map[string]int{"spelling=soft": cancelRecords / 2, "spelling[ne]=soft": cancelRecords / 2,
		"spelling[gte]=soft": cancelRecords} {
		q, err := query.Parse(raw, cancelFields())
		if err != nil {
			t.Fatal(err)
		}
		if page, err := r.List(t.Context(), q); err != nil || page.Total != want {
			t.Errorf("%s: %d records, %v; want %d", raw, page.Total, err, want)
		}
	}
}

// TestFilter_memory measures the allocations of filters that match many values: a set per value
// would take tens of megabytes.
func TestFilter_memory(t *testing.T) { //nolint:paralleltest // it measures allocations of the process
	r := openCancelSegment(t)
	const limit = 6 << 20 // a string per value, and a bit per record
	for _, raw := range []string{
		"name[prefix]=v", "tags[prefix]=e", "tags[gte]=a", "tags[gt]=a&tags[lt]=z", "spelling[prefix]=so",
	} {
		t.Run(raw, func(t *testing.T) { //nolint:paralleltest // see above
			q, err := query.Parse(raw, cancelFields())
			if err != nil {
				t.Fatal(err)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			page, err := r.List(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			runtime.ReadMemStats(&after)
			if page.Total == 0 {
				t.Error("nothing was found")
			}
			if n := after.TotalAlloc - before.TotalAlloc; n > limit {
				t.Errorf("%d bytes were allocated; want at most %d", n, limit)
			}
		})
	}
}
