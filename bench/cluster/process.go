//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"testing"

	"herbarium/internal/must"
	"herbarium/internal/programtest"
)

// node is a running node.
type node struct {
	*programtest.Process
	addr string
}

// startNode starts a node with an empty folder and waits until it is ready. It is killed when the
// test ends.
func (c *cluster) startNode(t testing.TB) *node {
	t.Helper()
	addr, err := programtest.FreeAddr()
	must.NoError(t, err)
	cmd := exec.Command(c.program, "serve")
	cmd.Env = append(c.env[:len(c.env):len(c.env)], "HERBARIUM_ADDR="+addr, "HERBARIUM_DATA="+c.folder(t))
	n := &node{addr: addr}
	n.Process, err = programtest.StartQuiet(cmd)
	must.NoError(t, err)
	t.Cleanup(n.Kill)
	must.NoError(t, n.await(t.Context(), "/readyz",
		func(r programtest.Response) bool { return r.Status == http.StatusOK }))
	return n
}

// await repeats a request until accept returns true for the response.
func (n *node) await(ctx context.Context, target string, accept func(programtest.Response) bool) error {
	return n.Wait(ctx, func(ctx context.Context) error {
		resp, err := programtest.Send(ctx, http.DefaultClient, http.MethodGet, "http://"+n.addr+target, "")
		if err == nil && !accept(resp) {
			err = fmt.Errorf("status %d", resp.Status)
		}
		return err
	})
}

// run runs a command of the program to its end and returns its output.
func (c *cluster) run(t testing.TB, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), c.program, args...)
	cmd.Env = append(c.env[:len(c.env):len(c.env)], "HERBARIUM_DATA="+c.folder(t))
	out, err := cmd.Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("%w: %s", err, failed.Stderr)
	}
	must.NoError(t, err)
	return string(out)
}

// folder makes a folder that is removed with all others at the end.
func (c *cluster) folder(t testing.TB) string {
	t.Helper()
	folder, err := os.MkdirTemp(c.scratch, "node-")
	must.NoError(t, err)
	return folder
}
