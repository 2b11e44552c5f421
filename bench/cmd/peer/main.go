// Command peer serves the systems that Herbarium is compared with: the same records from SQLite, or a constant.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
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
	load := flags.String("load", "", "`file` of records to make the database of, and end")
	db := flags.String("db", "", "`file` of the database to make or to serve")
	size := flags.Int("floor", 0, "serve a constant of that many `bytes` instead of a database")
	addr := flags.String("addr", "127.0.0.1:8081", "`host:port` to listen on")
	if err := flags.Parse(args); err != nil {
		return err
	}
	switch {
	case *size > 0:
		return serve(ctx, *addr, peer.Constant(*size))
	case *db == "":
		return errors.New("give -db or -floor")
	case *load != "":
		return peer.Load(ctx, *load, *db)
	}
	s, err := peer.Open(ctx, *db)
	if err != nil {
		return err
	}
	return errors.Join(serve(ctx, *addr, s), s.Close())
}

// serve handles requests until ctx ends, and aborts those in flight.
func serve(ctx context.Context, addr string, h http.Handler) error {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	s := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	defer context.AfterFunc(ctx, func() { _ = s.Close() })()
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
