package deploy_test

import (
	"fmt"
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
	m := regexp.MustCompile(`(?m)^    (?:[^#\n]* )?` + words + ` (\S+)`).FindStringSubmatch(read(t,
		"haproxy/haproxy.cfg"))
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

// TestIngress_uploads checks that the Ingress passes on files and responses that a node accepts and
// sends by default.
func TestIngress_uploads(t *testing.T) {
	t.Parallel()
	annotations := map[string]string{}
	for _, m := range regexp.MustCompile(
		`(?m)^    nginx\.ingress\.kubernetes\.io/(\S+): "?([^"\n]+)"?$`).FindAllStringSubmatch(read(t,
		"kubernetes/ingress.yaml"), -1) {
		annotations[m[1]] = m[2]
	}
	if want := fmt.Sprintf("%dg", app.DefaultConfig().MaxUpload>>30); annotations["proxy-body-size"] != want ||
		annotations["proxy-request-buffering"] != "off" {
		t.Errorf("files: %v; want %s without buffering", annotations, want)
	}
	if s, err := strconv.Atoi(annotations["proxy-read-timeout"]); err != nil ||
		time.Duration(s)*time.Second <= httpapi.DefaultStall {
		t.Errorf("the controller waits %ss for a response; a node waits %s for a client",
			annotations["proxy-read-timeout"], httpapi.DefaultStall)
	}
}
