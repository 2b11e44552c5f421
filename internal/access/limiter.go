package access

import (
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// The limit of failed keys per client: a burst, then one per period.
const (
	failureBurst  = 20
	failurePeriod = 3 * time.Second
)

// maxClients limits the clients in one generation of a limiter.
const maxClients = 4096

// limiter counts the failed keys of each client. Its memory is bounded by two generations of clients: when the current one
// is full it becomes the previous one, whose clients are dropped unless they fail again.
type limiter struct {
	mu                sync.Mutex
	current, previous map[string]*rate.Limiter
}

func newLimiter() *limiter { return &limiter{current: map[string]*rate.Limiter{}} }

// fail records a failed key of a client. It returns zero while the client is within its limit, and otherwise how long the
// client should wait before it tries another key.
func (l *limiter) fail(client string, now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	bucket := l.bucket(clientKey(client))
	if bucket.AllowN(now, 1) {
		return 0
	}
	missing := 1 - bucket.TokensAt(now)
	return max(time.Second, time.Duration(missing*float64(failurePeriod)))
}

func (l *limiter) bucket(key string) *rate.Limiter {
	if b, ok := l.current[key]; ok {
		return b
	}
	b, ok := l.previous[key]
	if !ok {
		b = rate.NewLimiter(rate.Every(failurePeriod), failureBurst)
	}
	if len(l.current) >= maxClients {
		l.previous, l.current = l.current, make(map[string]*rate.Limiter, maxClients)
	}
	l.current[key] = b
	return b
}

// clientKey returns the identity of a client from its address, with or without a port: an IPv4 address, or the /64 network
// of an IPv6 address, because one client usually owns all of it. Any other string is its own identity.
func clientKey(client string) string {
	addr, err := netip.ParseAddr(client)
	if err != nil {
		ap, err := netip.ParseAddrPort(client)
		if err != nil {
			return client
		}
		addr = ap.Addr()
	}
	addr = addr.Unmap().WithZone("")
	if addr.Is4() {
		return addr.String()
	}
	network, err := addr.Prefix(64)
	if err != nil {
		return client
	}
	return network.String()
}
