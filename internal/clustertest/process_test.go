//go:build linux

// Package clustertest runs complete clusters: node processes behind a proxy, a PostgreSQL server with a standby, and an S3
// server.
package clustertest

import (
	"context"
	"testing"

	"herbarium/internal/programtest"
)

// herbarium is the path of the program.
var herbarium string

func TestMain(m *testing.M) { programtest.Main(m, &herbarium) }

// killAfter kills a process when the test ends, and logs its output if the test has failed.
func killAfter(t *testing.T, p *programtest.Process) {
	t.Cleanup(func() {
		p.Kill()
		if t.Failed() {
			t.Logf("output of process %d:\n%s", p.PID(), tail(p.Output()))
		}
	})
}

// stopNode stops a node and expects that it ends in order.
func stopNode(t *testing.T, n *node) {
	t.Helper()
	if err := n.Stop(); err != nil {
		t.Error(err)
	}
}

// tail returns the end of a log.
func tail(s string) string { return s[max(0, len(s)-8<<10):] }

// eventually waits until a check succeeds.
func eventually(t *testing.T, what string, check func(context.Context) error) {
	t.Helper()
	if err := programtest.Eventually(t.Context(), check); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}
