package main

import (
	"context"
	"errors"
	"flag"
	"net/http"
	"time"

	"herbarium/bench/peer"
)

// peerCommand is the first argument of this program when it runs as one of the servers that Herbarium is compared with.
const peerCommand = "peer"

// servePeer serves the records of a database, or a constant body.
func servePeer(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet(peerCommand, flag.ExitOnError)
	db := flags.String("db", "", "`file` of the database to serve")
	size := flags.Int("constant", 0, "serve a body of that many `bytes` instead of a database")
	addr := flags.String("addr", "127.0.0.1:8081", "`host:port` to listen on")
	if err := flags.Parse(args); err != nil {
		return err
	}
	s := &http.Server{Addr: *addr, Handler: peer.Constant(*size), ReadHeaderTimeout: 10 * time.Second}
	if *db != "" {
		records, err := peer.Open(ctx, *db)
		if err != nil {
			return err
		}
		defer records.Close()
		s.Handler = records
	}
	defer context.AfterFunc(ctx, func() { _ = s.Close() })()
	if err := s.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
