package column_test

import (
	"encoding/binary"
	"testing"

	"herbarium/internal/segment/internal/column"
	"herbarium/internal/segment/internal/file"
	"herbarium/internal/segment/internal/guard"
)

// TestIntervalIndex checks the intervals of all numbers, and that the index reserves its memory.
func TestIntervalIndex(t *testing.T) {
	t.Parallel()
	const n = 10_000
	var starts file.U32s
	for at := 0; at < n; at += 1 + at/7 {
		starts = binary.LittleEndian.AppendUint32(starts, uint32(at))
	}
	st := guard.NewSteps(t.Context())
	x := column.NewIntervalIndex(st, starts, n)
	interval := 0
	for number := range n {
		if interval+1 < starts.Len() && int(starts.At(interval+1)) == number {
			interval++
		}
		if got := x.At(uint32(number)); int(got) != interval {
			t.Fatalf("%d is in interval %d, want %d", number, got, interval)
		}
	}
	if got := st.Needed(); got < n/20 {
		t.Errorf("%d bytes are reserved, want at least %d", got, n/20)
	}
}
