package app

import (
	"testing"
	"testing/fstest"
)

func TestMachineMemory(t *testing.T) {
	t.Parallel()
	file := func(content string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(content)} }
	const meminfo = "MemTotal:       8388608 kB\nMemFree:        1000 kB\n"
	tests := []struct {
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
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := machineMemory(tt.root); got != tt.want {
				t.Errorf("got %d bytes, want %d", got, tt.want)
			}
		})
	}
}
