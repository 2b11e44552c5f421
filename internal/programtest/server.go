//go:build unix

package programtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Options of a server process.
type Options struct {
	Program  string   // as Install returns it
	Args     []string // behind "serve"
	Settings []string // environment variables, NAME=value
	// Shell is run by sh before the program, in the same process, such as "ulimit -n 100".
	Shell string
}

// Server is a running server process.
type Server struct {
	URL   string // of the API, without a slash at the end
	Admin string // of metrics and profiles, likewise
	cmd   *exec.Cmd
	out   output
	ended chan struct{}
}

// output collects what a process prints.
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

// Start runs the program as a server on free ports of 127.0.0.1 and waits until it answers. It is killed when the calling
// process ends.
func Start(ctx context.Context, opts Options) (*Server, error) {
	args := append([]string{"serve", "--addr", "127.0.0.1:0", "--admin-addr", "127.0.0.1:0"}, opts.Args...)
	name := opts.Program
	if opts.Shell != "" {
		name, args = "sh", append([]string{"-c", opts.Shell + ` && exec "$0" "$@"`, opts.Program}, args...)
	}
	s := &Server{cmd: exec.Command(name, args...), ended: make(chan struct{})}
	s.cmd.Env = Environ(opts.Settings...)
	s.cmd.Stdout, s.cmd.Stderr = &s.out, &s.out
	s.cmd.SysProcAttr = killWithParent()
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // the process would end with the thread that started it
		err := s.cmd.Start()
		started <- err
		if err == nil {
			_ = s.cmd.Wait() // the result is in ProcessState
		}
		close(s.ended)
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	if err := s.waitUntilReady(ctx); err != nil {
		s.Kill()
		return s, err
	}
	return s, nil
}

// waitUntilReady waits until the server has printed its addresses.
func (s *Server) waitUntilReady(ctx context.Context) error {
	listens, admin := regexp.MustCompile(`listens on (http://\S+)`), regexp.MustCompile(`(http://\S+)/metrics`)
	return Eventually(ctx, func(context.Context) error {
		select {
		case <-s.ended:
			return permanent{fmt.Errorf("the server ended with code %d:\n%s", s.ExitCode(), s.Output())}
		default:
		}
		l, a := listens.FindStringSubmatch(s.Output()), admin.FindStringSubmatch(s.Output())
		if l == nil || a == nil {
			return fmt.Errorf("it has printed no address:\n%s", s.Output())
		}
		s.URL, s.Admin = l[1], a[1]
		return nil
	})
}

// Output is what the server has printed.
func (s *Server) Output() string { return s.out.String() }

// PID is the ID of the process.
func (s *Server) PID() int { return s.cmd.Process.Pid }

// ExitCode is the exit code of a process that has ended.
func (s *Server) ExitCode() int { return s.cmd.ProcessState.ExitCode() }

// Ended is closed when the process has ended.
func (s *Server) Ended() <-chan struct{} { return s.ended }

// Kill ends the process without giving it time to clean up.
func (s *Server) Kill() {
	_ = s.cmd.Process.Kill() // it may have ended
	<-s.ended
}

// Stop asks the process to end and waits until it has.
func (s *Server) Stop() error {
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	<-s.ended
	if code := s.ExitCode(); code != 0 {
		return fmt.Errorf("the server ended with code %d:\n%s", code, s.Output())
	}
	return nil
}

// Metrics returns the metrics by their names, with labels as Prometheus prints them.
func (s *Server) Metrics(ctx context.Context) (map[string]float64, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.Admin+"/metrics", nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	metrics := map[string]float64{}
	for line := range strings.Lines(string(body)) {
		name, value, ok := cutLast(strings.TrimSpace(line))
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		if f, err := strconv.ParseFloat(value, 64); err == nil {
			metrics[name] = f
		}
	}
	return metrics, nil
}

// cutLast cuts a line at its last space.
func cutLast(line string) (before, after string, ok bool) {
	i := strings.LastIndexByte(line, ' ')
	if i < 0 {
		return "", "", false
	}
	return line[:i], line[i+1:], true
}

// AnonymousMemory returns the resident memory of the process without mapped files, in bytes.
func (s *Server) AnonymousMemory() (int64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.PID()))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "RssAnon:"); ok {
			n, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return n << 10, err
		}
	}
	return 0, errors.New("the system does not report RssAnon")
}

// patience is how long Eventually waits. It is far longer than anything takes, for machines that are busy.
const patience = time.Minute

// permanent is an error that does not pass.
type permanent struct{ error }

// Eventually calls f until it returns nil, and returns its last error if that takes longer than a minute.
func Eventually(ctx context.Context, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		err := f(ctx)
		if _, stop := errors.AsType[permanent](err); err == nil || stop {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("not within %s: %w", patience, err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}
