//go:build linux

package main

import (
	"path/filepath"
	"testing"
	"time"

	"herbarium/internal/testseed"
)

// TestWrite measures everything once, with little data.
func TestWrite(t *testing.T) {
	if !testseed.Soak() {
		t.Skip("only soak runs start a whole cluster; run `make soak`")
	}
	write(t, filepath.Join(t.TempDir(), "CLUSTER.md"), settings{
		records: 300, small: 10, seconds: 0.03, idle: 10 * time.Millisecond, publishes: 1, fetches: 1,
		callers: []int{1, 4},
	})
}
