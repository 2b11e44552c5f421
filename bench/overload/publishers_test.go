//go:build unix

package overload

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"herbarium/internal/programtest"
)

// createKey creates a key that may publish a dataset.
func (s *soak) createKey(ctx context.Context, name string) (secret string, err error) {
	out, code, err := programtest.Run(ctx, s.program, []string{"HERBARIUM_DATA=" + s.data}, "keys", "create", "--name",
		name, "--scope", "publish:soak/*", "--json")
	if err == nil && code != 0 {
		err = fmt.Errorf("keys create: exit code %d\n%s", code, out)
	}
	if err != nil {
		return "", err
	}
	var key struct{ Key string }
	err = json.Unmarshal([]byte(out), &key)
	return key.Key, err
}

// check starts a check of a file and does not wait for it.
func (s *soak) check(ctx context.Context, client int) string {
	body := "id,name\n" + strings.Repeat(fmt.Sprintf("%d,Rose\n", client), 50_000)
	resp, err := programtest.Send(ctx, s.greedy, http.MethodPut,
		s.server.URL+"/api/v1/soak/greedy/source?_check=true", body,
		"X-API-Key", s.greedyKey, "Prefer", "respond-async", "Content-Type", "text/csv")
	if resp.Status == http.StatusAccepted {
		return "200"
	}
	return outcome(ctx, resp.Status, err)
}

// stalledUpload sends a part of a file, and holds the connection until the server closes it.
func (s *soak) stalledUpload(ctx context.Context, _ int) string {
	return s.hold(ctx, fmt.Sprintf("PUT /api/v1/soak/greedy/source HTTP/1.1\r\nHost: x\r\nX-API-Key: "+
		"%s\r\nContent-Length: 1000000\r\n\r\nid,name\n", s.greedyKey))
}

// publishHonestly publishes a small file and waits for the result.
func (s *soak) publishHonestly(ctx context.Context, _ int) string {
	body := fmt.Sprintf("id,name\n1,Rose %d\n", s.lastFile.Add(1))
	resp, err := programtest.Send(ctx, s.honest, http.MethodPut, s.server.URL+"/api/v1/soak/honest/source", body,
		"X-API-Key", s.honestKey, "Prefer", "wait=50", "Content-Type", "text/csv")
	if resp.Status == http.StatusCreated {
		return "200"
	}
	return outcome(ctx, resp.Status, err)
}
