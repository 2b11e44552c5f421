package app

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"herbarium/internal/admission"
	"herbarium/internal/library"
)

// PublishMemory is the memory limit of a command that publishes, regardless of the size of the
// files.
const PublishMemory = 448 << 20

// LimitMemory sets the soft memory limit of the Go runtime, unless GOMEMLIMIT is set.
func LimitMemory(bytes int64) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(bytes)
	}
}

// fallbackMemory is assumed where the size of the machine is unknown.
const fallbackMemory = 4 << 30

// memory returns the memory budget of a server: the setting, or half of the machine.
func (c Config) memory() int64 {
	return cmp.Or(c.Memory, machineMemory(os.DirFS("/"))/2)
}

// machineMemory returns the memory that the process may use: that of the machine, or the limit of
// its control group where that is lower. root is the root of the file system.
func machineMemory(root fs.FS) int64 {
	memory := int64(fallbackMemory)
	content, _ := fs.ReadFile(root, "proc/meminfo") // there is none on other systems
	var kib int64
	if _, err := fmt.Sscanf(string(content), "MemTotal: %d kB", &kib); err == nil && kib > 0 {
		memory = kib << 10
	}
	for _, file := range cgroupLimits(root) {
		content, _ := fs.ReadFile(root, file) // most do not exist
		// "max", which means no limit, is not a number.
		if limit, err := strconv.ParseInt(strings.TrimSpace(string(content)), 10, 64); err == nil && limit > 0 {
			memory = min(memory, limit)
		}
	}
	return memory
}

// cgroupLimits lists the files that may hold a memory limit of the process's control group or of a
// parent, for versions 1 and 2 of control groups.
func cgroupLimits(root fs.FS) []string {
	const v1, v2 = "sys/fs/cgroup/memory", "sys/fs/cgroup"
	files := []string{path.Join(v1, "memory.limit_in_bytes"), path.Join(v2, "memory.max")}
	content, _ := fs.ReadFile(root, "proc/self/cgroup") // there is none on other systems
	for line := range strings.Lines(string(content)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		base, file := v2, "memory.max"
		if parts[1] == "memory" {
			base, file = v1, "memory.limit_in_bytes"
		} else if parts[0] != "0" {
			continue
		}
		for group := path.Clean("/" + parts[2]); group != "/"; group = path.Dir(group) {
			files = append(files, path.Join(base, group, file))
		}
	}
	return files
}

// memoryPerConnection is how much memory there must be for each connection. It takes 22 KiB when it
// is idle, and up to 64 KiB while its client sends headers.
const memoryPerConnection = 128 << 10

// maxConnections returns the limit of open connections: the descriptor limit minus a reserve for
// databases, published files and publishing, and no more than there is memory for. No descriptors
// means that their limit is not known.
func maxConnections(descriptors int, memory int64) int {
	most := int(memory / memoryPerConnection)
	if descriptors == 0 {
		return most
	}
	reserve := max(256, descriptors/8)
	return min(most, max(descriptors-reserve, descriptors/2))
}

// limits returns the sizes of the lanes. Unconfigured ones depend on processors and memory.
func (c Config) limits() admission.Limits {
	l := admission.DefaultLimits(runtime.GOMAXPROCS(0), c.memory())
	for lane, slots := range map[admission.Lane]int{
		admission.Cheap: c.MaxInFlight, admission.Expensive: c.MaxExpensive,
		admission.Bulk: c.MaxExports, admission.Write: c.MaxWrites,
	} {
		l[lane].Slots = cmp.Or(slots, l[lane].Slots)
	}
	return l
}

// publishMemory returns the memory for sorting in one publish: a share of the memory, because two
// publishes run at once and each needs about three times as much.
func (c Config) publishMemory() int {
	const share, least, most = 16, 8 << 20, 128 << 20
	return int(min(max(c.memory()/share, least), most))
}

// librarySizes returns how much memory a library uses for open versions and for descriptions: a
// small share of the memory, so that a search in all datasets does not open those again that the
// last one opened.
func (c Config) librarySizes() (open, summaries int) {
	const shareOpen, shareSummaries = 32, 16
	memory := c.memory()
	return int(max(library.DefaultOpenSize, memory/shareOpen)),
		int(min(max(library.DefaultSummarySize, memory/shareSummaries), 128<<20))
}
