package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"time"

	"herbarium/bench/internal/load"
	"herbarium/bench/peer"
	"herbarium/bench/shapes"
	"herbarium/internal/programtest"
)

// process is a server that was started.
type process struct {
	*programtest.Process
	name string
	addr string
}

// startServer starts a program that listens on an address, and returns when it has answered for the first time, with the
// time that this took.
func startServer(ctx context.Context, name, program string, args ...string) (*process, time.Duration, error) {
	addr, err := programtest.FreeAddr()
	if err != nil {
		return nil, 0, err
	}
	start := time.Now()
	running, err := programtest.StartQuiet(exec.Command(program, append(args, "--addr", addr)...))
	if err != nil {
		return nil, 0, err
	}
	p := &process{running, name, addr}
	if err := p.Wait(ctx, func(ctx context.Context) error {
		_, err := load.Run(ctx, load.Options{Addrs: []string{addr}, Target: target(shapes.Shape{})})
		return err
	}); err != nil {
		p.Kill()
		return nil, 0, fmt.Errorf("start %s: %w", name, err)
	}
	return p, time.Since(start), nil
}

// runProgram runs a program to its end, and returns its state and the maximum of its memory.
func runProgram(ctx context.Context, program string, args ...string) (_ *os.ProcessState, m programtest.Memory, err error) {
	cmd := exec.CommandContext(ctx, program, args...)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		return nil, m, err
	}
	watched := make(chan struct{})
	watching, stop := context.WithCancel(ctx)
	go func() {
		m = programtest.WatchMemory(watching, cmd.Process.Pid)
		close(watched)
	}()
	err = cmd.Wait()
	stop()
	<-watched
	if err != nil {
		err = fmt.Errorf("%s: %w\n%s", cmd, err, output.Bytes())
	}
	return cmd.ProcessState, m, err
}

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
