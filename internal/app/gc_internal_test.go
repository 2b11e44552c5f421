package app

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
)

// TestRelaxGC checks that the GC percentage follows the size of the heap and the number of
// requests, and is restored. It is not parallel, because there is one percentage per process.
func TestRelaxGC(t *testing.T) {
	t.Setenv("GOGC", "")
	t.Setenv("GOMEMLIMIT", "")
	percent := func() uint64 {
		s := []metrics.Sample{{Name: "/gc/gogc:percent"}}
		metrics.Read(s)
		return s[0].Value.Uint64()
	}
	defer debug.SetGCPercent(debug.SetGCPercent(55))
	gc := relaxGC(maxHeadroom * 8)
	if got := percent(); got <= 100 {
		t.Errorf("the percentage of a small heap is %d", got)
	}
	large := make([]byte, 2*minHeadroom)
	collect := func(requests int64, done func() bool) {
		for !done() && t.Context().Err() == nil { // the percentage is set soon after a garbage collection
			gc.requests.Add(requests)
			runtime.GC()
			runtime.Gosched()
		}
	}
	collect(0, func() bool { return percent() == minPercent })
	collect(manyRequests, func() bool { return percent() > 2*minPercent })
	collect(0, func() bool { return percent() == minPercent })
	runtime.KeepAlive(large)
	gc.stop()
	runtime.GC()
	if got := percent(); got != 55 {
		t.Errorf("the percentage afterwards is %d", got)
	}
}
