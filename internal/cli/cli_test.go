package cli_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/spf13/cobra"

	"herbarium/internal/cli"
	"herbarium/internal/must"
	"herbarium/internal/programtest"
)

// garden is the sample dataset.
const garden = "../../examples/garden"

// environment is a data folder with the variables that point to it.
type environment map[string]string

func newEnvironment(t *testing.T) environment {
	return environment{
		"HERBARIUM_DATA": filepath.Join(t.TempDir(), "data"), "HERBARIUM_ADDR": "127.0.0.1:0",
		"HERBARIUM_REQUEST_TIMEOUT": "1m", // a loaded machine must not fail a test
	}
}

func (e environment) lookup(name string) (string, bool) {
	v, ok := e[name]
	return v, ok
}

func (e environment) environ() (variables []string) {
	for name, value := range e {
		variables = append(variables, name+"="+value)
	}
	return variables
}

// run executes a command to its end.
func (e environment) run(t *testing.T, args ...string) (code int, out, errOut string) {
	t.Helper()
	var o, eo bytes.Buffer
	code = cli.Run(t.Context(), args, cli.Terminal{Out: &o, Err: &eo, Env: e.lookup, Environ: e.environ})
	return code, o.String(), eo.String()
}

// must executes a command that succeeds and returns its output.
func (e environment) must(t *testing.T, args ...string) string {
	t.Helper()
	code, out, errOut := e.run(t, args...)
	if code != 0 {
		t.Fatalf("herbarium %s: exit code %d\n%s%s", strings.Join(args, " "), code, out, errOut)
	}
	return out
}

// prints executes a command that succeeds and prints a text.
func (e environment) prints(t *testing.T, text string, args ...string) {
	t.Helper()
	if out := e.must(t, args...); !strings.Contains(out, text) {
		t.Errorf("herbarium %s: no %q in\n%s", strings.Join(args, " "), text, out)
	}
}

// fails executes a command that exits with a code and prints a message to standard error.
func (e environment) fails(t *testing.T, code int, message string, args ...string) {
	t.Helper()
	if got, _, errOut := e.run(t, args...); got != code || !strings.Contains(errOut, message) {
		t.Errorf("herbarium %s: exit code %d; want %d and %q in\n%s", strings.Join(args, " "), got, code,
			message, errOut)
	}
}

// server is a running `herbarium serve`.
type server struct {
	url      string
	out, log *programtest.Buffer
	stop     func()
	exited   chan int
}

// serve starts a server and waits until it listens.
func (e environment) serve(t *testing.T, args ...string) *server {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s := &server{out: new(programtest.Buffer), log: new(programtest.Buffer), exited: make(chan int, 1)}
	pr, pw := io.Pipe()
	go func() {
		code := cli.Run(ctx, append([]string{"serve"}, args...),
			cli.Terminal{Out: io.MultiWriter(s.out, pw), Err: s.log, Env: e.lookup})
		pw.Close()
		s.exited <- code
	}()
	s.stop = sync.OnceFunc(func() {
		cancel()
		if code := <-s.exited; code != 0 {
			t.Errorf("serve ended with exit code %d\n%s", code, s.log)
		}
	})
	t.Cleanup(s.stop)
	var banner []byte
	buf := make([]byte, 1<<10)
	address := regexp.MustCompile(`listens on (http://\S+)`)
	for {
		n, err := pr.Read(buf)
		banner = append(banner, buf[:n]...)
		if m := address.FindSubmatch(banner); m != nil {
			s.url = string(m[1])
			break
		}
		if err != nil {
			t.Fatalf("serve said nothing of where it listens\n%s%s", banner, s.log)
		}
	}
	go func() { _, _ = io.Copy(io.Discard, pr) }()
	return s
}

// do sends a request.
func (s *server) do(t *testing.T, method, path, body string, headers ...string) programtest.Response {
	t.Helper()
	resp, err := programtest.Send(t.Context(), http.DefaultClient, method, s.url+path, body, headers...)
	must.NoError(t, err)
	return resp
}

