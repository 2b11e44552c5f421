// Package program runs benchmark programs that use the servers of the tests, which are controlled
// by a testing.TB.
package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"testing"
)

// ErrFailed is the error of a program that has logged why it failed.
var ErrFailed = errors.New("the program has failed; see its output")

// Run calls f with a testing.TB that logs to a writer. It runs the cleanups when f ends, also if f
// has failed, and then returns ErrFailed. A part that is missing, which would skip a test, fails
// the program.
func Run(ctx context.Context, log io.Writer, f func(t testing.TB)) error {
	r := &run{ctx: ctx, log: log}
	r.call(func() { f(r) })
	for len(r.cleanups) > 0 {
		last := r.cleanups[len(r.cleanups)-1]
		r.cleanups = r.cleanups[:len(r.cleanups)-1]
		r.call(last)
	}
	if r.Failed() {
		return ErrFailed
	}
	return nil
}

// run is a testing.TB outside of tests. The embedded one is nil: it makes run a testing.TB, and
// what run does not implement panics.
type run struct {
	testing.TB
	ctx      context.Context
	log      io.Writer
	cleanups []func()

	mu     sync.Mutex
	failed bool
}

// call runs f in a goroutine of its own, which FailNow ends.
func (r *run) call(f func()) {
	var running sync.WaitGroup
	running.Go(f)
	running.Wait()
}

func (r *run) Helper() {}

func (r *run) Context() context.Context { return r.ctx }

func (r *run) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }

func (r *run) TempDir() string {
	folder, err := os.MkdirTemp("", "herbarium-bench")
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() {
		if err := os.RemoveAll(folder); err != nil {
			r.Error(err)
		}
	})
	return folder
}

func (r *run) Failed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed
}

func (r *run) Fail() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = true
}

func (r *run) FailNow() {
	r.Fail()
	runtime.Goexit()
}

func (r *run) Log(args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintln(r.log, args...)
}

func (r *run) Logf(format string, args ...any)   { r.Log(fmt.Sprintf(format, args...)) }
func (r *run) Error(args ...any)                 { r.Log(args...); r.Fail() }
func (r *run) Errorf(format string, args ...any) { r.Logf(format, args...); r.Fail() }
func (r *run) Fatal(args ...any)                 { r.Log(args...); r.FailNow() }
func (r *run) Fatalf(format string, args ...any) { r.Logf(format, args...); r.FailNow() }
func (r *run) Skip(args ...any)                  { r.Fatal(args...) }
func (r *run) Skipf(format string, args ...any)  { r.Fatalf(format, args...) }
