package programtest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// CPU returns the processor time that a process has used, with that of its children that have ended. It needs Linux.
func CPU(pid int) (sum time.Duration, err error) {
	fields, err := Stat(pid)
	if err != nil {
		return 0, err
	}
	const tick = time.Second / 100 // on every architecture
	for _, field := range fields[11:15] {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, err
		}
		sum += time.Duration(n) * tick
	}
	return sum, nil
}

// Stat returns the fields of /proc/PID/stat after the name, beginning with the state and the parent process.
func Stat(pid int) ([]string, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil, err
	}
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(fields) < 15 {
		return nil, fmt.Errorf("/proc/%d/stat has %d fields", pid, len(fields))
	}
	return fields, nil
}

// Memory is the resident memory of a process in bytes.
type Memory struct {
	RSS  int64 // total
	Anon int64 // heap and stacks
	File int64 // pages of mapped files, which the system can reclaim
	Peak int64 // maximum of RSS
}

// MemoryOf returns the memory of a process. It needs Linux.
func MemoryOf(pid int) (m Memory, err error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return Memory{}, err
	}
	entries := map[string]*int64{"VmRSS": &m.RSS, "RssAnon": &m.Anon, "RssFile": &m.File, "VmHWM": &m.Peak}
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(line, ":")
		if entry, ok := entries[name]; ok {
			kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			if err != nil {
				return m, fmt.Errorf("%s of process %d: %w", name, pid, err)
			}
			*entry = kib << 10
		}
	}
	return m, nil
}

// WatchMemory samples the memory of a process until ctx or the process ends, and returns the maximum of each value.
func WatchMemory(ctx context.Context, pid int) (most Memory) {
	every := time.NewTicker(5 * time.Millisecond)
	defer every.Stop()
	for {
		m, err := MemoryOf(pid)
		if err != nil {
			return most
		}
		most = Memory{max(most.RSS, m.RSS), max(most.Anon, m.Anon), max(most.File, m.File), max(most.Peak, m.Peak)}
		select {
		case <-ctx.Done():
			return most
		case <-every.C:
		}
	}
}