func (s *server) get(t *testing.T, path string, headers ...string) (status int, answer string) {
	t.Helper()
	resp := s.do(t, http.MethodGet, path, "", headers...)
	return resp.Status, resp.Body
}

func (s *server) create(t *testing.T, token, body string) (status int, answer string) {
	t.Helper()
	resp := s.do(t, http.MethodPost, "/plants", body, "Authorization", "Bearer "+token, "Content-Type",
		"application/json")
	return resp.Status, resp.Body
}

// write writes a file in a new folder.
func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	must.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

func TestHelp(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	var check func(cmd *cobra.Command)
	check = func(cmd *cobra.Command) {
		path := strings.Fields(cmd.CommandPath())
		out := e.must(t, append(path[1:], "--help")...)
		if !strings.Contains(out, "Usage:") || !strings.Contains(out, cmd.CommandPath()) ||
			!strings.Contains(out, "Global flags:") {
			t.Errorf("%s --help prints\n%s", cmd.CommandPath(), out)
		}
		if cmd.Short == "" || cmd.Example == "" {
			t.Errorf("%s has no summary or no example", cmd.CommandPath())
		}
		for line := range strings.Lines(cmd.Example) {
			if !strings.Contains(line, "herbarium ") {
				t.Errorf("%s: the example %q does not run the program", cmd.CommandPath(), line)
			}
		}
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() {
				check(c)
			}
		}
	}
	check(cli.NewRoot())
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		e.prints(t, "herbarium", "completion", shell)
	}
}

func TestUsageErrors(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, line, want string }{
		{"unknown command", "publsh x.csv", "publish"},
		{"unknown flag", "serve --adr :80", "unknown flag --adr; did you mean --addr?"},
		{"unknown global flag", "datasets list --dta x", "did you mean --data?"},
		{"strange flag", "datasets list --zzzzzz", "unknown flag --zzzzzz\n"},
		{"unknown short flag", "export a/b -x", "unknown flag -x"},
		{"unknown shell", "completion bsh", `did you mean "bash"?`},
		{"unknown subcommand", "datasets lst", `did you mean "list"?`},
		{"nothing to publish", "publish", "at least one file"},
		{"key without name", "keys create --scope data:read", "--name"},
		{"key without scope", "keys create --name x", "--scope"},
		{"unknown scope", "keys create --name x --scope plants:read", "plants:write"},
		{"unknown lifetime", "keys create --name x --scope data:read --expires soon", "90d"},
		{"no lifetime", "keys create --name x --scope data:read --expires 0d", "90d"},
		{"revoke what", "keys revoke", "the ID or the name"},
		{"not a dataset", "datasets show catalog", "namespace/dataset"},
		{"wrong address", "serve --addr 8080", "host:port"},
		{"public address without a scheme", "serve --public-url example.org/data", "https://example.org/data"},
		{"public address with a query", "serve --public-url https://example.org/?a=b", "https://example.org/data"},
		{"wrong level", "datasets --log-level loud", "debug"},
		{"wrong number", "serve --keep 0", "from 1"},
		{"no such configuration", "config --config nowhere.yaml", "nowhere.yaml"},
		{"wrong access", "publish --access closed " + garden, "open or key"},
		{"wrong name", "publish --as Catalog " + garden, "namespace/dataset"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			code, out, errOut := newEnvironment(t).run(t, strings.Fields(c.line)...)
			if code != 2 || !strings.Contains(errOut, c.want) || out != "" {
				t.Errorf("herbarium %s: exit code %d, output %q, errors\n%s\nwant code 2 and %q", c.line, code, out,
					errOut, c.want)
			}
		})
	}
}

