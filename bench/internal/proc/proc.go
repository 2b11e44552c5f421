// Package proc tells what a process uses, from /proc.
package proc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// tick is the unit in which Linux tells CPU time to programs, on every architecture that Go runs on.
const tick = 10 * time.Millisecond

// CPU is the CPU time that a process has used, in itself and in the kernel.
func CPU(pid int) (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	// The name of the program is in parentheses and may hold anything; the state comes behind it as the third field.
	rest := stat[bytes.LastIndexByte(stat, ')')+1:]
	const utime, stime = 14 - 3, 15 - 3
	fields := strings.Fields(string(rest))
	if len(fields) <= stime {
		return 0, fmt.Errorf("/proc/%d/stat has %d fields", pid, len(fields))
	}
	user, err1 := strconv.ParseInt(fields[utime], 10, 64)
	system, err2 := strconv.ParseInt(fields[stime], 10, 64)
	return time.Duration(user+system) * tick, errors.Join(err1, err2)
}

// Memory is what of a process is in memory, in bytes.
type Memory struct {
	RSS  int64 // all of it
	Anon int64 // of its own: heap and stacks
	File int64 // pages of mapped files, which the system can take back
	Peak int64 // the most that RSS has been
}

// MemoryOf reads the memory of a process.
func MemoryOf(pid int) (Memory, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return Memory{}, err
	}
	var m Memory
	entries := map[string]*int64{"VmRSS": &m.RSS, "RssAnon": &m.Anon, "RssFile": &m.File, "VmHWM": &m.Peak}
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(line, ":")
		if entry, ok := entries[name]; ok {
			kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			if err != nil {
				return m, fmt.Errorf("reading %s of process %d: %w", name, pid, err)
			}
			*entry = kib << 10
		}
	}
	return m, nil
}

// Watch looks at the memory of a process until ctx ends or the process does, and returns the most that it saw of each.
func Watch(ctx context.Context, pid int) Memory {
	var most Memory
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

// Fine is the CPU time that a process of one thread has used, to the nanosecond; CPU is right to ten milliseconds.
func Fine(pid int) (time.Duration, error) {
	schedstat, err := os.ReadFile(fmt.Sprintf("/proc/%d/schedstat", pid))
	if err != nil {
		return 0, err
	}
	running, _, _ := strings.Cut(string(schedstat), " ")
	n, err := strconv.ParseInt(running, 10, 64)
	return time.Duration(n), err
}
