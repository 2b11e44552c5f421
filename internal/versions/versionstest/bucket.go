package versionstest

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

// Bucket is an object store in a folder. Its operations can be made to fail.
type Bucket struct {
	Dir string
	now func() time.Time

	Mu       sync.Mutex
	Modified map[string]time.Time
	calls    map[string]int // by operation
	Fault    func(c Call) error
	spoil    func(content []byte) []byte
}

// Call is an operation that is about to run. Do runs it.
type Call struct {
	ctx      context.Context
	Op, Name string
	Do       func() error
}

// NewBucket returns an empty object store whose objects get the times of a clock.
func NewBucket(t testing.TB, now func() time.Time) *Bucket {
	t.Helper()
	return &Bucket{Dir: t.TempDir(), now: now, Modified: map[string]time.Time{}, calls: map[string]int{}}
}

// ErrStore is the error of an object store that is down.
var ErrStore = herb.Errorf(herb.CodeUnavailable, "the object store is down")

// Set routes all operations through fault and all content read through spoil. nil disables them.
func (b *Bucket) Set(fault func(c Call) error, spoil func([]byte) []byte) {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	b.Fault, b.spoil = fault, spoil
}

// Away is a fault: every operation fails.
func Away(Call) error { return ErrStore }

// Only returns a fault of one kind of operation.
func Only(op string, fault func(Call) error) func(Call) error {
	return func(c Call) error {
		if c.Op == op {
			return fault(c)
		}
		return c.Do()
	}
}

// Gate returns a fault that blocks operations until they are let through.
func Gate() (fault func(Call) error, open func()) {
	through := make(chan struct{})
	return func(c Call) error {
		select {
		case <-through:
			return c.Do()
		case <-c.ctx.Done():
			return c.ctx.Err()
		}
	}, sync.OnceFunc(func() { close(through) })
}

// Count returns how often an operation has run.
func (b *Bucket) Count(op string) int {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	return b.calls[op]
}

// perform runs an operation, or the fault.
func (b *Bucket) perform(ctx context.Context, op, name string, do func() error) error {
	b.Mu.Lock()
	b.calls[op]++
	fault := b.Fault
	b.Mu.Unlock()
	if fault == nil {
		return do()
	}
	return fault(Call{ctx, op, name, do})
}

// Put, Get, Delete, Abort and List implement versions.Blobs.
func (b *Bucket) Put(ctx context.Context, name, path string, progress func(done, total int64)) error {
	return b.perform(ctx, "put", name, func() error {
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if progress != nil {
			progress(int64(len(content)), int64(len(content)))
		}
		b.Mu.Lock()
		b.Modified[name] = b.now()
		b.Mu.Unlock()
		part := filepath.Join(b.Dir, "part of "+name)
		return errors.Join(os.WriteFile(part, content, 0o600), os.Rename(part, filepath.Join(b.Dir, name)))
	})
}

func (b *Bucket) Get(ctx context.Context, name string, to io.Writer) error {
	return b.perform(ctx, "get", name, func() error {
		content, err := os.ReadFile(filepath.Join(b.Dir, name))
		if errors.Is(err, os.ErrNotExist) {
			return herb.Wrap(herb.CodeNotFound, err, "there is no object %q", name)
		}
		if err != nil {
			return err
		}
		b.Mu.Lock()
		if b.spoil != nil {
			content = b.spoil(bytes.Clone(content))
		}
		b.Mu.Unlock()
		for part := range slices.Chunk(content, 1000) {
			if _, err := to.Write(part); err != nil {
				return fmt.Errorf("copying: %w", err)
			}
		}
		return nil
	})
}

func (b *Bucket) Delete(ctx context.Context, name string) error {
	return b.perform(ctx, "delete", name, func() error { return os.RemoveAll(filepath.Join(b.Dir, name)) })
}

func (b *Bucket) Abort(ctx context.Context, olderThan time.Duration) error {
	return b.perform(ctx, "abort "+olderThan.String(), "", func() error { return nil })
}

func (b *Bucket) List(ctx context.Context, prefix string) iter.Seq2[herb.Blob, error] {
	return func(yield func(herb.Blob, error) bool) {
		err := b.perform(ctx, "list", "", func() error { return nil })
		if err != nil {
			yield(herb.Blob{}, err)
			return
		}
		files, err := os.ReadDir(b.Dir)
		if err != nil {
			yield(herb.Blob{}, err)
			return
		}
		b.Mu.Lock()
		modified := maps.Clone(b.Modified)
		b.Mu.Unlock()
		for _, f := range files {
			info, err := f.Info()
			if err != nil || strings.HasPrefix(f.Name(), "part of ") || !strings.HasPrefix(f.Name(), prefix) {
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

// Versions returns the versions that have an object, in order.
func (b *Bucket) Versions(t testing.TB) []string {
	t.Helper()
	files, err := os.ReadDir(b.Dir)
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
