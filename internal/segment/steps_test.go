package segment_test

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment/segmenttest"
)

// longTexts returns few records of many words, most of which are different and begin with one of a
// few letters.
func longTexts(records, words int) []herb.Record {
	all := make([]herb.Record, records)
	for i := range all {
		var b strings.Builder
		for j := range words {
			fmt.Fprintf(&b, "%c%d ", 'a'+j%3, (i*words+j)*7919%(records*words))
		}
		all[i] = herb.Record{b.String() + "red rose", fmt.Sprint(i)}
	}
	return all
}

// TestSteps_longTexts checks that queries report work that grows with the texts, not with the
// number of records: on a file, and on a segment in memory.
func TestSteps_longTexts(t *testing.T) {
	t.Parallel()
	const records, words = 100, 1000
	fields := []herb.Field{
		{Name: "text", Type: herb.TypeText, Filterable: true, Sortable: true, Searchable: true},
		{Name: "id", Type: herb.TypeText, Filterable: true, Searchable: true},
	}
	r, _ := opened(t, fields, longTexts(records, words))
	t.Cleanup(func() {
		if err := r.Release(); err != nil {
			t.Error(err)
		}
	})
	inMemory := openInMemory(t, fields, longTexts(records, words))
	for _, tt := range []struct {
		raw   string
		least int // steps
	}{
		{"search=" + url.QueryEscape("a* b*"), records * words / 3},
		{"search=" + url.QueryEscape("red-r*"), records * words / 16},
		{"text[match]=" + url.QueryEscape(`"red rose"`), records * words / 16},
	} {
		q, err := query.Parse(tt.raw, fields)
		if err != nil {
			t.Fatal(err)
		}
		for name, engine := range map[string]query.Engine{"segment": r, "memory": inMemory} {
			var p segmenttest.Pacer
			if page, err := engine.List(query.WithPacer(t.Context(), &p), q); err != nil || page.Total < records {
				t.Errorf("%s: %s: %d records, %v", tt.raw, name, page.Total, err)
			}
			if p.Steps < tt.least {
				t.Errorf("%s: %s: %d steps, want at least %d", tt.raw, name, p.Steps, tt.least)
			}
		}
	}
}

// TestSteps_announced checks that counting many elements is announced before memory is allocated
// for them.
func TestSteps_announced(t *testing.T) {
	t.Parallel()
	r := openCancelSegment(t)
	q, err := query.ParseFacets("field=tags&number=1", cancelFields())
	if err != nil {
		t.Fatal(err)
	}
	var p segmenttest.Pacer
	if _, err := r.Facets(query.WithPacer(t.Context(), &p), q); err != nil || p.Most < 2*cancelRecords {
		t.Errorf("at most %d steps in %d reports, %v", p.Most, p.Yields, err)
	}
}

// TestSteps_lookups checks that looking up many values is counted.
func TestSteps_lookups(t *testing.T) {
	t.Parallel()
	r := openCancelSegment(t)
	p := segmenttest.Pacer{Err: errors.New("rejected")}
	ctx := query.WithPacer(t.Context(), &p)
	var values strings.Builder
	for i := range query.MaxFilterValues {
		fmt.Fprintf(&values, "name=v%06d&", i)
	}
	list, err := query.Parse(strings.TrimSuffix(values.String(), "&"), cancelFields())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.List(ctx, list); !errors.Is(err, p.Err) {
		t.Errorf("a filter with many values: %v", err)
	}
}

// TestSteps_largeRecords checks that the bytes of large records are counted.
func TestSteps_largeRecords(t *testing.T) {
	t.Parallel()
	const records, size = 20, 1 << 20
	fields := []herb.Field{{Name: "text", Type: herb.TypeText}}
	r, _ := opened(t, fields, slices.Repeat([]herb.Record{{strings.Repeat("x", size)}}, records))
	t.Cleanup(func() {
		if err := r.Release(); err != nil {
			t.Error(err)
		}
	})
	q, err := query.Parse("", fields)
	if err != nil {
		t.Fatal(err)
	}
	var p segmenttest.Pacer
	s, err := r.Stream(query.WithPacer(t.Context(), &p), q)
	for _, failed := range s.Records {
		err = errors.Join(err, failed)
	}
	if err != nil || p.Yields < records-1 {
		t.Errorf("%d reports, %v; want one for each megabyte", p.Yields, err)
	}
}

// TestSteps_rejected checks that a query fails with the error of its pacer.
func TestSteps_rejected(t *testing.T) {
	t.Parallel()
	r := openCancelSegment(t)
	p := segmenttest.Pacer{Err: errors.New("rejected")}
	ctx := query.WithPacer(t.Context(), &p)
	q, err := query.Parse("search="+url.QueryEscape("w* rose"), cancelFields())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.List(ctx, q); !errors.Is(err, p.Err) {
		t.Errorf("List: %v", err)
	}
	if _, err := r.Stream(ctx, q); !errors.Is(err, p.Err) {
		t.Errorf("Stream: %v", err)
	}
}

// TestStream_longest compares the longest record that a stream reports with the records.
func TestStream_longest(t *testing.T) {
	t.Parallel()
	fields := []herb.Field{{Name: "text", Type: herb.TypeText}}
	records := []herb.Record{{"x"}, {strings.Repeat("y", 1000)}, {""}}
	r, _ := opened(t, fields, records)
	t.Cleanup(func() {
		if err := r.Release(); err != nil {
			t.Error(err)
		}
	})
	longer := openInMemory(t, fields, []herb.Record{{strings.Repeat("z", 2000)}})
	q, err := query.Parse("", fields)
	if err != nil {
		t.Fatal(err)
	}
	const around = len(`{"text":""}`)
	for name, tt := range map[string]struct {
		engine query.Engine
		want   int
	}{
		"segment": {r, 1000 + around},
		"memory":  {longer, 2000 + around},
	} {
		for range 2 { // the second time it is known
			if s, err := tt.engine.Stream(t.Context(), q); err != nil || s.Longest != tt.want {
				t.Errorf("%s: %d bytes, %v; want %d", name, s.Longest, err, tt.want)
			}
		}
	}
}
