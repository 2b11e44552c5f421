package proc_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"herbarium/bench/internal/proc"
)

func onLinux(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("there is no /proc to read")
	}
}

func TestCPU(t *testing.T) {
	onLinux(t)
	t.Parallel()
	before, err := proc.CPU(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for start := time.Now(); time.Since(start) < 2*time.Minute; {
		after, err := proc.CPU(os.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		if after > before {
			return
		}
	}
	t.Error("reading /proc for two minutes used no CPU time")
}

func TestFine(t *testing.T) {
	onLinux(t)
	t.Parallel()
	shell := exec.Command("sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; echo; read _")
	in, err1 := shell.StdinPipe()
	out, err2 := shell.StdoutPipe()
	if err := errors.Join(err1, err2, shell.Start()); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil { // it has counted to its end
		t.Error(err)
	}
	if d, err := proc.Fine(shell.Process.Pid); d <= 0 || err != nil {
		t.Errorf("counting took %v, %v", d, err)
	}
	if err := errors.Join(in.Close(), ignoreExit(shell.Wait())); err != nil {
		t.Error(err)
	}
	if _, err := proc.Fine(-1); err == nil {
		t.Error("there is a process -1")
	}
}

// ignoreExit drops the error of a program that has ended with a code of its own: read fails at the end of its input.
func ignoreExit(err error) error {
	if _, exited := errors.AsType[*exec.ExitError](err); exited {
		return nil
	}
	return err
}

func TestMemoryOf(t *testing.T) {
	onLinux(t)
	t.Parallel()
	m, err := proc.MemoryOf(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if m.Anon <= 0 || m.File <= 0 || m.RSS < m.Anon+m.File || m.Peak < m.RSS {
		t.Errorf("memory is %+v", m)
	}
	if _, err := proc.MemoryOf(-1); err == nil {
		t.Error("there is a process -1")
	}
}

func TestWatch(t *testing.T) {
	onLinux(t)
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if m := proc.Watch(ctx, os.Getpid()); m.Peak <= 0 || m.Anon <= 0 {
		t.Errorf("memory is %+v", m)
	}
	if m := proc.Watch(t.Context(), -1); m != (proc.Memory{}) {
		t.Errorf("the memory of no process is %+v", m)
	}
}
