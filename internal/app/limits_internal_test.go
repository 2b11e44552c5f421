package app

import (
	"testing"
	"testing/fstest"

	"herbarium/internal/admission"
)

func TestMachineMemory(t *testing.T) {
	t.Parallel()
	file := func(content string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(content)} }
	const meminfo = "MemTotal:       8388608 kB\nMemFree:        1000 kB\n"
	for _, tt := range []struct {
		name string
		root fstest.MapFS
		want int64
	}{
		{"unknown", fstest.MapFS{}, fallbackMemory},
		{"physical", fstest.MapFS{"proc/meminfo": file(meminfo)}, 8 << 30},
		{"unreadable", fstest.MapFS{"proc/meminfo": file("MemTotal: lots\n")}, fallbackMemory},
		{"container, version 2", fstest.MapFS{
			"proc/meminfo": file(meminfo), "sys/fs/cgroup/memory.max": file("1073741824\n"),
		}, 1 << 30},
		{"no limit, version 2", fstest.MapFS{
			"proc/meminfo": file(meminfo), "sys/fs/cgroup/memory.max": file("max\n"),
		}, 8 << 30},
		{"limit of a parent, version 2", fstest.MapFS{
			"proc/meminfo":                          file(meminfo),
			"proc/self/cgroup":                      file("0::/system.slice/herbarium.service\n"),
			"sys/fs/cgroup/system.slice/memory.max": file("2147483648\n"),
			"sys/fs/cgroup/system.slice/herbarium.service/memory.max": file("max\n"),
		}, 2 << 30},
		{"version 1", fstest.MapFS{
			"proc/meminfo":     file(meminfo),
			"proc/self/cgroup": file("5:cpu:/a\n4:memory:/docker/x\n"),
			"sys/fs/cgroup/memory/docker/x/memory.limit_in_bytes": file("536870912\n"),
		}, 512 << 20},
		{"no limit, version 1", fstest.MapFS{
			"proc/meminfo": file(meminfo), "sys/fs/cgroup/memory/memory.limit_in_bytes": file("9223372036854771712\n"),
		}, 8 << 30},
	} {
		if got := machineMemory(tt.root); got != tt.want {
			t.Errorf("%s: got %d bytes, want %d", tt.name, got, tt.want)
		}
	}
}

func TestMaxConnections(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		descriptors int
		memory      int64
		want        int
	}{
		{0, 1 << 30, 8192}, {256, 1 << 30, 128}, {1024, 256 << 20, 768}, {1 << 20, 256 << 20, 2048},
		{1 << 20, 1 << 40, 917504},
	} {
		if got := maxConnections(tt.descriptors, tt.memory); got != tt.want {
			t.Errorf("%d descriptors and %d bytes allow %d connections, want %d", tt.descriptors, tt.memory,
				got, tt.want)
		}
	}
}

// TestLimits checks that configured lanes have the configured size and the others one that is
// computed.
func TestLimits(t *testing.T) {
	t.Parallel()
	c := DefaultConfig()
	c.Memory = 8 << 30
	computed := c.limits()
	if got := computed[admission.Cheap].Slots; got != c.MaxInFlight {
		t.Errorf("lane cheap has %d slots, want max_in_flight (%d)", got, c.MaxInFlight)
	}
	c.MaxInFlight, c.MaxExpensive, c.MaxExports, c.MaxWrites = 7, 8, 9, 10
	configured := c.limits()
	for lane, want := range map[admission.Lane]int{
		admission.Cheap: 7, admission.Expensive: 8, admission.Bulk: 9, admission.Write: 10,
	} {
		if got := configured[lane].Slots; got != want {
			t.Errorf("lane %s has %d slots, want %d", lane, got, want)
		}
		if computed[lane].Slots < 1 {
			t.Errorf("lane %s has no slots", lane)
		}
	}
}
