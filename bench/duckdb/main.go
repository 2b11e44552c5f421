//go:build linux

// Program duckdb compares aggregates with those of DuckDB over the same records, and writes a page
// such as bench/AGGREGATES.md. `make bench` runs it.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"herbarium/bench/gen"
	"herbarium/bench/internal/program"
	"herbarium/bench/internal/report"
	"herbarium/internal/ingest"
	"herbarium/internal/must"
	"herbarium/internal/query"
	"herbarium/internal/segment"
)

// settings are those of a run.
type settings struct {
	records int
	runs    int    // of each shape
	data    string // folder for the records, which a later run can use again
	tools   string // folder of measure.mjs
}

func main() {
	out := flag.String("out", "", "`file` to write")
	s := settings{}
	flag.IntVar(&s.records, "records", 1_000_000, "`number` of records")
	flag.IntVar(&s.runs, "runs", 7, "`number` of runs of each shape")
	flag.StringVar(&s.data, "data", "bench/data", "`folder` for the records, which a later run can use again")
	flag.StringVar(&s.tools, "tools", "tools/duckdb", "`folder` of DuckDB")
	flag.Parse()
	if *out == "" || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "usage: go run ./bench/duckdb -out FILE [-records NUMBER] [-runs NUMBER] [-data FOLDER]")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := program.Run(ctx, os.Stdout, func(t testing.TB) { write(t, *out, s) })
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// write measures both and writes a page of all figures. It fails if a result differs.
func write(t testing.TB, path string, s settings) {
	csv, err := gen.File(t.Context(), s.data, 1, s.records)
	must.NoError(t, err)
	theirs, err := measureDuckDB(t.Context(), csv, s)
	must.NoError(t, err)
	ours := measureHerbarium(t, csv, s)
	page := report.Report{
		Title: "Aggregates",
		Text: fmt.Sprintf("Processor time of aggregates over %d records, in Herbarium and in DuckDB with one thread "+
			"over a Parquet file of the same "+
			"records: the fastest of %d runs. Both results are compared. *ratio* is the time of Herbarium divided by "+
			"that of DuckDB.", s.records, s.runs),
	}
	for i, shape := range shapes() {
		if err := compareRows(ours[i].rows, theirs[i].rows); err != nil {
			t.Errorf("%s: %v", shape.name, err)
		}
		page.Add("Aggregate/shape="+shape.name, s.runs, report.Nanoseconds(ours[i].cpu, "herbarium-cpu-ns"),
			report.Nanoseconds(theirs[i].cpu, "duckdb-cpu-ns"),
			report.Value{Number: float64(ours[i].cpu) / float64(theirs[i].cpu), Unit: "ratio"})
	}
	must.NoError(t, page.Write(t.Context(), path))
}

// answer is the result of a shape and the processor time that it takes.
type answer struct {
	cpu  time.Duration
	rows [][]string
}

// measureHerbarium measures a segment of the records.
func measureHerbarium(t testing.TB, csv string, s settings) (answers []answer) {
	table, err := ingest.Inspect(t.Context(), ingest.Source{Path: csv}, ingest.Options{})
	must.NoError(t, err)
	fields := table.Dataset.Fields
	file := filepath.Join(t.TempDir(), "records.segment")
	_, err = segment.Create(t.Context(), file, fields, table.Records(t.Context()), segment.Options{})
	must.NoError(t, err)
	r, err := segment.Open(file)
	must.NoError(t, err)
	defer func() { must.NoError(t, r.Release()) }()
	for _, shape := range shapes() {
		req, err := query.ParseAggregate(shape.query, fields)
		must.NoError(t, err)
		a := answer{}
		for range s.runs {
			before := cpuTime(t)
			result, err := r.Aggregate(t.Context(), req)
			must.NoError(t, err)
			a.cpu = cmp.Or(min(cmp.Or(a.cpu, time.Hour), cpuTime(t)-before), 1)
			_, a.rows = req.Table(result)
		}
		answers = append(answers, a)
	}
	return answers
}

// cpuTime returns the processor time of this process.
func cpuTime(t testing.TB) time.Duration {
	var u syscall.Rusage
	must.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// compareRows returns an error if two results differ, in whatever order.
func compareRows(ours, theirs [][]string) error {
	if len(ours) != len(theirs) {
		return fmt.Errorf("%d rows; DuckDB has %d", len(ours), len(theirs))
	}
	for _, rows := range [][][]string{ours, theirs} {
		slices.SortFunc(rows, slices.Compare)
	}
	for i := range ours {
		if !slices.EqualFunc(ours[i], theirs[i], equal) {
			return fmt.Errorf("%q; DuckDB has %q", ours[i], theirs[i])
		}
	}
	return nil
}
