//go:build unix

package column_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/build"
	"herbarium/internal/segment/internal/buildtest"
	"herbarium/internal/segment/internal/column"
	"herbarium/internal/segment/internal/cost"
	"herbarium/internal/segment/internal/fulltext"
	"herbarium/internal/segment/internal/guard"
	"herbarium/internal/segment/internal/plan"
)

// costData is a segment for the calibration of the cost model.
type costData struct {
	columns []column.Column
	words   *fulltext.Index
	pool    *bitmap.Pool
	steps   *guard.Steps
	records []uint32    // a random selection, ascending
	half    *bitmap.Set // random half of the records
}

func costFields() []herb.Field {
	return []herb.Field{
		{Name: "number", Type: herb.TypeNumber, Filterable: true, Sortable: true},
		{Name: "kind", Type: herb.TypeText, Filterable: true, Sortable: true},
		{Name: "tags", Type: herb.TypeList, Filterable: true},
		{Name: "title", Type: herb.TypeText, Searchable: true},
		{Name: "text", Type: herb.TypeText, Searchable: true},
		{Name: "name", Type: herb.TypeText, Filterable: true, Sortable: true},
	}
}

func newCostData(b *testing.B, n int) *costData {
	g := rand.New(rand.NewPCG(1, 2))
	word := func() string { return fmt.Sprintf("w%d", min(g.IntN(5000), g.IntN(5000))) }
	words := func(n int) string {
		all := make([]string, n)
		for i := range all {
			all[i] = word()
		}
		return strings.Join(all, " ")
	}
	f := buildtest.Open(b, costFields(), n, func(i int) herb.Record {
		tags := fmt.Sprintf("t%d,t%d,t%d", g.IntN(1000), g.IntN(1000), g.IntN(1000))
		return herb.Record{fmt.Sprint(g.IntN(n)), fmt.Sprintf("kind %d", g.IntN(20)), tags, words(4), words(30),
			fmt.Sprintf("name %d", g.IntN(n/4))}
	}, build.Options{Indexes: build.IndexRules{MinRecords: n + 1}})
	d := &costData{pool: &bitmap.Pool{Records: n}, steps: guard.NewSteps(b.Context())}
	records, err := column.OpenRecords(f)
	if err == nil {
		d.words, err = fulltext.Open(f, d.pool)
	}
	if err != nil {
		b.Fatal(err)
	}
	d.columns = make([]column.Column, len(costFields()))
	for i := range d.columns {
		d.columns[i], err = column.Open(f, records, d.pool, i)
		if err != nil {
			b.Fatal(err)
		}
	}
	var half []uint32
	for rec := range uint32(n) {
		if g.IntN(2) == 0 {
			half = append(half, rec)
		}
		if g.IntN(100) == 0 {
			d.records = append(d.records, rec)
		}
	}
	d.half = bitmap.ListSet(d.pool, half)
	return d
}

// term returns the first condition of a query.
func (d *costData) term(b *testing.B, raw string) plan.Condition {
	q, err := query.Parse(raw, costFields())
	if err != nil {
		b.Fatal(err)
	}
	if q.Search != nil {
		return d.words.Clause(d.steps, q.Search.Clauses[0])
	}
	if c := q.Conditions[0]; c.Op != query.OpMatch {
		return d.columns[c.Field].Term(d.steps, c).Condition
	}
	return d.words.Match(d.steps, q.Conditions[0])[0].Condition
}

// test tests the selected records.
func (d *costData) test(c plan.Condition) (units float64) {
	for _, rec := range d.records {
		c.Contains(rec)
	}
	return float64(len(d.records))
}

// fill fills a condition.
func (d *costData) fill(c plan.Condition) {
	builder := bitmap.NewBuilder(d.pool)
	c.Fill(d.steps, builder)
	builder.Set(d.steps).Release()
}

// processTime returns the CPU time of the process in nanoseconds, which other processes disturb
// less than elapsed time.
func processTime(b *testing.B) int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

// BenchmarkCosts measures the times of the cost model. For each, it prints the time of the model
// and the measured one, in nanoseconds of CPU time.
func BenchmarkCosts(b *testing.B) {
	const n = 500_000
	d := newCostData(b, n)
	numbers, kinds, tags, names := &d.columns[0], &d.columns[1], &d.columns[2], &d.columns[5]
	dense := d.half.Dense(d.steps)
	stored := func(raw string) bitmap.EncodedSet {
		set, ok := d.term(b, raw).(interface {
			StoredSet() (bitmap.EncodedSet, bool)
		}).StoredSet()
		if !ok {
			b.Fatalf("%s has no stored set", raw)
		}
		return set
	}
	kind, word := stored("kind=kind 7"), d.term(b, "search=w7")
	low := d.term(b, "number[lt]=20000")
	wide := d.term(b, "number[lt]=400000")
	scratch := bitmap.NewBits((n>>16 + 1) * bitmap.ContainerMembers)
	run := func(c *column.Column, counter string) (runs int) {
		c.CountRuns(d.steps, counter, 1, d.half, func(int, int) { runs++ })
		return runs
	}
	for _, c := range []struct {
		name  string
		model float64
		work  func() (units float64) // does some work and returns how many units of the operation it is
	}{
		{"StoredContains", cost.StoredContains, func() float64 { return d.test(word) }},
		{"RankContains", cost.RankContains, func() float64 { return d.test(low) }},
		{"ReadValue", cost.ReadValue, func() float64 {
			for i := range 10_000 {
				names.RunValue(i)
			}
			return 10_000
		}},
		{"SearchElements", cost.SearchElements, func() float64 { return d.test(d.term(b, "tags[gte]=t5")) }},
		{"ExamineRecord", float64(cost.ExamineRecord + 34*cost.ExamineWord),
			func() float64 { return d.test(d.term(b, "search=w1*")) }},
		{"SortedRow", cost.SortedRow, func() float64 { d.fill(low); return float64(low.Cost().Records) }},
		{"FillByte", cost.FillByte, func() float64 { kind.AddTo(d.steps, scratch); return float64(len(kind)) }},
		{"LeadingRecord", cost.LeadingRecord, func() float64 { d.fill(wide); return n }},
		{"BitsRecord", cost.BitsRecord,
			func() float64 { clear(scratch); scratch.Or(dense); scratch.And(dense); return n }},
		{"CountByte", cost.CountByte, func() float64 { kind.CountIn(d.steps, dense); return float64(len(kind)) }},
		{"CountRun and CountRank", float64(cost.CountRun) + 4*cost.CountRank,
			func() float64 { run(names, "sets"); return float64(names.Distinct()) }},
		{"MarkRank", cost.MarkRank, func() float64 { run(kinds, "marks"); return n / 2 }},
		{"CountMarkedRun", cost.CountMarkedRun + 2*cost.MarkRank,
			func() float64 { run(numbers, "marks"); return float64(numbers.Distinct()) }},
		{"CountElement", cost.CountElement, func() float64 { tags.TopElements(d.steps, d.half, 5); return 3 * n / 2 }},
	} {
		b.Run(c.name, func(b *testing.B) {
			units, before := 0.0, processTime(b)
			for b.Loop() {
				units += c.work()
			}
			b.ReportMetric(float64(processTime(b)-before)/units, "measured-ns")
			b.ReportMetric(c.model, "model-ns")
		})
	}
}
