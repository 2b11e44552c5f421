//go:build unix

package programtest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// Main runs the tests of a package with the program installed in a temporary folder, and exits. It
// sets program to the path.
func Main(m *testing.M, program *string) {
	code := 1
	folder, err := os.MkdirTemp("", "herbarium-test")
	if err == nil {
		*program, err = Install(context.Background(), folder)
	}
	if err == nil {
		code = m.Run()
	}
	err = errors.Join(err, os.RemoveAll(folder))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// Options of a server process.
type Options struct {
	Program  string   // as Install returns it
	Args     []string // after "serve"
	Settings []string // environment variables, NAME=value
	Addr     string   // to listen on; empty means a free port of 127.0.0.1
	// Shell is run by sh before the program, in the same process, such as "ulimit -n 100".
	Shell string
}

// Server is a running server process.
type Server struct {
	*Process
	URL   string // of the API, without a trailing slash
	Admin string // of metrics and profiles, without a trailing slash
}

// Start runs the program as a server and waits until it listens. It is killed when the calling
// process ends.
func Start(ctx context.Context, opts Options) (s *Server, err error) {
	if opts.Addr == "" {
		opts.Addr = "127.0.0.1:0"
	}
	args := append([]string{"serve", "--addr", opts.Addr, "--admin-addr", "127.0.0.1:0"}, opts.Args...)
	name := opts.Program
	if opts.Shell != "" {
		name, args = "sh", append([]string{"-c", opts.Shell + ` && exec "$0" "$@"`, opts.Program}, args...)
	}
	cmd := exec.Command(name, args...)
	cmd.Env = Environ(opts.Settings...)
	s = &Server{}
	s.Process, err = StartProcess(cmd)
	if err != nil {
		return nil, err
	}
	s.URL, err = s.WaitForOutput(ctx, `listens on (http://\S+)`)
	if err == nil {
		s.Admin, err = s.WaitForOutput(ctx, `(http://\S+)/metrics`)
	}
	if err != nil {
		s.Kill()
	}
	return s, err
}

// Addr returns the host and port of the API.
func (s *Server) Addr() string { return strings.TrimPrefix(s.URL, "http://") }

// Metrics returns the metrics by their names, with labels as Prometheus prints them.
func (s *Server) Metrics(ctx context.Context) (map[string]float64, error) {
	resp, err := Send(ctx, http.DefaultClient, http.MethodGet, s.Admin+"/metrics", "")
	if err != nil {
		return nil, err
	}
	metrics := map[string]float64{}
	for line := range strings.Lines(resp.Body) {
		line = strings.TrimSpace(line)
		i := max(0, strings.LastIndexByte(line, ' '))
		if f, err := strconv.ParseFloat(strings.TrimSpace(line[i:]), 64); err == nil && line[0] != '#' {
			metrics[line[:i]] = f
		}
	}
	return metrics, nil
}

// Run runs a command of the program to its end and returns its exit code and standard output.
// Standard error follows only if it fails, because progress on a slow machine is written there,
// too.
func Run(ctx context.Context, program string, settings []string, args ...string) (out string, code int, err error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = Environ(settings...)
	b, err := cmd.Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		return string(b) + string(failed.Stderr), failed.ExitCode(), nil
	}
	return string(b), 0, err
}
