//go:build linux

// Program cluster measures several nodes on one PostgreSQL server and one S3 server, and writes a
// page such as bench/CLUSTER.md. `make bench-cluster` runs it.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"herbarium/bench/internal/program"
	"herbarium/internal/must"
)

func main() {
	out := flag.String("out", "", "`file` to write")
	records := flag.Int("records", 100_000, "`number` of records")
	seconds := flag.Float64("seconds", 2, "`time` for each figure")
	flag.Parse()
	if *out == "" || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "usage: go run ./bench/cluster -out FILE [-records NUMBER] [-seconds TIME]")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := program.Run(ctx, os.Stdout, func(t testing.TB) {
		write(t, *out, settings{
			records: *records, small: 1000, seconds: *seconds, idle: 10 * time.Second, publishes: 5, fetches: 3,
			callers: []int{1, 16, 256},
		})
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// write measures a cluster and writes a page of all figures.
func write(t testing.TB, path string, s settings) {
	measured := measure(t, s)
	must.NoError(t, measured.report().Write(t.Context(), path))
	must.NoError(t, measured.check(s))
}
