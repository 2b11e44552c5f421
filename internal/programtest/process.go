//go:build unix

package programtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"syscall"
	"time"

	"github.com/prometheus/procfs"
)

// Process is a running program.
type Process struct {
	cmd   *exec.Cmd
	out   Buffer
	ended chan struct{}
}

// StartProcess starts a command, which is killed when the calling process ends. Its output is
// collected.
func StartProcess(cmd *exec.Cmd) (*Process, error) {
	p := &Process{cmd: cmd, ended: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = &p.out, &p.out
	return p, p.start()
}

// StartQuiet is StartProcess with the output discarded, for programs whose speed is measured.
func StartQuiet(cmd *exec.Cmd) (*Process, error) {
	p := &Process{cmd: cmd, ended: make(chan struct{})}
	return p, p.start()
}

func (p *Process) start() error {
	cmd := p.cmd
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	killWithParent(cmd.SysProcAttr)
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // the process would end with the thread that started it
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // the result is in ProcessState
		}
		close(p.ended)
	}()
	return <-started
}

// Output returns what the process has printed.
func (p *Process) Output() string { return p.out.String() }

// PID returns the ID of the process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Ended is closed when the process has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Running reports whether the process has not ended.
func (p *Process) Running() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// Signal sends a signal.
func (p *Process) Signal(s syscall.Signal) error { return p.cmd.Process.Signal(s) }

// Kill ends the process without giving it time to clean up.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.ended
}

// Tree returns the states of the process and of the running ones that it has started. It needs
// Linux.
func (p *Process) Tree() (tree []procfs.ProcStat, err error) {
	all, err := procfs.AllProcs()
	for _, other := range all {
		if s, err := other.Stat(); err == nil && (s.PID == p.PID() || s.PPID == p.PID()) { // or it has ended
			tree = append(tree, s)
		}
	}
	return tree, err
}

// SignalTree sends a signal to the process and those that it has started. It needs Linux.
func (p *Process) SignalTree(s syscall.Signal) error {
	if err := p.Signal(syscall.SIGSTOP); err != nil { // so that it starts no others
		return err
	}
	tree, err := p.Tree()
	for _, other := range tree {
		if failed := syscall.Kill(other.PID, s); !errors.Is(failed, syscall.ESRCH) { // it may have ended
			err = errors.Join(err, failed)
		}
	}
	return err
}

// Freeze suspends the process and those that it has started, until they get SIGCONT: the kernel
// accepts connections, and nothing answers. It needs Linux.
func (p *Process) Freeze(ctx context.Context) error {
	if err := p.SignalTree(syscall.SIGSTOP); err != nil {
		return err
	}
	return Eventually(ctx, func(context.Context) error { // signals are asynchronous
		tree, err := p.Tree()
		// A process that has ended is a zombie until its frozen parent can wait for it.
		if slices.ContainsFunc(tree, func(s procfs.ProcStat) bool { return s.State != "T" && s.State != "Z" }) {
			return fmt.Errorf("%s is not frozen", p.cmd.Path)
		}
		return err
	})
}

// Stop requests the process to end, waits until it has, and fails unless its exit code is 0.
func (p *Process) Stop() error {
	if err := p.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	<-p.ended
	if !p.cmd.ProcessState.Success() {
		return p.endError()
	}
	return nil
}

func (p *Process) endError() error {
	return fmt.Errorf("%s ended with code %d:\n%s", p.cmd.Path, p.cmd.ProcessState.ExitCode(), p.Output())
}

// Wait calls ready until it returns nil. It fails if the process ends before.
func (p *Process) Wait(ctx context.Context, ready func(context.Context) error) error {
	var ended error
	err := Eventually(ctx, func(ctx context.Context) error {
		err := ready(ctx)
		if err != nil && !p.Running() {
			ended = errors.Join(err, p.endError())
			return nil
		}
		return err
	})
	return errors.Join(err, ended)
}

// WaitForOutput waits until the process has printed a text that a pattern matches, and returns its
// first group.
func (p *Process) WaitForOutput(ctx context.Context, pattern string) (group string, err error) {
	compiled := regexp.MustCompile(pattern)
	err = p.Wait(ctx, func(context.Context) error {
		found := compiled.FindStringSubmatch(p.Output())
		if found == nil {
			return fmt.Errorf("no output matches %s:\n%s", pattern, p.Output())
		}
		group = found[1]
		return nil
	})
	return group, err
}

// timeout is how long Eventually waits. It is far longer than anything takes, for machines that are
// busy.
const timeout = 5 * time.Minute

// Eventually calls f until it returns nil, and returns its last error if that takes longer than
// timeout.
func Eventually(ctx context.Context, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	for {
		err := f(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("not within %s: %w", timeout, err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// FreeAddr returns an address of 127.0.0.1 with an unused port. Another process may use it before
// the caller does.
func FreeAddr() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}
