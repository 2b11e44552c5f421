package deploy_test

import (
	"log/slog"
	"regexp"
	"strconv"
	"testing"
	"time"

	"herbarium/internal/httpapi/connection"

	"herbarium/internal/app"
	"herbarium/internal/httpapi"
	"herbarium/internal/must"
)

// haproxyValue returns the value of a keyword in the configuration of the proxy.
func haproxyValue(t *testing.T, words string) string {
	t.Helper()
	m := regexp.MustCompile(`(?m)^    (?:[^#\n]* )?` + words + ` (\S+)`).FindStringSubmatch(read(t, "haproxy/haproxy.cfg"))
	if m == nil {
		t.Fatalf("haproxy.cfg does not set %q", words)
	}
	return m[1]
}

func haproxyTime(t *testing.T, words string) time.Duration {
	t.Helper()
	d, err := time.ParseDuration(haproxyValue(t, words))
	must.NoError(t, err)
	return d
}

func haproxyNumber(t *testing.T, words string) int {
	t.Helper()
	n, err := strconv.Atoi(haproxyValue(t, words))
	must.NoError(t, err)
	return n
}

// TestTimeouts checks that the timeouts of the proxy are longer than those of the nodes, so that
// nodes give up first.
func TestTimeouts(t *testing.T) {
	t.Parallel()
	node := connection.NewServer(nil, slog.New(slog.DiscardHandler))
	if got := haproxyTime(t, "timeout server"); got <= node.WriteTimeout {
		t.Errorf("the proxy waits %s for an answer; a node may take %s", got, node.WriteTimeout)
	}
	if got := haproxyTime(t, "timeout client"); got <= node.ReadTimeout {
		t.Errorf("the proxy waits %s for a client; a node does %s", got, node.ReadTimeout)
	}
	if got := haproxyTime(t, "timeout client"); got <= httpapi.DefaultStall {
		t.Errorf("the proxy waits %s for a client that does not read; a node does %s", got, httpapi.DefaultStall)
	}
	if got := haproxyTime(t, "timeout http-request"); got != node.ReadTimeout {
		t.Errorf("the proxy gives a request %s; a node %s", got, node.ReadTimeout)
	}
	if got := haproxyTime(t, "pool-purge-delay"); got > node.IdleTimeout/2 {
		t.Errorf("the proxy keeps idle connections for %s; a node closes them after %s", got, node.IdleTimeout)
	}
	defaults := app.DefaultConfig()
	if got := haproxyNumber(t, "maxconn"); got >= defaults.MaxInFlight {
		t.Errorf("the proxy sends a node %d requests at once; it rejects more than %d", got, defaults.MaxInFlight)
	}
	// The proxy must notice that a node is stopping while the node still serves requests.
	noticed := haproxyTime(t, "inter") * time.Duration(haproxyNumber(t, "fall"))
	stopping := load(t, assignments(read(t, unitFile)))
	if stopping.Drain < 2*noticed {
		t.Errorf("a node drains for %s; the proxy notices that it is not ready after %s", stopping.Drain, noticed)
	}
	if got := haproxyTime(t, "hard-stop-after"); got < stopping.Shutdown {
		t.Errorf("the proxy gives accepted requests %s to finish; a node %s", got, stopping.Shutdown)
	}
}