// TestRun_lostOutput checks that a command fails if its results cannot be written.
func TestRun_lostOutput(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	file := filepath.Join(t.TempDir(), "prices.csv")
	if err := os.WriteFile(file, []byte("a,b\n1,2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	closed, err := os.Open(os.DevNull) // for reading only
	if err != nil {
		t.Fatal(err)
	}
	defer closed.Close()
	for _, args := range [][]string{{"publish", file, "--as", "shop/prices"}, {"--help"}, {"version"}} {
		var errOut bytes.Buffer
		code := cli.Run(t.Context(), args, cli.Terminal{Out: closed, Err: &errOut, Env: e.lookup})
		if code != 1 || !strings.Contains(errOut.String(), "write "+os.DevNull) {
			t.Errorf("%s: exit code %d, %s", args[0], code, errOut.String())
		}
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	out := newEnvironment(t).must(t, "version")
	if flag := newEnvironment(t).must(t, "--version"); !strings.HasPrefix(out, "herbarium ") || flag != out {
		t.Errorf("version prints %q and --version prints %q", out, flag)
	}
}

func TestConfig(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	e["HERBARIUM_TOKEN"] = "a secret that must stay one 0123456789"
	e["HERBARIUM_DATABASE"] = "postgres://ana:hush@db1,db2:5433/herbarium?target_session_attrs=read-write"
	e["HERBARIUM_BLOBS"] = "s3://files?region=eu"
	file := write(t, "herbarium.yaml", "addr: 127.0.0.1:7001\nkeep: 9\nlog:\n  level: warn\n")
	out := e.must(t, "config", "--config", file, "--keep", "3")
	for _, want := range []string{"keep: 3", "# --keep", "addr: 127.0.0.1:0", "# HERBARIUM_ADDR", "level: warn", file,
		"# default", "(hidden)",
		"postgres://ana:xxxxx@db1,db2:5433/herbarium?target_session_attrs=read-write", "blobs: s3://files?region=eu"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if strings.Contains(out, e["HERBARIUM_TOKEN"]) || strings.Contains(out, "hush") {
		t.Errorf("a secret is shown in\n%s", out)
	}
	again := write(t, "herbarium.yaml", out)
	delete(e, "HERBARIUM_ADDR")
	if second := e.must(t, "config", "--config", again); !strings.Contains(second, "addr: 127.0.0.1:0") {
		t.Errorf("what config prints does not read back as a configuration:\n%s", second)
	}
}

func TestConfig_weakToken(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	e["HERBARIUM_TOKEN"] = "a"
	code, _, errOut := e.run(t, "serve")
	if code != 2 || !strings.Contains(errOut, "HERBARIUM_TOKEN: weak token") ||
		!strings.Contains(errOut, "openssl rand -hex 32") {
		t.Errorf("exit code %d; want 2 and how to make a token in\n%s", code, errOut)
	}
}

func TestConfig_unknownKey(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		"adr: :80\n":                `did you mean "addr"`,
		"log:\n  levle: info\n":     "log.level",
		"token: abc\nkep: 3\n":      "kep",
		"- a list\n":                "not a configuration",
		"max_in_flight: plenty\n":   "from 1",
		"log:\n  format: fancy\n":   "human",
		"shutdown: some seconds\n":  "10s",
		"cache_size: much\n":        "20GiB",
		"retention: 1s\n":           "10m0s or more",
		"database: mysql://db\n":    "postgres://",
		"database: postgres://db\n": "--blobs",
	} {
		code, _, errOut := newEnvironment(t).run(t, "config", "--config", write(t, "c.yaml", content))
		if code != 2 || !strings.Contains(errOut, want) {
			t.Errorf("%q: exit code %d, want 2 and %q in\n%s", content, code, want, errOut)
		}
	}
}

func gzipped(t *testing.T, s string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(s))
	must.NoError(t, err)
	must.NoError(t, w.Close())
	return b.String()
}

func zstded(t *testing.T, s string) string {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	must.NoError(t, err)
	defer w.Close()
	return string(w.EncodeAll([]byte(s), nil))
}
