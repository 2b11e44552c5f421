package app

import (
	"runtime/debug"
	"testing"
)

// TestStartGCHeadroom checks that the headroom is a share of the memory, that the memory limit does
// not count it, and that the environment takes precedence. It is not parallel, because a process
// has one memory limit.
func TestStartGCHeadroom(t *testing.T) {
	const limit = 1 << 30
	tests := []struct {
		name     string
		variable string
		memory   int64
		want     int64
	}{
		{"at most 64 MiB", "", 4 << 30, 64 << 20},
		{"share of a small memory", "", 256 << 20, 16 << 20},
		{"GOGC", "GOGC", 4 << 30, 0},
		{"GOMEMLIMIT", "GOMEMLIMIT", 4 << 30, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("GOGC", "")
			t.Setenv("GOMEMLIMIT", "")
			if tt.variable != "" {
				t.Setenv(tt.variable, "1")
			}
			defer debug.SetMemoryLimit(debug.SetMemoryLimit(limit))
			stop := startGCHeadroom(tt.memory)
			if got := debug.SetMemoryLimit(-1) - limit; got != tt.want {
				t.Errorf("memory limit raised by %d bytes, want %d", got, tt.want)
			}
			stop()
			if got := debug.SetMemoryLimit(-1); got != limit {
				t.Errorf("memory limit %d after stop, want %d", got, limit)
			}
		})
	}
}
