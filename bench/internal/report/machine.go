package report

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// Machine describes where and when measurements were made, and of what.
type Machine struct {
	CPU    string
	Cores  int
	Memory int64
	System string
	Go     string
	Commit string
	Date   time.Time
}

// ThisMachine describes this machine and the source.
func ThisMachine(ctx context.Context) (Machine, error) {
	cpus, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return Machine{}, fmt.Errorf("measuring needs Linux and its /proc: %w", err)
	}
	memory, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return Machine{}, err
	}
	kernel, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return Machine{}, err
	}
	kib, err := strconv.ParseInt(strings.TrimSuffix(entry(string(memory), "MemTotal"), " kB"), 10, 64)
	if err != nil {
		return Machine{}, fmt.Errorf("reading the size of the memory: %w", err)
	}
	model := entry(string(cpus), "model name")
	if model == "" {
		model = runtime.GOARCH
	}
	return Machine{
		CPU:    model,
		Cores:  runtime.NumCPU(),
		Memory: kib << 10,
		System: "Linux " + strings.TrimSpace(string(kernel)),
		Go:     runtime.Version(),
		Commit: commit(ctx),
		Date:   time.Now().UTC().Truncate(time.Second),
	}, nil
}

// entry finds the first "name : value" in a file of /proc.
func entry(file, name string) string {
	for line := range strings.Lines(file) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// commit names what is measured, with a mark if there are changes that are not committed. Outside a repository nobody
// knows.
func commit(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}
