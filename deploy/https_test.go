package deploy_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"herbarium/internal/must"
	"herbarium/internal/programtest"
)

// TestHTTPS_documents checks that the documents show the files of this folder.
func TestHTTPS_documents(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"caddy/Caddyfile", "nginx/herbarium.conf"} {
		for _, document := range []string{"../README.md", "../docs/operations.md"} {
			if !strings.Contains(read(t, document), "\n"+read(t, name)+"```\n") {
				t.Errorf("%s does not show %s as it is", document, name)
			}
		}
	}
}

// TestReadmeInstall runs the commands of the README that build and install the program, in a copy of
// the repository.
func TestReadmeInstall(t *testing.T) {
	t.Parallel()
	programtest.LookPath(t, "make")
	_, block, found := strings.Cut(read(t, "../README.md"), "```sh\nmake build\n")
	block, _, _ = strings.Cut("make build\n"+block, "```")
	if !found {
		t.Fatal("the README does not say how to build the program")
	}
	clone := t.TempDir()
	for _, folder := range []string{"cmd", "internal", "docs"} {
		must.NoError(t, os.CopyFS(filepath.Join(clone, folder), os.DirFS(filepath.Join("..", folder))))
	}
	for _, file := range []string{"go.mod", "go.sum", "Makefile"} {
		must.NoError(t, os.WriteFile(filepath.Join(clone, file), []byte(read(t, "../"+file)), 0o600))
	}
	install(t, clone, block)
}

// install runs a script that installs the program to a folder in PATH and prints its version.
func install(t *testing.T, folder, script string) {
	t.Helper()
	dir := t.TempDir()
	script = strings.NewReplacer("sudo ", "", "/usr/local/bin", dir).Replace(script)
	cmd := exec.CommandContext(t.Context(), "sh", "-ec", script)
	cmd.Dir, cmd.Env = folder, append(os.Environ(), "PATH="+dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains("\n"+string(out), "\nherbarium ") {
		t.Errorf("%s\n%v\n%s", script, err, out)
	}
}

// checkInstall runs the documented commands that install a release.
func checkInstall(t *testing.T, archive []byte) {
	t.Helper()
	_, block, found := strings.Cut(read(t, "../docs/operations.md"), "```\ntar ")
	block, _, _ = strings.Cut("tar "+block, "```")
	if !found {
		t.Fatal("docs/operations.md does not say how to unpack a release")
	}
	files, _ := readTar(t, unzip(t, archive))
	folder := ""
	for name := range files {
		folder, _, _ = strings.Cut(name, "/")
	}
	dir := t.TempDir()
	must.NoError(t, os.WriteFile(filepath.Join(dir, folder+".tar.gz"), archive, 0o600))
	install(t, dir, strings.ReplaceAll(block, "herbarium_0.9.0_linux_amd64", folder))
}

// certificate writes a certificate and its key to a folder.
func certificate(t *testing.T, dir string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must.NoError(t, err)
	c := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"data.example.org"},
		NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	must.NoError(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	must.NoError(t, err)
	must.NoError(t, os.WriteFile(filepath.Join(dir, "fullchain.pem"),
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	must.NoError(t, os.WriteFile(filepath.Join(dir, "privkey.pem"),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600))
}

// TestNginx runs nginx with the documented server in front of a program that answers with what it
// received.
func TestNginx(t *testing.T) {
	t.Parallel()
	nginx := programtest.LookPath(t, "nginx")
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Trailer", "Unencoded-Digest")
		size, _ := io.Copy(io.Discard, r.Body)
		fmt.Fprintf(w, "%d %s %s %s %s", size, r.Host, r.RequestURI, r.Proto, r.Header.Get("X-Forwarded-For"))
		w.Header().Set("Unencoded-Digest", "sha-256=:x:")
	}))
	t.Cleanup(backend.Close)
	reserved, err := net.Listen("tcp", "127.0.0.1:0")
	must.NoError(t, err)
	addr := reserved.Addr().String()
	must.NoError(t, reserved.Close())
	dir := t.TempDir()
	certificate(t, dir)
	server := strings.NewReplacer("listen 443", "listen "+addr, "127.0.0.1:8080", backend.Listener.Addr().String(),
		"/etc/letsencrypt/live/data.example.org", dir, "/var/log/nginx", dir).Replace(read(t, "nginx/herbarium.conf"))
	temp := ""
	for _, name := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		temp += fmt.Sprintf("%s_temp_path %s/%s;\n", name, dir, name)
	}
	config := filepath.Join(dir, "nginx.conf")
	must.NoError(t, os.WriteFile(config,
		[]byte(fmt.Sprintf("daemon off;\nuser root;\npid %s/pid;\nerror_log stderr;\nevents {}\nhttp {\naccess_log "+
			"off;\n%s%s}\n", dir, temp, server)), 0o600))
	ctx, stop := context.WithCancel(t.Context())
	cmd := exec.CommandContext(ctx, nginx, "-c", config, "-p", dir)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Stderr = os.Stderr
	must.NoError(t, cmd.Start())
	t.Cleanup(func() {
		stop()
		_ = cmd.Wait()
	})
	client := &http.Client{Transport: &http.Transport{
		ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true, ServerName: "data.example.org"},
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", addr)
		},
	}}
	var response *http.Response
	for deadline := time.Now().Add(time.Minute); ; { // until nginx listens
		response, err = client.Get("https://data.example.org/api/v1?price[gte]=1&x=a%20b")
		if err == nil || time.Now().After(deadline) {
			break
		}
	}
	must.NoError(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	must.NoError(t, err)
	if want := "0 data.example.org /api/v1?price[gte]=1&x=a%20b HTTP/1.1 127.0.0.1"; string(body) != want ||
		response.Proto != "HTTP/2.0" {
		t.Errorf("%s: the backend received %q; want %q", response.Proto, body, want)
	}
	if response.Trailer.Get("Unencoded-Digest") != "" {
		t.Errorf("nginx passes trailer fields on, unlike the documents say: %v", response.Trailer)
	}
	const size = 5 << 20 // nginx rejects bodies of more than 1 MB unless it is told to pass them
	sent, err := client.Post("https://data.example.org/publish", "text/csv",
		strings.NewReader(strings.Repeat("x", size)))
	must.NoError(t, err)
	defer sent.Body.Close()
	if body, err := io.ReadAll(sent.Body); err != nil || !strings.HasPrefix(string(body), fmt.Sprint(size)) {
		t.Errorf("a file of %d bytes gives %d %.200s (%v)", size, sent.StatusCode, body, err)
	}
	// nginx writes a line after the response, so the one of the first request is there by now.
	log, err := os.ReadFile(filepath.Join(dir, "herbarium.log"))
	if want := `"GET /api/v1" 200 `; err != nil || !strings.Contains(string(log), want) ||
		strings.Contains(string(log), "price") {
		t.Errorf("the access log is %q (%v); want %s and no query string", log, err, want)
	}
}
