package programtest

import (
	"context"
	"time"

	"github.com/prometheus/procfs"
)

// CPU returns the processor time that a process has used, with that of its children that have
// ended. It needs Linux.
func CPU(pid int) (time.Duration, error) {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return 0, err
	}
	s, err := p.Stat()
	return CPUOf(s), err
}

// CPUOf is CPU for a process whose state is known.
func CPUOf(s procfs.ProcStat) time.Duration {
	const tick = time.Second / 100 // on every architecture
	return time.Duration(int(s.UTime+s.STime)+s.CUTime+s.CSTime) * tick
}

// MachineCPU returns the processor time that all processes of the machine have used, and the time
// that was available to them, on all processors. It needs Linux.
func MachineCPU() (used, available time.Duration, err error) {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return 0, 0, err
	}
	s, err := fs.Stat()
	if err != nil {
		return 0, 0, err
	}
	c := s.CPUTotal
	busy := c.User + c.Nice + c.System + c.IRQ + c.SoftIRQ + c.Steal
	seconds := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
	return seconds(busy), seconds(busy + c.Idle + c.Iowait), nil
}

// Memory is the resident memory of a process in bytes.
type Memory struct {
	RSS  int64 // total
	Anon int64 // heap and stacks
	File int64 // pages of mapped files, which the system can reclaim
	Peak int64 // maximum of RSS
}

// MemoryOf returns the memory of a process. It needs Linux.
func MemoryOf(pid int) (Memory, error) {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return Memory{}, err
	}
	s, err := p.NewStatus()
	return Memory{RSS: int64(s.VmRSS), Anon: int64(s.RssAnon), File: int64(s.RssFile), Peak: int64(s.VmHWM)}, err
}

// WatchMemory samples the memory of a process until ctx or the process ends, and returns the
// maximum of each value.
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
