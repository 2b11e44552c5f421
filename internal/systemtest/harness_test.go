//go:build linux

package systemtest

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"herbarium/internal/must"
	"herbarium/internal/programtest"
)

// program is the path of the program.
var program string

func TestMain(m *testing.M) { programtest.Main(m, &program) }

// token is a key with every scope that all servers accept.
const token = "system-suite-9f2c4e7ab1d86035c3e1"

// node is a server and its data folder.
type node struct {
	*programtest.Server
	t    *testing.T
	data string
}

// config is how a server is started.
type config struct {
	program  string   // empty means today's
	data     string   // empty means a new folder
	addr     string   // empty means a free port
	args     []string // after "serve"
	settings []string // of the environment
	shell    string   // see programtest.Options
}

// start starts a server that is killed when the test ends.
func start(t *testing.T, c config) *node {
	t.Helper()
	n, err := tryStart(t, c)
	must.NoError(t, err)
	return n
}

// tryStart is start for a server that may not start.
func tryStart(t *testing.T, c config) (*node, error) {
	t.Helper()
	if c.data == "" {
		c.data = filepath.Join(t.TempDir(), "data")
	}
	settings := append([]string{
		"HERBARIUM_DATA=" + c.data, "HERBARIUM_TOKEN=" + token, "HERBARIUM_LOG_FORMAT=json", "HERBARIUM_LOG_LEVEL=info",
	}, c.settings...)
	s, err := programtest.Start(t.Context(), programtest.Options{
		Program: cmp.Or(c.program, program), Args: c.args, Settings: settings, Addr: c.addr, Shell: c.shell,
	})
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() {
		s.Kill()
		if t.Failed() {
			out := s.Output()
			t.Logf("the end of the output of process %d:\n%s", s.PID(), out[max(0, len(out)-8<<10):])
		}
	})
	return &node{Server: s, t: t, data: c.data}, nil
}

// command runs the program with a data folder and returns its output and exit code.
func command(t *testing.T, data string, args ...string) (out string, code int) {
	t.Helper()
	out, code, err := programtest.Run(t.Context(), program, []string{"HERBARIUM_DATA=" + data}, args...)
	must.NoError(t, err)
	return out, code
}

// run is command for one that must succeed.
func run(t *testing.T, data string, args ...string) string {
	t.Helper()
	out, code := command(t, data, args...)
	if code != 0 {
		t.Fatalf("%s: exit code %d\n%s", strings.Join(args, " "), code, out)
	}
	return out
}

// write creates a file, and its folders.
func write(t *testing.T, content string, path ...string) string {
	t.Helper()
	name := filepath.Join(path...)
	must.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
	must.NoError(t, os.WriteFile(name, []byte(content), 0o600))
	return name
}

// eventually waits until f returns nil.
func eventually(t *testing.T, what string, f func(context.Context) error) {
	t.Helper()
	if err := programtest.Eventually(t.Context(), f); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// protected is a descriptor of a dataset that requires a key.
const protected = `{"name":"vault","herbarium":{"access":"key"},"resources":[{"name":"people","path":"people.csv"}]}`

// writeOpenAndProtected returns a folder with the datasets garden/open and vault/people, which
// requires a key.
func writeOpenAndProtected(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	write(t, "a\n1\n", dir, "garden", "open.csv")
	write(t, "id,name\n1,alice\n", dir, "vault", "people.csv")
	write(t, protected, dir, "vault", "datapackage.json")
	return dir
}

// publishOpen adds a record to garden/open in a watched folder, and waits until the server lists
// it.
func (n *node) publishOpen(dir string) {
	n.t.Helper()
	write(n.t, "a\n1\n2\n", dir, "garden", "open.csv")
	eventually(n.t, "changes are published", func(context.Context) error {
		r, err := n.request(http.MethodGet, "/api/v1/garden/open/data", "")
		if err == nil && !strings.Contains(r.Body, `"total":2`) {
			err = fmt.Errorf("status %d: %s", r.Status, r.Body)
		}
		return err
	})
}
