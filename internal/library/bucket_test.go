package library_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"herbarium/internal/herb"
)

// bucket is an object store in a folder. Its operations can be made to fail.
type bucket struct {
	dir string
	now func() time.Time

	mu       sync.Mutex
	modified map[string]time.Time
	calls    map[string]int // by operation
	fault    func(c call) error
	spoil    func(content []byte) []byte
}

// call is an operation that is about to run. do runs it.
type call struct {
	ctx      context.Context
	op, name string
	do       func() error
}

func newBucket(t testing.TB, now func() time.Time) *bucket {
	t.Helper()
	return &bucket{dir: t.TempDir(), now: now, modified: map[string]time.Time{}, calls: map[string]int{}}
}

// errStore is the error of an object store that is down.
var errStore = herb.Errorf(herb.CodeUnavailable, "the object store is down")

// set routes all operations through fault and all content read through spoil. nil disables them.
func (b *bucket) set(fault func(c call) error, spoil func([]byte) []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fault, b.spoil = fault, spoil
}

// away is a fault: every operation fails.
func away(call) error { return errStore }

// only returns a fault of one kind of operation.
func only(op string, fault func(call) error) func(call) error {
	return func(c call) error {
		if c.op == op {
			return fault(c)
		}
		return c.do()
	}
}

// gate returns a fault that blocks operations until they are let through.
func gate() (fault func(call) error, open func()) {
	through := make(chan struct{})
	return func(c call) error {
		select {
		case <-through:
			return c.do()
		case <-c.ctx.Done():
			return c.ctx.Err()
		}
	}, sync.OnceFunc(func() { close(through) })
}

func (b *bucket) count(op string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.calls[op]
}

// perform runs an operation, or the fault.
func (b *bucket) perform(ctx context.Context, op, name string, do func() error) error {
	b.mu.Lock()
	b.calls[op]++
	fault := b.fault
	b.mu.Unlock()
	if fault == nil {
		return do()
	}
	return fault(call{ctx, op, name, do})
}

// Put, Get, Delete, Abort and List implement versions.Blobs.
func (b *bucket) Put(ctx context.Context, name, path string, progress func(done, total int64)) error {
	return b.perform(ctx, "put", name, func() error {
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if progress != nil {
			progress(int64(len(content)), int64(len(content)))
		}
		b.mu.Lock()
		b.modified[name] = b.now()
		b.mu.Unlock()
		part := filepath.Join(b.dir, "part of "+name)
		return errors.Join(os.WriteFile(part, content, 0o600), os.Rename(part, filepath.Join(b.dir, name)))
	})
}

func (b *bucket) Get(ctx context.Context, name string, to io.Writer) error {
	return b.perform(ctx, "get", name, func() error {
		content, err := os.ReadFile(filepath.Join(b.dir, name))
		if errors.Is(err, os.ErrNotExist) {
			return herb.Wrap(herb.CodeNotFound, err, "there is no object %q", name)
		}
		if err != nil {
			return err
		}
		b.mu.Lock()
		if b.spoil != nil {
			content = b.spoil(bytes.Clone(content))
		}
		b.mu.Unlock()
		for part := range slices.Chunk(content, 1000) {
			if _, err := to.Write(part); err != nil {
				return fmt.Errorf("copying: %w", err)
			}
		}
		return nil
	})
}

func (b *bucket) Delete(ctx context.Context, name string) error {
	return b.perform(ctx, "delete", name, func() error { return os.RemoveAll(filepath.Join(b.dir, name)) })
}

func (b *bucket) Abort(ctx context.Context, olderThan time.Duration) error {
	return b.perform(ctx, "abort "+olderThan.String(), "", func() error { return nil })
}

func (b *bucket) List(ctx context.Context) iter.Seq2[herb.Blob, error] {
	return func(yield func(herb.Blob, error) bool) {
		err := b.perform(ctx, "list", "", func() error { return nil })
		if err != nil {
			yield(herb.Blob{}, err)
			return
		}
		files, err := os.ReadDir(b.dir)
		if err != nil {
			yield(herb.Blob{}, err)
			return
		}
		b.mu.Lock()
		modified := maps.Clone(b.modified)
		b.mu.Unlock()
		for _, f := range files {
			info, err := f.Info()
			if err != nil || strings.HasPrefix(f.Name(), "part of ") {
				continue
			}
			at, ok := modified[f.Name()]
			if !ok { // another process has put it there
				at = info.ModTime()
			}
			if !yield(herb.Blob{Name: f.Name(), Size: info.Size(), Modified: at}, nil) {
				return
			}
		}
	}
}

// versions returns the versions that have an object, in order.
func (b *bucket) versions(t testing.TB) []string {
	t.Helper()
	files, err := os.ReadDir(b.dir)
	if err != nil {
		t.Fatal(err)
	}
	var versions []string
	for _, f := range files {
		if v, ok := strings.CutSuffix(f.Name(), ".segment"); ok && !strings.HasPrefix(v, "part of ") {
			versions = append(versions, v)
		}
	}
	return versions
}
