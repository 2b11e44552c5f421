package report

import (
	"context"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/prometheus/procfs"
)

// Machine describes where and when measurements were made, and of what.
type Machine struct {
	CPU         string
	Description string
}

// ThisMachine describes this machine and the source. It needs Linux.
func ThisMachine(ctx context.Context) (Machine, error) {
	proc, err := procfs.NewDefaultFS()
	if err != nil {
		return Machine{}, err
	}
	memory, err := proc.Meminfo()
	if err != nil {
		return Machine{}, err
	}
	cpu := runtime.GOARCH
	if cores, err := proc.CPUInfo(); err == nil && len(cores) > 0 && cores[0].ModelName != "" {
		cpu = cores[0].ModelName
	}
	output := func(command ...string) string {
		out, err := exec.CommandContext(ctx, command[0], command[1:]...).Output()
		if err != nil {
			return "unknown" // such as outside of a repository
		}
		return strings.TrimSpace(string(out))
	}
	return Machine{cpu, fmt.Sprintf("%s, %d cores, %.1f GiB of memory, Linux %s, %s, on %s, at commit %s",
		cpu, runtime.NumCPU(), float64(*memory.MemTotalBytes)/(1<<30), output("uname", "-r"), runtime.Version(),
		time.Now().UTC().Format("2006-01-02 15:04 MST"), output("git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"))}, nil
}
