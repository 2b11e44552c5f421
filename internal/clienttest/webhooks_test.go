//go:build unix

package clienttest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"herbarium/internal/must"
	"herbarium/internal/programtest"
)

// verifyScript verifies requests with the library of Standard Webhooks, and that it rejects them
// after a change.
const verifyScript = `
import { Webhook } from "standardwebhooks";
const { secret, requests } = JSON.parse(await new Response(process.stdin).text());
const hook = new Webhook(secret);
for (const { headers, body } of requests) {
  console.log(hook.verify(body, headers).type);
  let rejected = false;
  try { hook.verify(body.replace("shop", "shup"), headers); } catch { rejected = true; }
  if (!rejected) throw new Error("a changed body was accepted");
}`

// TestInterop_webhooks has a server killed before it delivers an event that a command has written.
// The next server delivers it. The library of Standard Webhooks verifies all requests.
func TestInterop_webhooks(t *testing.T) {
	t.Parallel()
	modules := programtest.NodeModules(t, "standardwebhooks")
	type request struct {
		Headers map[string]string `json:"headers"`
		Body    string            `json:"body"`
	}
	received := make(chan request, 100)
	endpoint := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		headers := map[string]string{}
		for name := range r.Header {
			headers[strings.ToLower(name)] = r.Header.Get(name)
		}
		received <- request{headers, string(body)}
	}))
	t.Cleanup(endpoint.Close)
	settings := []string{"HERBARIUM_DATA=" + filepath.Join(t.TempDir(), "data"),
		"HERBARIUM_PUBLIC_URL=https://example.org"}
	herbarium := func(args ...string) string {
		t.Helper()
		out, code, err := programtest.Run(t.Context(), program, settings, args...)
		if err != nil || code != 0 {
			t.Fatalf("%v: exit code %d, %v\n%s", args, code, err, out)
		}
		return out
	}
	file := filepath.Join(t.TempDir(), "prices.csv")
	start := func() *programtest.Server {
		server, err := programtest.Start(t.Context(), programtest.Options{Program: program, Settings: settings})
		must.NoError(t, err)
		t.Cleanup(server.Kill)
		return server
	}
	server := start()
	secret := strings.Fields(herbarium("webhooks", "add", endpoint.URL, "--dataset", "shop/*", "--allow-private"))[0]
	writeFile(t, file, "code,price\na,1\nb,2\n")
	herbarium("publish", file, "--as", "shop/prices")
	requests := []request{<-received}
	server.Kill()
	writeFile(t, file, "code,price\na,1\nb,2\nc,3\n")
	herbarium("publish", file, "--as", "shop/prices")
	start()
	requests = append(requests, <-received)

	folder := t.TempDir()
	must.NoError(t, os.Symlink(modules, filepath.Join(folder, "node_modules")))
	input, err := json.Marshal(map[string]any{"secret": secret, "requests": requests})
	must.NoError(t, err)
	writeFile(t, filepath.Join(folder, "verify.mjs"), verifyScript)
	cmd := exec.CommandContext(t.Context(), "node", "verify.mjs")
	cmd.Dir, cmd.Stdin, cmd.Stderr = folder, bytes.NewReader(input), os.Stderr
	out, err := cmd.Output()
	if err != nil || string(out) != "dataset.published\ndataset.published\n" {
		t.Errorf("verified %q, %v", out, err)
	}
	if body := requests[1].Body; !strings.Contains(body, `"counts":{"added":1,"removed":0,"changed":0}`) ||
		!strings.Contains(body, `"changes_url":"https://example.org/api/v1/shop/prices/changes?_from=`) {
		t.Errorf("body %s", body)
	}
}
