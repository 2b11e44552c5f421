package telemetry

import (
	"bytes"
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"strconv"
	"strings"
	"time"
)

// collectRuntime adds the metrics of the Go runtime, under the names of the Prometheus client for
// Go, which dashboards expect.
func collectRuntime(_ context.Context, s *scrape) error {
	s.gauge("go_info", "Information about the Go environment.", 1, "version", runtime.Version())
	s.gauge("go_goroutines", "Number of goroutines that currently exist.", float64(runtime.NumGoroutine()))
	s.gauge("go_threads", "Number of OS threads created.", float64(pprof.Lookup("threadcreate").Count()))
	s.gauge("go_sched_gomaxprocs_threads",
		"The current runtime.GOMAXPROCS setting.", float64(runtime.GOMAXPROCS(0)))
	s.gauge("go_gc_gomemlimit_bytes",
		"Go runtime memory limit, otherwise math.MaxInt64.", float64(debug.SetMemoryLimit(-1)))
	addPauses(s)
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	for _, v := range []struct {
		name  string
		value uint64
		help  string
	}{
		{"alloc_bytes", m.Alloc, "Number of bytes allocated in heap and currently in use."},
		{"alloc_bytes_total", m.TotalAlloc,
			"Total number of bytes allocated in heap until now, even if released already."},
		{"sys_bytes", m.Sys, "Number of bytes obtained from system."},
		{"mallocs_total", m.Mallocs, "Total number of heap objects allocated."},
		{"frees_total", m.Frees, "Total number of heap objects freed."},
		{"heap_alloc_bytes", m.HeapAlloc, "Number of heap bytes allocated and currently in use."},
		{"heap_sys_bytes", m.HeapSys, "Number of heap bytes obtained from system."},
		{"heap_idle_bytes", m.HeapIdle, "Number of heap bytes waiting to be used."},
		{"heap_inuse_bytes", m.HeapInuse, "Number of heap bytes that are in use."},
		{"heap_released_bytes", m.HeapReleased, "Number of heap bytes released to OS."},
		{"heap_objects", m.HeapObjects, "Number of currently allocated objects."},
		{"stack_inuse_bytes", m.StackInuse, "Number of bytes obtained from system for stack allocator."},
		{"stack_sys_bytes", m.StackSys,
			"Number of bytes obtained from system for stack allocator, with stacks of threads."},
		{"mspan_inuse_bytes", m.MSpanInuse, "Number of bytes in use by mspan structures."},
		{"mspan_sys_bytes", m.MSpanSys, "Number of bytes used for mspan structures obtained from system."},
		{"mcache_inuse_bytes", m.MCacheInuse, "Number of bytes in use by mcache structures."},
		{"mcache_sys_bytes", m.MCacheSys, "Number of bytes used for mcache structures obtained from system."},
		{"buck_hash_sys_bytes", m.BuckHashSys, "Number of bytes used by the profiling bucket hash table."},
		{"gc_sys_bytes", m.GCSys, "Number of bytes used for garbage collection system metadata."},
		{"other_sys_bytes", m.OtherSys, "Number of bytes used for other system allocations."},
		{"next_gc_bytes", m.NextGC, "Number of heap bytes when next garbage collection will take place."},
	} {
		add := s.gauge
		if strings.HasSuffix(v.name, "_total") {
			add = s.counter
		}
		add("go_memstats_"+v.name, v.help, float64(v.value))
	}
	s.gauge("go_memstats_last_gc_time_seconds",
		"Number of seconds since 1970 of last garbage collection.", float64(m.LastGC)/1e9)
	return nil
}

// addPauses adds the summary of the pauses of garbage collections.
func addPauses(s *scrape) {
	const name = "go_gc_duration_seconds"
	pauses := debug.GCStats{PauseQuantiles: make([]time.Duration, 5)}
	debug.ReadGCStats(&pauses)
	var lines strings.Builder
	for i, q := range pauses.PauseQuantiles {
		lines.WriteString(line(name, encodeLabels("quantile", formatValue(float64(i)/4)), q.Seconds()))
	}
	lines.WriteString(line(name+"_sum", "", pauses.PauseTotal.Seconds()))
	lines.WriteString(line(name+"_count", "", float64(pauses.NumGC)))
	s.add(summaryKind, name, "A summary of the wall-time pause (stop-the-world) duration in garbage collection cycles.",
		series{"", lines.String()})
}

// collectProcess returns a collector of the metrics of the process, which started at a time. Most
// of them are absent on systems other than Linux.
func collectProcess(started time.Time) collector {
	return func(_ context.Context, s *scrape) error {
		s.gauge("process_start_time_seconds",
			"Start time of the process since unix epoch in seconds.", float64(started.UnixMilli())/1000)
		if open, err := os.ReadDir("/proc/self/fd"); err == nil {
			s.gauge("process_open_fds",
				"Number of open file descriptors.", float64(len(open)-1)) // one is that of the folder
		}
		limits, _ := os.ReadFile("/proc/self/limits")
		if _, limit, ok := bytes.Cut(limits, []byte("\nMax open files ")); ok {
			if soft, err := strconv.ParseFloat(string(bytes.Fields(limit)[0]), 64); err == nil { // or "unlimited"
				s.gauge("process_max_fds", "Maximum number of open file descriptors.", soft)
			}
		}
		stat, err := os.ReadFile("/proc/self/stat")
		if err != nil {
			return nil
		}
		// The name of the program, in parentheses, may contain blanks. See proc_pid_stat(5).
		const userTime, systemTime, virtual, resident, fields = 11, 12, 20, 21, 22
		values := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if len(values) < fields {
			return nil
		}
		field := func(i int) float64 {
			f, _ := strconv.ParseFloat(values[i], 64) // the kernel writes digits
			return f
		}
		const ticks = 100 // per second, on all architectures of Go
		s.counter("process_cpu_seconds_total",
			"Total user and system CPU time spent in seconds.", (field(userTime)+field(systemTime))/ticks)
		s.gauge("process_virtual_memory_bytes", "Virtual memory size in bytes.", field(virtual))
		s.gauge("process_resident_memory_bytes",
			"Resident memory size in bytes.", field(resident)*float64(os.Getpagesize()))
		return nil
	}
}
