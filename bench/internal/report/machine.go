package report

import (
	"cmp"
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
	CPU         string
	Description string
}

// ThisMachine describes this machine and the source.
func ThisMachine(ctx context.Context) (Machine, error) {
	var files [3]string
	for i, name := range []string{"cpuinfo", "meminfo", "sys/kernel/osrelease"} {
		b, err := os.ReadFile("/proc/" + name)
		if err != nil {
			return Machine{}, fmt.Errorf("benchmarks need Linux and its /proc: %w", err)
		}
		files[i] = string(b)
	}
	kib, err := strconv.ParseFloat(strings.TrimSuffix(entry(files[1], "MemTotal"), " kB"), 64)
	if err != nil {
		return Machine{}, fmt.Errorf("read the size of the memory: %w", err)
	}
	commit, err := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*").Output()
	if err != nil {
		commit = []byte("unknown") // not in a repository
	}
	cpu := cmp.Or(entry(files[0], "model name"), runtime.GOARCH)
	return Machine{cpu, fmt.Sprintf("%s, %d cores, %.1f GiB of memory, Linux %s, %s, on %s, at commit %s", cpu, runtime.NumCPU(), kib/(1<<20),
		strings.TrimSpace(files[2]), runtime.Version(), time.Now().UTC().Format("2006-01-02 15:04 MST"), strings.TrimSpace(string(commit)))}, nil
}

// entry returns the value of the first line "name : value" of a file in /proc.
func entry(file, name string) string {
	for line := range strings.Lines(file) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
