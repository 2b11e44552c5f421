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
	db := flag.String("db", "", "`file` of the database to serve")
	size := flag.Int("floor", 0, "serve a constant of that many `bytes` instead of a database")
	addr := flag.String("addr", "127.0.0.1:8081", "`host:port` to listen on")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *addr, *db, *size); err != nil {
		fmt.Fprintln(os.Stderr, "peer:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, addr, db string, size int) error {
	if size > 0 {
		return serve(ctx, addr, peer.Constant(size))
	}
	s, err := peer.Open(ctx, db)
	if err != nil {
		return err
	}
	return errors.Join(serve(ctx, addr, s), s.Close())
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
