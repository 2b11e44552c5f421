// Command herbarium serves dataset files as listing APIs and includes a plant store.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // time zones of aggregates, also where the system has none

	"herbarium/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	code := cli.Run(ctx, os.Args[1:], cli.Terminal{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Env: os.LookupEnv,
		Environ: os.Environ})
	stop()
	os.Exit(code)
}
