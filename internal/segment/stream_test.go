package segment_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment"
)

// streamed reads a stream to its end.
func streamed(t testing.TB, r *segment.Reader, fields []herb.Field, raw string) (total int, records []string,
	err error) {
	t.Helper()
	q, err := query.Parse(raw, fields)
	if err != nil {
		t.Fatal(err)
	}
	s, err := r.Stream(t.Context(), q)
	if err != nil {
		return 0, nil, err
	}
	for rec, err := range s.Records {
		if err != nil {
			return s.Total, records, err
		}
		records = append(records, string(rec))
	}
	return s.Total, records, nil
}

// TestStream_sizes streams records around the sizes at which they are handled differently.
func TestStream_sizes(t *testing.T) {
	t.Parallel()
	fields := []herb.Field{{Name: "a", Type: herb.TypeText, Sortable: true}}
	var records []herb.Record
	for i, size := range []int{
		3 << 20, 0, 1, 64 << 10, 100 << 10, 1 << 20, 1<<20 - 9, 5, 2 << 20, 2 << 20, 7, 40 << 10, 40 << 10,
	} {
		records = append(records, herb.Record{strings.Repeat(string(rune('a'+i)), size)})
	}
	r := openBuilt(t, fields, records, segment.Options{})
	for _, raw := range []string{"", "sort=a&order=desc"} {
		want := slices.Clone(records)
		if raw != "" {
			slices.Reverse(want)
			want = append(slices.DeleteFunc(want, func(r herb.Record) bool { return r[0] == "" }), herb.Record{""})
		}
		total, got, err := streamed(t, r, fields, raw)
		if err != nil || total != len(want) || len(got) != len(want) {
			t.Fatalf("%q: %d of %d records, %v", raw, len(got), total, err)
		}
		for i := range want {
			if got[i] != string(want[i].AppendJSON(nil, fields)) {
				t.Errorf("%q: record %d is another", raw, i)
			}
		}
	}
}

// TestStream_dropsPages streams more than stays in memory, twice: released pages can be read again.
func TestStream_dropsPages(t *testing.T) {
	t.Parallel()
	fields := []herb.Field{{Name: "a", Type: herb.TypeText}, {Name: "b", Type: herb.TypeText, Filterable: true}}
	var records []herb.Record
	for i := range 300 {
		records = append(records, herb.Record{strings.Repeat(fmt.Sprintf("%d;", i), 40_000), fmt.Sprint(i % 2)})
	}
	r := openBuilt(t, fields, records, segment.Options{})
	for _, raw := range []string{"", "b=1", ""} {
		total, got, err := streamed(t, r, fields, raw)
		if err != nil || total != len(got) {
			t.Fatalf("%d of %d records, %v", len(got), total, err)
		}
		at := 0
		for _, rec := range records {
			if raw == "" || rec[1] == "1" {
				if got[at] != string(rec.AppendJSON(nil, fields)) {
					t.Fatalf("%q: record %d is another", raw, at)
				}
				at++
			}
		}
	}
}

// TestStream_fault loses most of the file while a stream is being read.
func TestStream_fault(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{"", "sort=title", "sort=title&order=desc", "search=rose"} {
		t.Run(raw, func(t *testing.T) {
			t.Parallel()
			fields := []herb.Field{{Name: "title", Type: herb.TypeText, Searchable: true, Sortable: true}}
			var records []herb.Record
			for i := range 5000 {
				records = append(records, herb.Record{fmt.Sprintf("rose %d %s", i, strings.Repeat("x", 200))})
			}
			r, path := opened(t, fields, records)
			q, err := query.Parse(raw, fields)
			if err != nil {
				t.Fatal(err)
			}
			s, err := r.Stream(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			var failure error
			for _, err := range s.Records {
				if n == 0 {
					if err := os.Truncate(path, int64(os.Getpagesize())); err != nil {
						t.Fatal(err)
					}
				}
				failure = err
				if err == nil {
					n++
				}
			}
			if !errors.Is(failure, segment.ErrCorrupt) || n == 0 || n == len(records) {
				t.Errorf("after %d records: %v", n, failure)
			}
			if _, err := r.Stream(t.Context(), q); err == nil {
				_, _, err = streamed(t, r, fields, raw)
				if !errors.Is(err, segment.ErrCorrupt) {
					t.Errorf("a stream of what is lost: %v", err)
				}
			}
			if err := r.Release(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestStream_memory checks that ten times as many records need hardly more allocations. It is not
// parallel, because allocations of other tests would count.
func TestStream_memory(t *testing.T) {
	fields := []herb.Field{
		{Name: "a", Type: herb.TypeText, Sortable: true, Filterable: true},
		{Name: "b", Type: herb.TypeText, Filterable: true, Sortable: true},
		{Name: "c", Type: herb.TypeText, Filterable: true, Sortable: true},
	}
	allocations := func(records int, raw string) float64 {
		all := make([]herb.Record, records)
		for i := range all {
			all[i] = herb.Record{fmt.Sprint(i * 7919 % records), fmt.Sprint(i % 3), fmt.Sprint(i / 3 % 500)}
		}
		path := filepath.Join(t.TempDir(), fmt.Sprintf("%d.seg", records))
		if _, err := segment.Create(t.Context(), path, fields, sequence(all), segment.Options{}); err != nil {
			t.Fatal(err)
		}
		r, err := segment.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = r.Release() }()
		q, err := query.Parse(raw, fields)
		if err != nil {
			t.Fatal(err)
		}
		return testing.AllocsPerRun(3, func() {
			s, err := r.Stream(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for _, err := range s.Records {
				if err != nil {
					t.Fatal(err)
				}
				n++
			}
			if n != s.Total || n < records/4 {
				t.Fatalf("%d of %d records", n, s.Total)
			}
		})
	}
	for _, raw := range []string{"", "sort=a", "sort=a&order=desc", "b=1", "b=1&sort=a", "b=1&sort=a&order=desc",
		"sort=b,-a", "sort=-c,b,a", "sort=b,c,-a", "b=1&sort=c,-a"} {
		// A chunk of records takes a closure, a record nothing.
		few, many := allocations(3_000, raw), allocations(30_000, raw)
		if many-few > 30_000/100 {
			t.Errorf("%q: %v allocations for 3,000 records, %v for 30,000", raw, few, many)
		}
	}
}

func BenchmarkStream(b *testing.B) {
	fields := []herb.Field{
		{Name: "a", Type: herb.TypeText, Searchable: true, Sortable: true, Filterable: true},
		{Name: "b", Type: herb.TypeText, Filterable: true},
	}
	all := make([]herb.Record, 100_000)
	for i := range all {
		all[i] = herb.Record{fmt.Sprintf("rose %d %s", i*7919%len(all), strings.Repeat("x", 150)), fmt.Sprint(i % 3)}
	}
	r := openBuilt(b, fields, all, segment.Options{})
	for _, raw := range []string{"", "b=1", "sort=a", "sort=a&order=desc", "b=1&sort=a", "search=rose"} {
		b.Run(raw, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if total, err := count(b, r, fields, raw); err != nil || total < 30_000 {
					b.Fatal(total, err)
				}
			}
		})
	}
}

// count reads a stream and discards it.
func count(b *testing.B, r *segment.Reader, fields []herb.Field, raw string) (n int, err error) {
	q, err := query.Parse(raw, fields)
	if err != nil {
		return 0, err
	}
	s, err := r.Stream(b.Context(), q)
	if err != nil {
		return 0, err
	}
	for _, err := range s.Records {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}
