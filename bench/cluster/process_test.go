//go:build linux

package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// node is a server that was started. What it logs goes nowhere, so that writing it costs the same as for `make bench`.
type node struct {
	addr  string
	pid   int
	cmd   *exec.Cmd
	ended chan struct{}
}

// startNode starts a node with an empty folder and waits until it is ready. It ends with the test at the latest.
func (c *cluster) startNode(t testing.TB) *node {
	t.Helper()
	addr, err := freeAddr()
	check(t, err)
	n := &node{addr: addr, cmd: exec.Command(c.program, "serve"), ended: make(chan struct{})}
	n.cmd.Env = append(c.env[:len(c.env):len(c.env)], "HERBARIUM_ADDR="+addr, "HERBARIUM_DATA="+c.folder(t))
	n.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // the process would end with the thread that has started it
		err := n.cmd.Start()
		started <- err
		if err == nil {
			_ = n.cmd.Wait() // it is killed
			close(n.ended)
		}
	}()
	check(t, <-started)
	n.pid = n.cmd.Process.Pid
	t.Cleanup(n.kill)
	check(t, n.await(t.Context(), "/readyz", func(r *http.Response) bool { return r.StatusCode == http.StatusOK }))
	return n
}

func (n *node) kill() {
	_ = n.cmd.Process.Kill() // it may have ended
	<-n.ended
}

// await asks a node again and again until the answer is good.
func (n *node) await(ctx context.Context, target string, good func(*http.Response) bool) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		err := n.ask(ctx, target, good)
		if err == nil {
			return nil
		}
		select {
		case <-n.ended:
			return errors.New("a node has ended; run it by hand to see why")
		case <-ctx.Done():
			return fmt.Errorf("a node does not answer %s as it should: %w", target, err)
		case <-time.After(2 * time.Millisecond):
		}
	}
}

func (n *node) ask(ctx context.Context, target string, good func(*http.Response) bool) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+n.addr+target, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if !good(resp) {
		return errors.New(resp.Status)
	}
	return nil
}

// freeAddr is an address on which nothing listens. Somebody may take it before it is used; then a start fails.
func freeAddr() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// run runs a command of the program to its end, as on a machine beside the nodes, and returns what it prints.
func (c *cluster) run(t testing.TB, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), c.program, args...)
	cmd.Env = append(c.env[:len(c.env):len(c.env)], "HERBARIUM_DATA="+c.folder(t))
	out, err := cmd.Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("%w: %s", err, failed.Stderr)
	}
	check(t, err)
	return string(out)
}

// folder makes a folder that is removed with all others at the end.
func (c *cluster) folder(t testing.TB) string {
	t.Helper()
	folder, err := os.MkdirTemp(c.scratch, "node-")
	check(t, err)
	return folder
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
