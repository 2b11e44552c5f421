package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"time"

	"herbarium/bench/internal/load"
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
