package library_test

import (
	"context"
	"log/slog"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"herbarium/internal/filesystem"
	"herbarium/internal/library"
	"herbarium/internal/must"
	"herbarium/internal/versions/versionstest"
)

// lockProbe is the file system and the log of a library. It fails a test if one of them is used
// while the lock is held that every request takes.
type lockProbe struct {
	filesystem.OS
	slog.Handler
	t       *testing.T
	library atomic.Pointer[library.Library]
	removed atomic.Int64
	listed  atomic.Int64
	written atomic.Int64
	closed  atomic.Int64
	logged  atomic.Int64
}

// count counts an operation and waits until it gets the lock.
func (p *lockProbe) count(n *atomic.Int64, what string) {
	l := p.library.Load()
	if l == nil || p.t.Failed() {
		return
	}
	n.Add(1)
	free := make(chan struct{})
	go func() {
		l.WithLock(func() {})
		close(free)
	}()
	select {
	case <-free:
	case <-time.After(10 * time.Second): // it would wait for ever
		p.t.Errorf("%s while requests wait", what)
	}
}

func (p *lockProbe) OpenFile(name string, flag int, perm os.FileMode) (filesystem.File, error) {
	p.count(&p.written, "opening "+name)
	return p.OS.OpenFile(name, flag, perm)
}

func (p *lockProbe) ReadDir(name string) ([]os.DirEntry, error) {
	p.count(&p.listed, "listing "+name)
	return p.OS.ReadDir(name)
}

func (p *lockProbe) RemoveAll(name string) error {
	p.count(&p.removed, "removing "+name)
	return p.OS.RemoveAll(name)
}

func (p *lockProbe) Enabled(context.Context, slog.Level) bool { return true }

func (p *lockProbe) Handle(_ context.Context, r slog.Record) error {
	p.count(&p.logged, "logging "+r.Message)
	return nil
}

// TestLibrary_lock fetches, closes and evicts versions, lists the folder and removes a withdrawn
// version. No file is opened, listed, removed or unmapped, and nothing is logged, while the lock is
// held that every request takes.
func TestLibrary_lock(t *testing.T) {
	t.Parallel()
	c := versionstest.NewCluster(t)
	ds, size := fill(t, c, 3, 1)
	publisher := c.Node(t, nil)
	p := &lockProbe{t: t, Handler: slog.DiscardHandler}
	n := c.Node(t, func(o *versionstest.Options) {
		o.FS, o.Log, o.CacheSize, o.OpenSize = p, slog.New(p), size, 1
	})
	p.library.Store(n.Library)
	for _, d := range ds {
		v, err := n.Acquire(t.Context(), d.Ref)
		must.NoError(t, err)
		v.Release()
		n.OnClose(func() { p.count(&p.closed, "closing a version") })
		n.Poll(t.Context())
	}
	must.NoError(t, n.RescanCache())
	versionstest.PublishAs(t, publisher.Node, ds[2].Ref, 7)
	must.NoError(t, publisher.Withdraw(t.Context(), ds[2].Ref, ds[2].Version))
	n.Poll(t.Context())
	versionstest.WantListed(t, n.Node, ds[2].Ref, 7)
	for what, n := range map[string]*atomic.Int64{"opened": &p.written, "listed": &p.listed, "removed": &p.removed,
		"closed": &p.closed, "logged": &p.logged} {
		if n.Load() == 0 {
			t.Errorf("nothing was %s", what)
		}
	}
}
