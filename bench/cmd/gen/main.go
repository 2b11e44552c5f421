// Command gen writes a file of made-up records to measure with.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"herbarium/bench/gen"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("gen", flag.ExitOnError)
	n := flags.Int("n", 10_000, "`number` of records")
	seed := flags.Uint64("seed", 1, "`number` that decides what is in them")
	out := flags.String("o", "", "`file` to write; empty: standard output")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *out == "" {
		return gen.New(*seed).WriteCSV(ctx, stdout, *n)
	}
	f, err := os.Create(*out)
	if err != nil {
		return err
	}
	return errors.Join(gen.New(*seed).WriteCSV(ctx, f, *n), f.Close())
}
