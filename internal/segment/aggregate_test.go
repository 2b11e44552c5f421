package segment_test

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/query"
	"herbarium/internal/segment"
	"herbarium/internal/segment/segmenttest"
	"herbarium/internal/text"
)

func parseAggregate(t *testing.T, raw string, fields []herb.Field) *query.AggregateRequest {
	t.Helper()
	q, err := query.ParseAggregate(raw, fields)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// TestAggregate_memory checks that the memory of an aggregate is reserved and released, and that
// the query fails if the server has none.
func TestAggregate_memory(t *testing.T) {
	t.Parallel()
	r := openCancelSegment(t)
	for _, tt := range []struct {
		raw   string
		least int // bytes for each record
	}{
		{"_by=name", 64},
		{"_by=name&_measure=median:size&_measure=mean:number", 64 + 40},
		{"_by=name&_sort=-median:size", 64 + 40},
		{"_by=tags&_by=number&_measure=distinct:tags", 2 * 64},
	} {
		q := parseAggregate(t, tt.raw, cancelFields())
		var p segmenttest.Pacer
		if _, err := r.Aggregate(query.WithPacer(t.Context(), &p), q); err != nil || p.Peak < tt.least*cancelRecords ||
			p.Held != 0 {
			t.Errorf("%s: reserved %d bytes, %d after the query, error %v; want at least %d", tt.raw, p.Peak, p.Held,
				err, tt.least*cancelRecords)
		}
		full := segmenttest.Pacer{Full: errors.New("no memory")}
		if _, err := r.Aggregate(query.WithPacer(t.Context(), &full), q); !errors.Is(err, full.Full) {
			t.Errorf("%s: %v; want %v", tt.raw, err, full.Full)
		}
	}
}

// TestAggregate_combinations rejects measures of more combinations of elements than are held in
// memory. Counting them needs no memory.
func TestAggregate_combinations(t *testing.T) {
	t.Parallel()
	fields := []herb.Field{
		{Name: "a", Type: herb.TypeList, Filterable: true}, {Name: "b", Type: herb.TypeList, Filterable: true},
		{Name: "n", Type: herb.TypeNumber, Filterable: true},
	}
	elements := make([]string, 100)
	for i := range elements {
		elements[i] = fmt.Sprint("e", i)
	}
	list := strings.Join(elements, ",")
	r := openBuilt(t, fields, slices.Repeat([]herb.Record{{list, list, "1"}}, 900), segment.Options{FS: unsynced{}})
	for raw, want := range map[string]string{
		"_by=a&_by=b": "", "_by=a&_measure=sum:n": "", "_by=a&_by=b&_measure=sum:n": "combination",
		"_by=a&_by=b&_measure=distinct:a": "combination",
	} {
		_, err := r.Aggregate(t.Context(), parseAggregate(t, raw, fields))
		if want == "" && err != nil || want != "" &&
			(herb.CodeOf(err) != herb.CodeInvalid || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v; want %q", raw, err, want)
		}
	}
}

// TestAggregate_longNumbers adds numbers of up to the maximum number of digits exactly, and rejects
// the sum of longer ones, which segments of earlier releases may have.
func TestAggregate_longNumbers(t *testing.T) {
	t.Parallel()
	fields := []herb.Field{{Name: "n", Type: herb.TypeNumber, Filterable: true}}
	whole, fraction := strings.Repeat("9", 1000), "0."+strings.Repeat("7", 999)
	exact, _ := new(big.Rat).SetString(whole)
	for _, v := range []string{fraction, "-3", "0.25"} {
		n, _ := new(big.Rat).SetString(v)
		exact.Add(exact, n)
	}
	const measures = "_measure=sum:n&_measure=min:n&_measure=count"
	for _, tt := range []struct {
		name   string
		values []string
		raw    string
		want   []string // nil: rejected
	}{
		{"within the limit", []string{whole, fraction, "-3", "0.25"}, measures,
			[]string{exact.FloatString(999), "-3", "4"}},
		{"one value", []string{whole}, "_measure=median:n&_measure=max:n", []string{whole, whole}},
		{"more decimals than 16 bits", []string{"1", "0." + strings.Repeat("1", 70_000)}, measures, nil},
		{"more digits", []string{"1", whole + "0"}, "_measure=mean:n", nil},
		{
			"ratio and deviation", []string{whole, "-" + whole}, "_measure=ratio:n/n&_measure=stddev:n&n[gt]=0",
			[]string{"1", ""},
		},
		{"deviation", []string{whole, "-" + whole}, "_measure=stddev:n",
			[]string{"141421356237310" + strings.Repeat("0", 986)}},
		{"deviation of decimals", []string{fraction, "0.777"}, "_measure=stddev:n", []string{"0.00054997194092287"}},
		{"deviation of more digits", []string{"1", whole + "0"}, "_measure=stddev:n", nil},
		{"ratio of more digits", []string{"1", whole + "0"}, "_measure=ratio:n/n", nil},
		{"median of more digits", []string{"1", whole + "0"}, "_measure=median:n", nil},
		{"no sum of more digits", []string{"1", whole + "0"}, "_measure=max:n&_measure=distinct:n",
			[]string{whole + "0", "2"}},
	} {
		records := make([]herb.Record, len(tt.values))
		for i, v := range tt.values {
			records[i] = herb.Record{v}
		}
		r := openBuilt(t, fields, records, segment.Options{FS: unsynced{}})
		got, err := r.Aggregate(t.Context(), parseAggregate(t, tt.raw, fields))
		switch {
		case tt.want == nil && (herb.CodeOf(err) != herb.CodeInvalid ||
			!strings.Contains(err.Error(), "more than 1000 digits")):
			t.Errorf("%s: %v", tt.name, err)
		case tt.want != nil && (err != nil || !slices.Equal(got.Rows[0].Values, tt.want)):
			t.Errorf("%s: %v, %v", tt.name, got.Rows, err)
		}
	}
}

// TestAggregate_resultSize rejects a result whose values are too large to return.
func TestAggregate_resultSize(t *testing.T) {
	t.Parallel()
	fields := []herb.Field{{Name: "id", Type: herb.TypeNumber, Filterable: true},
		{Name: "text", Type: herb.TypeText, Filterable: true}}
	records := make([]herb.Record, 20)
	for i := range records {
		records[i] = herb.Record{fmt.Sprint(i), fmt.Sprint(i) + strings.Repeat("x", 1<<20)}
	}
	r := openBuilt(t, fields, records, segment.Options{FS: unsynced{}})
	for raw, want := range map[string]herb.Code{"_by=id&_measure=max:text": herb.CodeInvalid,
		"_by=id&_measure=max:text&_top=10": herb.CodeOf(nil)} {
		if _, err := r.Aggregate(t.Context(), parseAggregate(t, raw, fields)); herb.CodeOf(err) != want {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

// TestAggregate_unusedZone rejects a zone if no value of the grouped fields has one, also if no
// record matches.
func TestAggregate_unusedZone(t *testing.T) {
	t.Parallel()
	fields := []herb.Field{{Name: "at", Type: herb.TypeDateTime, Filterable: true},
		{Name: "local", Type: herb.TypeDateTime, Filterable: true}}
	r := openBuilt(t, fields, []herb.Record{
		{"2024-01-01T10:00:00", "2024-01-01T10:00:00"}, {"2024-07-01T23:30:00Z", "2024-07-01 00:00"}, {"", ""},
	}, segment.Options{FS: unsynced{}})
	const unused = `_zone has no effect: it applies to datetimes with a zone, and no value of "local" has one; remove it`
	for raw, want := range map[string]string{
		"_by=at:day": "", "_by=local:day": unused, "_by=local:weekday": unused,
		"_by=local:hour&local[lt]=2000-01-01": unused, "_by=local:day&_by=at:hour": "",
		"_by=at:hour_of_day&at[lt]=2000-01-01": "", "_by=local:month&_by=local:hour_of_day": unused,
	} {
		q := parseAggregate(t, raw+"&_zone=Europe/Berlin", fields)
		for range 2 { // what is known of the column is kept
			_, err := r.Aggregate(t.Context(), q)
			if (err != nil) != (want != "") || err != nil &&
				(herb.MessageOf(err) != want || herb.CodeOf(err) != herb.CodeInvalid) {
				t.Errorf("%s: %v; want %q", raw, err, want)
			}
		}
		q.AnyZone = true
		if want != "" {
			if _, err := r.Aggregate(t.Context(), q); err != nil {
				t.Errorf("%s, with any zone: %v", raw, err)
			}
		}
	}
}

// FuzzNumbers compares measures of numbers in any notation of a field with those of math/big.
func FuzzNumbers(f *testing.F) {
	for _, s := range [][3]string{
		{"1", "1.0", "-0.0"}, {"9223372036854775807", "9223372036854775807", "-1"}, {"1e400", "1e-400", "-.5"},
		{"0." + strings.Repeat("3", 999), "7", "12.50"},
		{strings.Repeat("9", 1000), "-" + strings.Repeat("9", 1000), "1"}, {"4611686018427387903", "0.1", "+2"},
		{"\u22125", " 5 ", "1e2"},
	} {
		f.Add(s[0], s[1], s[2])
	}
	fields := []herb.Field{{Name: "n", Type: herb.TypeNumber, Filterable: true}}
	f.Fuzz(func(t *testing.T, a, b, c string) {
		sum, decimals := new(big.Rat), 0
		var least, greatest *big.Rat
		var records []herb.Record
		for _, value := range []string{a, b, c} {
			canonical, status := text.AppendPublished(nil, &fields[0], []byte(value))
			if status != text.Valid || !utf8.ValidString(value) {
				return
			}
			n, _ := new(big.Rat).SetString(string(canonical))
			sum.Add(sum, n)
			if least == nil || n.Cmp(least) < 0 {
				least = n
			}
			if greatest == nil || n.Cmp(greatest) > 0 {
				greatest = n
			}
			_, fraction, _ := strings.Cut(string(canonical), ".")
			decimals = max(decimals, len(fraction))
			records = append(records, herb.Record{value})
		}
		r := openBuilt(t, fields, records, segment.Options{FS: unsynced{}})
		got, err := r.Aggregate(t.Context(),
			parseAggregate(t, "_measure=sum:n&_measure=min:n&_measure=max:n&_measure=median:n", fields))
		if err != nil {
			t.Fatal(err)
		}
		middle := new(big.Rat).Sub(new(big.Rat).Sub(sum, least), greatest)
		for i, want := range []*big.Rat{sum, least, greatest, middle} {
			value := got.Rows[0].Values[i]
			n, ok := new(big.Rat).SetString(value)
			if _, fraction, _ := strings.Cut(value, "."); !ok || n.Cmp(want) != 0 || len(fraction) > decimals {
				t.Errorf("measure %d of %q: %s; want %s", i, records, value, want.FloatString(decimals))
			}
		}
	})
}

// TestAggregate_measures computes all kinds of measures of one group, and rejects others.
func TestAggregate_measures(t *testing.T) {
	t.Parallel()
	fields := []herb.Field{{Name: "n", Type: herb.TypeNumber, Filterable: true}}
	r := openBuilt(t, fields, []herb.Record{{"2"}, {"1"}, {""}, {"15"}, {"10"}, {"2"}}, segment.Options{})
	want := map[query.MeasureKind]string{
		query.MeasureCount: "6", query.MeasureFilled: "5", query.MeasureDistinct: "4", query.MeasureSum: "30",
		query.MeasureMean:   "6",
		query.MeasureMedian: "2", query.MeasurePercentile: "10", query.MeasureMin: "1", query.MeasureMax: "15",
		query.MeasureStdDev: "6.20483682299543", query.MeasureRatio: "1",
	}
	for _, kind := range query.MeasureKinds() {
		q := parseAggregate(t, "_measure=max:n", fields)
		q.Measures[0].Kind, q.Measures[0].Percent = kind, 80
		got, err := r.Aggregate(t.Context(), q)
		if err != nil || len(got.Rows) != 1 || got.Rows[0].Values[0] != want[kind] {
			t.Errorf("%s: %+v, error %v; want %q", kind, got.Rows, err, want[kind])
		}
	}
	q := parseAggregate(t, "_measure=max:n&_measure=min:n", fields)
	q.Measures[1].Kind = "unknown"
	if got, err := r.Aggregate(t.Context(), q); err == nil {
		t.Errorf("unknown measure: %+v; want an error", got.Rows)
	}
}

// BenchmarkAggregate compares the cost of measures, and of groups by interval and by cycle.
func BenchmarkAggregate(b *testing.B) {
	fields := []herb.Field{
		{Name: "category", Type: herb.TypeText, Filterable: true},
		{Name: "at", Type: herb.TypeDateTime, Filterable: true},
		{Name: "price", Type: herb.TypeNumber, Filterable: true},
		{Name: "weight", Type: herb.TypeNumber, Filterable: true},
	}
	records := make([]herb.Record, 100_000)
	start := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range records {
		at := start.Add(time.Duration(i*7919%90_000_000) * time.Second).Format(time.DateTime)
		records[i] = herb.Record{fmt.Sprint("c", i%2000), at, fmt.Sprintf("%d.%02d", i*31%1000, i%100),
			fmt.Sprint(i * 17 % 5000)}
	}
	r := openBuilt(b, fields, records, segment.Options{FS: unsynced{}})
	for _, raw := range []string{
		"_by=category&_measure=mean:price", "_by=category&_measure=stddev:price",
		"_by=category&_measure=ratio:price/weight",
		"_by=category&_measure=mean:price&_measure=mean:weight", "_by=at:month", "_by=at:day", "_by=at:weekday",
		"_by=at:month_of_year", "_by=at:hour", "_by=at:hour_of_day",
	} {
		q, err := query.ParseAggregate(raw+"&_top=1000", fields)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(raw, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				if _, err := r.Aggregate(b.Context(), q); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestStreamGroups checks that a stream has all groups, more and longer ones than a result in
// memory, and that it holds their memory until it is released.
func TestStreamGroups(t *testing.T) {
	t.Parallel()
	const records, elements = 260, 20
	list := func(prefix string, record int) string {
		all := make([]string, elements)
		for i := range all {
			all[i] = fmt.Sprint(prefix, record, "-", i)
		}
		return strings.Join(all, ",")
	}
	fields := []herb.Field{
		{Name: "a", Type: herb.TypeList, Filterable: true}, {Name: "b", Type: herb.TypeList, Filterable: true},
		{Name: "long", Type: herb.TypeText, Filterable: true},
	}
	var all []herb.Record
	for i := range records {
		all = append(all, herb.Record{list("a", i), list("b", i), fmt.Sprint(i) + strings.Repeat("x", 80<<10)})
	}
	r := openBuilt(t, fields, all, segment.Options{FS: unsynced{}})
	for raw, rows := range map[string]int{"_by=a&_by=b": records * elements * elements,
		"_by=long&_measure=min:long&_measure=max:long": records} {
		q, err := query.Split(raw).AggregateExport(fields)
		must.NoError(t, err)
		p := &segmenttest.Pacer{}
		groups, err := r.StreamGroups(query.WithPacer(t.Context(), p), q)
		must.NoError(t, err)
		n, size := 0, 0
		for row, err := range groups.Rows {
			must.NoError(t, err)
			for _, cell := range row.Cells() {
				size += len(cell)
			}
			n++
		}
		if n != rows || groups.Len != rows || groups.Groups != rows {
			t.Errorf("%s: %d of %d rows, %d groups; want %d", raw, n, groups.Len, groups.Groups, rows)
		}
		if rows > query.MaxGroupsReturned && p.Held == 0 || rows == records && size <= query.MaxAggregateBytes {
			t.Errorf("%s: %d bytes reserved, %d bytes of texts", raw, p.Held, size)
		}
		groups.Release()
		if p.Held != 0 {
			t.Errorf("%s: %d bytes reserved after the release", raw, p.Held)
		}
	}
}
