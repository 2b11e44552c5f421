//go:build linux

package serve

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os/exec"
	"testing"
	"time"

	"herbarium/bench/internal/load"
	"herbarium/bench/peer"
	"herbarium/bench/shapes"
	"herbarium/internal/must"
	"herbarium/internal/programtest"
	"herbarium/internal/query"
)

// peerCommand is the first argument of this program when it runs as one of the servers that
// Herbarium is compared with.
const peerCommand = "peer"

// servePeer serves the records of a database, or a constant body.
func servePeer(args []string) error {
	flags := flag.NewFlagSet(peerCommand, flag.ExitOnError)
	db := flags.String("db", "", "`file` of the database to serve")
	size := flags.Int("constant", 0, "serve a body of that many `bytes` instead of a database")
	addr := flags.String("addr", "", "`host:port` to listen on")
	if err := flags.Parse(args); err != nil {
		return err
	}
	s := &http.Server{Addr: *addr, Handler: peer.Constant(*size), ReadHeaderTimeout: 10 * time.Second}
	if *db != "" {
		records, err := peer.Open(context.Background(), *db)
		if err != nil {
			return err
		}
		s.Handler = records
	}
	return s.ListenAndServe()
}

// process is a server that was started.
type process struct {
	*programtest.Process
	name string
	addr string
}

// startServer starts a program that listens on an address, and returns when it has answered for the
// first time. The program is killed when the test ends.
func startServer(t *testing.T, name, program string, args ...string) *process {
	addr, err := programtest.FreeAddr()
	must.NoError(t, err)
	running, err := programtest.StartQuiet(exec.Command(program, append(args, "--addr", addr)...))
	must.NoError(t, err)
	t.Cleanup(running.Kill)
	must.NoError(t, running.Wait(t.Context(), func(ctx context.Context) error {
		_, err := load.Run(ctx, load.Options{Addrs: []string{addr}, Target: target(shapes.Shape{})})
		return err
	}))
	return &process{running, name, addr}
}

// listing is the checked part of a page.
type listing struct {
	Data []struct{ ID string }
	Meta query.Meta
	size int
}

// target returns the path and query of a shape. All servers accept it.
func target(s shapes.Shape) string { return "/api/v1/" + dataset + s.Path() + "?" + s.Query }

// fetch lists the first page of a shape, or counts its facets.
func (p *process) fetch(ctx context.Context, s shapes.Shape) (l listing, err error) {
	resp, err := programtest.Send(ctx, http.DefaultClient, http.MethodGet, "http://"+p.addr+target(s), "",
		"Accept-Encoding", "identity")
	if err == nil && resp.Status != http.StatusOK {
		err = fmt.Errorf("status %d", resp.Status)
	}
	if err == nil {
		err = json.Unmarshal([]byte(resp.Body), &l)
	}
	if err != nil {
		return l, fmt.Errorf("%s answers %q with %.500s: %w", p.name, s.Query, resp.Body, err)
	}
	l.size = len(resp.Body)
	return l, nil
}
