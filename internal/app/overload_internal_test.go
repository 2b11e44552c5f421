package app

import (
	"testing"

	"herbarium/internal/admission"
)

func TestMaxConnections(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name              string
		descriptors, want int
	}{
		{"unknown", 0, 0},
		{"few", 256, 128},
		{"usual soft limit", 1024, 768},
		{"many", 1 << 20, 917504},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := maxConnections(tt.descriptors); got != tt.want {
				t.Errorf("%d descriptors leave %d connections, want %d", tt.descriptors, got, tt.want)
			}
		})
	}
}

// TestLimits checks that configured lanes have the configured size and the others one that is computed.
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
		admission.Cheap: 7, admission.Expensive: 8, admission.Export: 9, admission.Write: 10,
	} {
		if got := configured[lane].Slots; got != want {
			t.Errorf("lane %s has %d slots, want %d", lane, got, want)
		}
		if computed[lane].Slots < 1 {
			t.Errorf("lane %s has no slots", lane)
		}
	}
}
