//go:build linux

// Package clustertest runs whole clusters as people do: nodes that are processes, behind a proxy, on a PostgreSQL server
// with a standby and an S3 server. All of it is real and all of it ends with the tests.
package clustertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"herbarium/internal/programtest"
)

// herbarium is the program, built from this source.
var herbarium string

func TestMain(m *testing.M) {
	code, err := runTests(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func runTests(m *testing.M) (code int, err error) {
	folder, err := os.MkdirTemp("", "clustertest")
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	if herbarium, err = programtest.Install(context.Background(), folder); err != nil {
		return 1, err
	}
	return m.Run(), nil
}

// process is a program that runs beside the test.
type process struct {
	cmd   *exec.Cmd
	out   output
	ended chan struct{}
}

// output is what a process has printed so far.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// start starts a program that is killed when the test ends, at the latest.
func start(t *testing.T, env []string, files []*os.File, name string, args ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(name, args...), ended: make(chan struct{})}
	p.cmd.Env, p.cmd.ExtraFiles = env, files
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.out
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // the process would end with the thread that has started it
		err := p.cmd.Start()
		started <- err
		if err == nil {
			_ = p.cmd.Wait() // how it ended is in its state
		}
		close(p.ended)
	}()
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("%s %s has printed:\n%s", filepath.Base(name), strings.Join(args, " "), tail(p.out.String()))
		}
	})
	return p
}

// tail returns the last lines of a log.
func tail(s string) string {
	const most = 8 << 10
	return s[max(0, len(s)-most):]
}

// kill ends the process as a machine that fails does.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.ended
}

// stop asks the process to end and waits until it has.
func (p *process) stop(t *testing.T) {
	t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	<-p.ended
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("it ended with code %d:\n%s", code, tail(p.out.String()))
	}
}

// wait waits until the process has printed what a pattern matches, and returns its first group.
func (p *process) wait(t *testing.T, pattern string) string {
	t.Helper()
	compiled := regexp.MustCompile(pattern)
	var found []string
	eventually(t, "the process prints "+pattern, func(context.Context) error {
		if found = compiled.FindStringSubmatch(p.out.String()); found == nil {
			return fmt.Errorf("it has printed:\n%s", tail(p.out.String()))
		}
		return nil
	})
	return found[1]
}

// patience is how long a test waits for what should come at once on a machine that has nothing else to do.
const patience = time.Minute

// eventually waits until something is so.
func eventually(t *testing.T, what string, so func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		err := so(ctx)
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("not within %s: %s: %v", patience, what, err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}
