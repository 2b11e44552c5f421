// Command peer serves the systems that Herbarium is compared with: the same records from SQLite, or a constant.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"herbarium/bench/peer"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "peer:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("peer", flag.ExitOnError)
	db := flags.String("db", "", "`file` of the database to serve")
	size := flags.Int("floor", 0, "serve a constant of that many `bytes` instead of a database")
	addr := flags.String("addr", "127.0.0.1:8081", "`host:port` to listen on")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *size > 0 {
		return serve(ctx, *addr, peer.Constant(*size))
	}
	s, err := peer.Open(ctx, *db)
	if err != nil {
		return err
	}
	return errors.Join(serve(ctx, *addr, s), s.Close())
}

// serve handles requests until ctx ends, and aborts those in flight.
func serve(ctx context.Context, addr string, h http.Handler) error {
	s := &http.Server{Addr: addr, Handler: h, ReadHeaderTimeout: 10 * time.Second}
	defer context.AfterFunc(ctx, func() { _ = s.Close() })()
	if err := s.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
