// Package dial connects to the services that all nodes share. A connection whose packets are
// dropped on the way, for example by a firewall that has lost its state or after an address has
// moved to another machine, fails within seconds instead of minutes.
package dial

import (
	"net"
	"time"
)

const (
	// dead is how long sent data may go unacknowledged, and a silent peer unanswered, before a
	// connection fails.
	dead = 10 * time.Second

	probeAfter    = 5 * time.Second // of silence
	probeInterval = time.Second
)

// New returns a dialer that gives up after a timeout; zero disables it.
func New(timeout time.Duration) *net.Dialer {
	return &net.Dialer{
		Timeout: timeout,
		KeepAliveConfig: net.KeepAliveConfig{
			Enable: true, Idle: probeAfter, Interval: probeInterval, Count: int((dead - probeAfter) / probeInterval),
		},
		Control: limitUnacknowledged,
	}
}
