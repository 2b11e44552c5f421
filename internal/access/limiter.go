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

// maxClients limits the clients of a limiter.
const maxClients = 8192

// limiter counts the failed keys of each client. Its memory is bounded: when it is full it starts
// over, which gives every client another burst.
type limiter struct {
	mu      sync.Mutex
	clients map[string]*rate.Limiter
}

func newLimiter() *limiter { return &limiter{clients: map[string]*rate.Limiter{}} }

// fail records a failed key of a client. It returns zero while the client is within its limit, and
// otherwise how long the client should wait before it tries another key.
func (l *limiter) fail(client string, now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := clientKey(client)
	bucket := l.clients[key]
	if bucket == nil {
		if len(l.clients) == maxClients {
			clear(l.clients)
		}
		bucket = rate.NewLimiter(rate.Every(failurePeriod), failureBurst)
		l.clients[key] = bucket
	}
	if bucket.AllowN(now, 1) {
		return 0
	}
	missing := 1 - bucket.TokensAt(now)
	return max(time.Second, time.Duration(missing*float64(failurePeriod)))
}

// clientKey returns the identity of a client from its address, with or without a port: an IPv4
// address, or the /64 network of an IPv6 address, because one client usually owns all of it. Any
// other string is its own identity.
func clientKey(client string) string {
	addr, err := netip.ParseAddr(client)
	if withPort, e := netip.ParseAddrPort(client); e == nil {
		addr, err = withPort.Addr(), nil
	}
	if err != nil {
		return client
	}
	addr = addr.Unmap().WithZone("")
	if addr.Is4() {
		return addr.String()
	}
	return netip.PrefixFrom(addr, 64).Masked().String()
}
