package versions

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/store"
)

const (
	// collectEvery is the interval at which Run collects garbage.
	collectEvery = 5 * time.Minute
	// orphanAge is the age at which an object that is not in the catalogue, or an unfinished
	// upload, cannot belong to a running publish.
	orphanAge = 24 * time.Hour
	// retiredMargin is how long a retired version is remembered after its object was deleted. A
	// publish suspended for longer could make a version live whose file is gone.
	retiredMargin = 30 * 24 * time.Hour
	// rebuiltAge is the age at which an index that another release has rebuilt is removed. If that
	// release still runs, it rebuilds the index once more.
	rebuiltAge = 30 * 24 * time.Hour
)

// Collect deletes objects that no node needs, and unfinished uploads. Several nodes may run it
// concurrently. If there are no Blobs, Sweep does the same for the files in Dir.
func (s *Service) Collect(ctx context.Context) error {
	if !s.shared() {
		return nil
	}
	stored, err := s.objects(ctx)
	if err != nil {
		return fmt.Errorf("listing objects: %w", err)
	}
	versions, err := s.catalogue.Versions(ctx)
	if err != nil {
		return err
	}
	return errors.Join(s.opts.Blobs.Abort(ctx, orphanAge), s.collectDrafts(ctx, stored.drafts),
		s.collect(ctx, newSet(versions), garbage{
			stored: stored.modified(), orphanAge: orphanAge, retention: s.opts.Retention, margin: retiredMargin,
			remove: func(version string) (err error) {
				for _, b := range stored.versions[version] {
					err = errors.Join(err, s.opts.Blobs.Delete(ctx, b.Name))
				}
				return err
			},
		}), s.collectDerived(ctx, stored, newSet(versions)))
}

// collectDerived deletes the derived files that other releases have built and that are so old that
// these releases are unlikely to run, and comparisons with versions that are not kept any more.
func (s *Service) collectDerived(ctx context.Context, stored storedObjects, inCatalogue map[string]bool) (err error) {
	for _, objects := range stored.versions {
		for _, b := range objects {
			f, _ := store.ParseVersionFile(b.Name)
			isOld := f.IsDerived() && !library.IsCurrent(f) && s.opts.Now().Sub(b.Modified) >= rebuiltAge
			if isOld || inCatalogue[f.Version] && !f.IsNeeded(inCatalogue) {
				err = errors.Join(err, s.opts.Blobs.Delete(ctx, b.Name))
			}
		}
	}
	return err
}

// storedObjects are the objects in Blobs.
type storedObjects struct {
	versions map[string][]herb.Blob // by version
	drafts   []string
}

// modified returns when the last object of each version was stored.
func (o storedObjects) modified() map[string]time.Time {
	last := map[string]time.Time{}
	for version, objects := range o.versions {
		for _, b := range objects {
			if b.Modified.After(last[version]) {
				last[version] = b.Modified
			}
		}
	}
	return last
}

// objects lists the objects in Blobs, which it also records in the cache.
func (s *Service) objects(ctx context.Context) (o storedObjects, err error) {
	o.versions = map[string][]herb.Blob{}
	names := map[string]bool{}
	for b, err := range s.opts.Blobs.List(ctx, "") {
		if err != nil {
			return o, err
		}
		if strings.HasSuffix(b.Name, store.DraftSuffix) {
			o.drafts = append(o.drafts, b.Name)
		}
		if f, ok := store.ParseVersionFile(b.Name); ok && herb.IsVersion(f.Version) {
			o.versions[f.Version] = append(o.versions[f.Version], b)
			names[b.Name] = true
		}
	}
	s.library.SetStored(names)
	return o, nil
}

// Run collects garbage locally and in Blobs until ctx is done. If Dir has all files, it does not
// start with it: reading the names of thousands of files would double the processor time of a
// start. It logs when it starts to fail, not each time.
func (s *Service) Run(ctx context.Context) error {
	failing := false
	do := func() {
		limited, cancel := context.WithTimeout(ctx, collectEvery)
		defer cancel()
		err := errors.Join(s.Collect(limited), s.Sweep(limited))
		if s.shared() {
			err = errors.Join(err, s.library.RescanCache())
		}
		if ctx.Err() != nil || (err != nil) == failing {
			return
		}
		failing = err != nil
		if failing {
			s.opts.Log.Warn("garbage collection failed; will retry", "err", err)
		}
	}
	if s.shared() { // eviction needs to know which files are stored
		do()
	}
	tick := time.NewTicker(collectEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			do()
		}
	}
}

func newSet[T comparable](items []T) map[T]bool {
	set := make(map[T]bool, len(items))
	for _, item := range items {
		set[item] = true
	}
	return set
}
