package library

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"

	"herbarium/internal/background"
	"herbarium/internal/filesystem"
	"herbarium/internal/herb"
)

// Parquet files and comparisons are derived from the records of versions when they are first
// requested, and kept beside the segments. Like a rebuilt index, they can be deleted at any time,
// and their names carry what their bytes depend on, so that programs of several releases can share
// a folder or an object store.

// derivedFiles makes and keeps the files that are derived from records on demand: where they come
// from, that a request waits for one at most, and how much of the disk they take.
type derivedFiles struct {
	*folder
	withdrawals
	pool   *background.Pool
	wait   time.Duration                                  // see Options.Wait
	free   func(dir string) (free, total uint64, ok bool) // see Options.Free
	update func(ctx context.Context) error                // reads the catalogue if it changed

	room sync.Mutex // held while files are removed to make room

	uses sync.Mutex           // guards used
	used map[string]time.Time // by name; those of earlier processes are missing
}

// Derived describes a file that is derived from the records of one or two versions of a dataset.
type Derived struct {
	Name     string
	What     string // see background.NewTask
	Versions []View
	Total    int64 // units of the work
	Size     int64 // expected bytes on the disk, also of temporary files
	// Write writes the file and reports its progress.
	Write func(ctx context.Context, t *background.Task, file io.Writer) error
}

// OpenDerived opens a derived file, which the caller closes. If it is not there, it is fetched or
// built in the background, and the request waits for it. The error has herb.CodeUnavailable and a
// time to try again if that takes longer.
func (l *derivedFiles) OpenDerived(ctx context.Context, d Derived) (*os.File, error) {
	for range 3 { // it may be evicted at once
		if err := l.checkDerived(d, nil); err != nil {
			return nil, err
		}
		f, err := os.Open(l.path(d.Name))
		if !errors.Is(err, fs.ErrNotExist) {
			l.recordUse(d.Name)
			return f, err
		}
		if err := l.pool.Do(ctx, l.wait, background.Work{
			Name: d.Name, What: d.What, Total: d.Total, Hold: d.hold,
			Run: func(ctx context.Context, t *background.Task) error {
				if l.shared() && l.fetchDerived(ctx, d.Name) == nil {
					return errors.Join(l.checkDerived(d, nil), l.TrimDerived())
				}
				started := time.Now()
				err := l.makeRoom(d.Size)
				if err == nil {
					err = l.BuildDerived(ctx, d, t)
				}
				if filesystem.IsFull(err) {
					err = herb.Wrap(herb.CodeNoSpace, err, noRoom, d.What)
				}
				if err != nil {
					_ = l.update(ctx) // another process may have withdrawn the version and removed the file
					return l.checkDerived(d, err)
				}
				l.log.Info("built file", "file", d.Name, "dataset", d.Versions[0].Ref.String(), "duration",
					time.Since(started))
				return l.checkDerived(d, nil)
			},
		}); err != nil {
			return nil, err
		}
	}
	return nil, herb.Errorf(herb.CodeUnavailable, "the cache has no room for the result of %s; try again", d.What)
}

// checkDerived returns an error if a version of a derived file was withdrawn, or err.
func (l *derivedFiles) checkDerived(d Derived, err error) error {
	for _, v := range d.Versions {
		err = l.checkWithdrawn(v.Ref, v.Version, err)
	}
	return err
}

// hold keeps the versions open until release is called.
func (d Derived) hold() (release func(), err error) {
	release = func() {}
	for _, v := range d.Versions {
		if !v.Reader.Acquire() {
			release()
			return nil, herb.Errorf(herb.CodeUnavailable, "version %s of %s was closed; try again", v.Version, v.Ref)
		}
		before := release
		release = func() {
			_ = v.Reader.Release() // unmapping fails for unmapped files only
			before()
		}
	}
	return release, nil
}

// fetchDerived fetches the file that another node has built.
func (l *derivedFiles) fetchDerived(ctx context.Context, name string) error {
	size, err := l.fetch(ctx, name)
	if err == nil {
		l.cache.add(name, size, true)
	}
	return err
}

// BuildDerived builds a derived file and stores it for other nodes. The versions need not be in the
// catalogue.
func (l *derivedFiles) BuildDerived(ctx context.Context, d Derived, t *background.Task) error {
	if err := l.WriteDerived(ctx, d, t); err != nil {
		return err
	}
	return l.StoreDerived(ctx, d.Name)
}

// WriteDerived builds a derived file in Dir.
func (l *derivedFiles) WriteDerived(ctx context.Context, d Derived, t *background.Task) error {
	return l.save(d.Name, func(file io.Writer) error { return d.Write(ctx, t, file) })
}

// StoreDerived stores a derived file that is in Dir for other nodes. If that fails, they build it
// themselves.
func (l *derivedFiles) StoreDerived(ctx context.Context, name string) error {
	if !l.shared() {
		return nil
	}
	path := l.path(name)
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	stored := l.blobs.Put(ctx, name, path, nil)
	if stored != nil {
		l.log.Warn("cannot store derived file; other nodes build it, too", "object", name, "err", stored)
	}
	l.cache.add(name, info.Size(), stored == nil)
	return nil
}
