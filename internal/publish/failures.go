package publish

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/descriptor"
)

// failures are the source errors that the database has not stored yet, because it is down or on a
// disk that is full.
type failures struct {
	mu       sync.Mutex
	unstored map[string]*herb.SourceError // by path; nil: to be cleared
	storing  sync.Mutex                   // held while the database is written
}

// isTemporary reports whether a source may be published later although neither its file nor its
// settings change: the system has failed, such as a full disk or a missing permission, or a
// dependency is down. Errors about the content have other codes. A bug is not temporary.
func isTemporary(err error) bool {
	if _, bug := errors.AsType[*herb.PanicError](err); bug || err == nil {
		return false
	}
	if _, system := errors.AsType[syscall.Errno](err); system {
		return true
	}
	return slices.Contains([]herb.Code{herb.CodeInternal, herb.CodeNoSpace, herb.CodeUnavailable}, herb.CodeOf(err))
}

// recordSkipped logs that a file is not published. A table is also recorded for 'herbarium datasets
// list', because an earlier version of it may be listed.
func (p *Publisher) recordSkipped(ctx context.Context, s descriptor.Skipped) {
	if s.Ref == (herb.Ref{}) {
		p.Log.Info("file skipped", "file", s.Path, "reason", s.Reason)
		return
	}
	p.Log.Warn("file skipped; its dataset is not updated", "file", s.Path, "dataset", s.Ref.String(),
		"reason", s.Reason)
	p.setSourceError(ctx, herb.SourceError{Path: s.Path, Ref: s.Ref, Message: s.Reason, Skipped: true})
}

// recordDiscoveryError logs an error about paths, such as a name clash, and records it for the
// catalogue page.
func (p *Publisher) recordDiscoveryError(ctx context.Context, err error) {
	p.Log.Error("cannot discover sources", "err", err)
	if bug, ok := errors.AsType[*herb.PanicError](err); ok {
		p.Log.Error("panic in source discovery", "stack", string(bug.Stack))
	}
	p.setSourceError(ctx, herb.SourceError{Path: err.Error(), Message: err.Error()})
}

func (p *Publisher) setSourceError(ctx context.Context, e herb.SourceError) {
	e.Since = time.Now()
	p.failures.add(e.Path, &e)
	if err := p.StoreSourceErrors(ctx); err != nil {
		p.Log.Warn("cannot record source error; will retry", "file", e.Path, "err", err)
	}
}

func (p *Publisher) clearSourceError(ctx context.Context, path string) {
	p.failures.add(path, nil)
	if err := p.StoreSourceErrors(ctx); err != nil {
		p.Log.Warn("cannot clear source error; will retry", "file", path, "err", err)
	}
}

func (f *failures) add(path string, e *herb.SourceError) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.unstored == nil {
		f.unstored = map[string]*herb.SourceError{}
	}
	f.unstored[path] = e
}

func (f *failures) all() map[string]*herb.SourceError {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.unstored)
}

// stored removes an error that was stored, unless it has been replaced meanwhile.
func (f *failures) stored(path string, e *herb.SourceError) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now, ok := f.unstored[path]; ok && now == e {
		delete(f.unstored, path)
	}
}

// StoreSourceErrors writes what the database has not stored yet.
func (p *Publisher) StoreSourceErrors(ctx context.Context) error {
	p.failures.storing.Lock()
	defer p.failures.storing.Unlock()
	for path, e := range p.failures.all() {
		var err error
		if e != nil {
			err = p.Store.SetSourceError(ctx, *e)
		} else {
			err = p.Store.ClearSourceError(ctx, path)
		}
		if err != nil {
			return err
		}
		p.failures.stored(path, e)
	}
	return nil
}

// SourceErrors returns why sources are not published. While the database is down, it returns those
// that this server has not stored, so that pages are still served.
func (p *Publisher) SourceErrors(ctx context.Context) ([]herb.SourceError, error) {
	unstored := p.failures.all() // first: what is stored meanwhile is in both
	sourceErrors, err := p.Store.SourceErrors(ctx)
	if err != nil && herb.CodeOf(err) != herb.CodeUnavailable {
		return nil, err
	}
	sourceErrors = slices.DeleteFunc(sourceErrors, func(e herb.SourceError) bool {
		_, replaced := unstored[e.Path]
		return replaced
	})
	for _, e := range unstored {
		if e != nil {
			sourceErrors = append(sourceErrors, *e)
		}
	}
	slices.SortFunc(sourceErrors, func(a, b herb.SourceError) int { return strings.Compare(a.Path, b.Path) })
	return sourceErrors, nil
}

// RemoveStaleErrors clears the errors of files that no longer exist. Errors of the discovery, which
// name no file, are cleared as well unless a watcher, which keeps them up to date, is running.
func (p *Publisher) RemoveStaleErrors(ctx context.Context, watching bool) error {
	sourceErrors, err := p.Store.SourceErrors(ctx)
	if err != nil {
		return err
	}
	for _, e := range sourceErrors {
		path, _ := descriptor.SplitLabel(e.Path)
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) && !(watching && e.Ref == herb.Ref{}) {
			p.clearSourceError(ctx, e.Path)
		}
	}
	return nil
}
