package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"syscall"
	"time"

	"herbarium/bench/internal/load"
)

// process is a server that was started.
type process struct {
	name   string
	addr   string
	path   string // of the listing
	pid    int
	stop   func() error
	exited <-chan struct{}
	wait   func() error
}

// startServer runs a program that listens on an address and returns when it has answered for the first time, with the
// time that this took.
func startServer(ctx context.Context, name, path, program string, args ...string) (*process, time.Duration, error) {
	addr, err := freeAddr(ctx)
	if err != nil {
		return nil, 0, err
	}
	ctx, cancel := context.WithCancel(ctx)
	cmd := exec.CommandContext(ctx, program, append(args, "--addr", addr)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 20 * time.Second // then it is killed
	began := time.Now()
	if err := cmd.Start(); err != nil {
		cancel()
		return nil, 0, err
	}
	exited := make(chan struct{})
	var failure error
	go func() {
		failure = cmd.Wait()
		close(exited)
	}()
	p := &process{name: name, addr: addr, path: path, pid: cmd.Process.Pid, exited: exited}
	p.wait = func() error {
		<-exited
		return failure
	}
	p.stop = func() error {
		cancel()
		if err := p.wait(); err != nil && !errors.Is(err, context.Canceled) {
			return fmt.Errorf("stopping %s: %w", name, err)
		}
		return nil
	}
	if err := p.awaitAnswer(ctx); err != nil {
		return nil, 0, errors.Join(fmt.Errorf("%s (%s): %w", name, cmd, err), p.stop())
	}
	return p, time.Since(began), nil
}

// awaitAnswer asks until there is an answer. A server that has bound its port and is not ready yet holds the request, so
// that the answer is seen when it comes.
func (p *process) awaitAnswer(ctx context.Context) error {
	for {
		_, err := load.Run(ctx, load.Options{Addrs: []string{p.addr}, Target: p.path})
		if !errors.Is(err, syscall.ECONNREFUSED) {
			return err
		}
		select {
		case <-p.exited:
			return errors.Join(errors.New("it ended before it answered; run it by hand to see why"), p.wait())
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Millisecond):
		}
	}
}

// freeAddr is an address on which nothing listens. Somebody may take it before it is used; then a start fails.
func freeAddr(ctx context.Context) (string, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// runProgram runs a program to its end, with watch looking on.
func runProgram(ctx context.Context, watch func(ctx context.Context, pid int), program string, args ...string) (*os.ProcessState, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	watching, done := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		watch(watching, cmd.Process.Pid)
	}()
	err := cmd.Wait()
	done()
	<-watched
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", cmd, err, output.Bytes())
	}
	return cmd.ProcessState, nil
}
