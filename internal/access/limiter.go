package access

import (
	"sync"
	"time"

	"golang.org/x/time/rate"

	"herbarium/internal/admission"
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
	clients map[admission.Client]*rate.Limiter
}

func newLimiter() *limiter { return &limiter{clients: map[admission.Client]*rate.Limiter{}} }

// fail records a failed key of a client. It returns zero while the client is within its limit, and
// otherwise how long the client should wait before it tries another key.
func (l *limiter) fail(client admission.Client, now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	bucket := l.clients[client]
	if bucket == nil {
		if len(l.clients) == maxClients {
			clear(l.clients)
		}
		bucket = rate.NewLimiter(rate.Every(failurePeriod), failureBurst)
		l.clients[client] = bucket
	}
	if bucket.AllowN(now, 1) {
		return 0
	}
	missing := 1 - bucket.TokensAt(now)
	return max(time.Second, time.Duration(missing*float64(failurePeriod)))
}
