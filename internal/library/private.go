package library

import (
	"context"
	"slices"

	"herbarium/internal/herb"
)

// Private is a library whose catalogue is visible to key holders only: a dataset that requires a
// key does not exist for readers without one that may read it. Its methods expect the reader in
// their context; without one, only open datasets exist.
type Private struct{ *Library }

// reader is who a context belongs to.
type reader struct {
	mayRead func(herb.Ref) bool
	err     error // why it is unknown what the reader may read
}

type readerKey struct{}

// WithReader returns a context of a reader. err is why the reader could not be authenticated, other
// than that the key is invalid; methods of Private fail with it where the result depends on the
// key.
func WithReader(ctx context.Context, mayRead func(herb.Ref) bool, err error) context.Context {
	return context.WithValue(ctx, readerKey{}, reader{mayRead, err})
}

// isVisible reports whether the reader of a context may know of a dataset.
func isVisible(ctx context.Context, v herb.LiveVersion) bool {
	if v.Access == herb.AccessOpen {
		return true
	}
	r, ok := ctx.Value(readerKey{}).(reader)
	return ok && r.err == nil && r.mayRead(v.Ref)
}

// readerErr returns why it is unknown what the reader of a context may read.
func readerErr(ctx context.Context) error {
	r, _ := ctx.Value(readerKey{}).(reader)
	return r.err
}

// filter returns the versions that the reader may know of.
func (p Private) filter(ctx context.Context, live []herb.LiveVersion, err error) ([]herb.LiveVersion, error) {
	if err == nil {
		err = readerErr(ctx)
	}
	return slices.DeleteFunc(live, func(v herb.LiveVersion) bool { return !isVisible(ctx, v) }), err
}

// Live is Library.Live for a reader.
func (p Private) Live(ctx context.Context) ([]herb.LiveVersion, error) {
	live, err := p.Library.Live(ctx)
	return p.filter(ctx, live, err)
}

// Search is Library.Search for a reader.
func (p Private) Search(ctx context.Context, search, keyword string) ([]herb.LiveVersion, error) {
	live, err := p.Library.Search(ctx, search, keyword)
	return p.filter(ctx, live, err)
}

// Acquire is Library.Acquire for a reader. The error is the same for an unknown dataset and one
// that the reader must not know of.
func (p Private) Acquire(ctx context.Context, ref herb.Ref) (View, error) {
	if err := p.check(ctx, ref); err != nil {
		return View{}, err
	}
	v, err := p.Library.Acquire(ctx, ref)
	return v, p.hide(ctx, ref, err)
}

// AcquireVersion is Library.AcquireVersion for a reader.
func (p Private) AcquireVersion(ctx context.Context, ref herb.Ref, version string) (View, error) {
	if err := p.check(ctx, ref); err != nil {
		return View{}, err
	}
	v, err := p.Library.AcquireVersion(ctx, ref, version)
	return v, p.hide(ctx, ref, err)
}

// History is Library.History for a reader.
func (p Private) History(ctx context.Context, ref herb.Ref) ([]VersionInfo, error) {
	if err := p.check(ctx, ref); err != nil {
		return nil, err
	}
	history, err := p.Library.History(ctx, ref)
	return history, p.hide(ctx, ref, err)
}

// check fails unless the reader may know of a dataset. It decides without opening the dataset, so
// that the time it takes does not tell whether there is one.
func (p Private) check(ctx context.Context, ref herb.Ref) error {
	if err := p.updateEntries(ctx); err != nil {
		return err
	}
	v, known := herb.LiveVersion{Ref: ref, Access: p.opts.PlantsAccess}, p.isPlants(ref)
	if !known {
		p.mu.RLock()
		e := p.entries[versionKey{ref: ref}]
		if known = e != nil; known {
			v = e.LiveVersion
		}
		p.mu.RUnlock()
	}
	if known && isVisible(ctx, v) {
		return nil
	}
	return p.unknown(ctx, ref)
}

// hide replaces the error for an unknown dataset, which suggests names. The dataset may have been
// removed meanwhile.
func (p Private) hide(ctx context.Context, ref herb.Ref, err error) error {
	if herb.CodeOf(err) == herb.CodeNotFound {
		return p.unknown(ctx, ref)
	}
	return err
}

func (p Private) unknown(ctx context.Context, ref herb.Ref) error {
	if err := readerErr(ctx); err != nil {
		return err
	}
	suggestion := p.suggestion(ref, func(v herb.LiveVersion) bool { return isVisible(ctx, v) })
	return herb.Errorf(herb.CodeNotFound, "no such dataset %q, or it requires another key%s GET /api/v1 lists the datasets that you may read",
		clip(ref.String()), suggestion)
}
