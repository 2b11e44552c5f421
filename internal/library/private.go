package library

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"herbarium/internal/herb"
)

// Private is a library whose catalogue is visible to key holders only: a dataset that requires a
// key does not exist for readers without one that may read it. Its methods expect the reader in
// their context; without one, only open datasets exist.
type Private struct{ *Library }

// reader is who a context belongs to.
type reader struct {
	sees func(herb.Dataset) bool
	err  error // why it is unknown what the reader may see
}

type readerKey struct{}

// WithReader returns a context of a reader, who may know of the versions for which sees is true.
// err is why the reader could not be authenticated, other than that the key is invalid; methods of
// Private fail with it where the result depends on the key.
func WithReader(ctx context.Context, sees func(herb.Dataset) bool, err error) context.Context {
	return context.WithValue(ctx, readerKey{}, reader{sees, err})
}

// IsVisible reports whether the reader of a context may know of a version.
func IsVisible(ctx context.Context, d herb.Dataset) bool {
	r, ok := ctx.Value(readerKey{}).(reader)
	if !ok || r.err != nil {
		return herb.Principal{}.See(d).Values
	}
	return r.sees(d)
}

// isLiveVisible is IsVisible for a live version without its description.
func isLiveVisible(ctx context.Context, v herb.LiveVersion) bool {
	return IsVisible(ctx, herb.Dataset{Ref: v.Ref, Access: v.Access})
}

// readerErr returns why it is unknown what the reader of a context may see.
func readerErr(ctx context.Context) error {
	r, _ := ctx.Value(readerKey{}).(reader)
	return r.err
}

// filter returns the versions that the reader may know of.
func (p Private) filter(ctx context.Context, live []herb.LiveVersion, err error) ([]herb.LiveVersion, error) {
	if err == nil {
		err = readerErr(ctx)
	}
	return slices.DeleteFunc(live, func(v herb.LiveVersion) bool { return !isLiveVisible(ctx, v) }), err
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

// Datasets is Library.Datasets for a reader. It leaves out a dataset whose protected version went
// live after Live returned it.
func (p Private) Datasets(ctx context.Context, versions []herb.LiveVersion, details bool) ([]herb.Dataset, error) {
	all, err := p.Library.Datasets(ctx, versions, details)
	at := -1
	return slices.DeleteFunc(all, func(d herb.Dataset) bool {
		at++
		return d.Version != versions[at].Version && !IsVisible(ctx, d)
	}), err
}

// Acquire is Library.Acquire for a reader. The error is the same for an unknown dataset and one
// that the reader must not know of.
func (p Private) Acquire(ctx context.Context, ref herb.Ref) (View, error) {
	if err := p.Check(ctx, ref); err != nil {
		return View{}, err
	}
	v, err := p.Library.Acquire(ctx, ref)
	if err == nil && !IsVisible(ctx, v.Dataset) { // another version went live meanwhile
		v.Release()
		return View{}, p.unknown(ctx, ref)
	}
	return v, p.Hide(ctx, ref, err)
}

// AcquireVersion is Library.AcquireVersion for a reader. The error is the same for a version that
// is not kept and one that the reader must not know of.
func (p Private) AcquireVersion(ctx context.Context, ref herb.Ref, version string) (View, error) {
	if err := p.Check(ctx, ref); err != nil {
		return View{}, err
	}
	v, err := p.Library.AcquireVersion(ctx, ref, version)
	visible := err != nil || IsVisible(ctx, v.Dataset)
	if !visible {
		v.Release()
	}
	if e, ok := errors.AsType[*herb.Error](err); ok && e.Withdrawn != nil &&
		IsVisible(ctx, herb.Dataset{Ref: ref, Access: e.Withdrawn.Access}) {
		return View{}, err
	}
	if !visible || herb.CodeOf(err) == herb.CodeGone {
		gone := herb.Errorf(herb.CodeGone, "version %q of dataset %s is not kept, or it requires another key",
			clip(version), ref)
		return View{}, cmp.Or(readerErr(ctx), error(gone))
	}
	return v, p.Hide(ctx, ref, err)
}

// Check fails unless the reader may know of a dataset. It decides without opening the dataset, so
// that the time it takes does not tell whether there is one.
func (p Private) Check(ctx context.Context, ref herb.Ref) error {
	if err := p.catalogue.updateEntries(ctx); err != nil {
		return err
	}
	v, known := herb.LiveVersion{Ref: ref, Access: p.opts.PlantsAccess}, p.IsMutable(ref)
	if !known {
		v, known = p.table.find(ref)
	}
	if known && isLiveVisible(ctx, v) {
		return nil
	}
	return p.unknown(ctx, ref)
}

// Hide replaces the error for an unknown dataset, which suggests names. The dataset may have been
// removed meanwhile.
func (p Private) Hide(ctx context.Context, ref herb.Ref, err error) error {
	if herb.CodeOf(err) == herb.CodeNotFound {
		return p.unknown(ctx, ref)
	}
	return err
}

// unknown returns the error for a dataset that does not exist for a reader. It suggests no names,
// so that it depends on nothing but the request.
func (p Private) unknown(ctx context.Context, ref herb.Ref) error {
	if err := readerErr(ctx); err != nil {
		return err
	}
	return herb.Errorf(herb.CodeNotFound,
		"no such dataset %q, or it requires another key; GET /api/v1 lists the datasets that you may read",
		clip(ref.String()))
}
