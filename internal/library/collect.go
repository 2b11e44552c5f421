package library

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"herbarium/internal/herb"
)

const (
	// collectEvery is the interval at which Run collects garbage.
	collectEvery = 5 * time.Minute
	// orphanAge is the age at which an object that is not in the catalogue cannot belong to a running publish.
	orphanAge = 24 * time.Hour
	// retiredMargin is how long a retired version is remembered after its object was deleted. A publish suspended for longer
	// could make a version live whose file is gone.
	retiredMargin = 30 * 24 * time.Hour
)

// Collect deletes objects that no node needs. Several nodes may run it concurrently.
//
// A retired version never enters the catalogue again, which the catalogue enforces in one transaction. So no second check is
// needed: an object that is neither in the catalogue nor retired is retired once it is older than orphanAge, and an object
// that was retired for Options.Retention is deleted.
func (l *Library) Collect(ctx context.Context) error {
	if !l.shared() {
		return nil
	}
	objects, err := l.objects(ctx)
	if err != nil {
		return fmt.Errorf("listing objects: %w", err)
	}
	known, err := l.catalogue.Versions(ctx)
	if err != nil {
		return err
	}
	list, err := l.catalogue.Retired(ctx)
	if err != nil {
		return err
	}
	inCatalogue := make(map[string]bool, len(known))
	for _, version := range known {
		inCatalogue[version] = true
	}
	now := l.opts.Now()
	retired := make(map[string]time.Time, len(list))
	var forget []string
	for _, r := range list {
		retired[r.Version] = r.Since
		if _, there := objects[r.Version]; !there && now.Sub(r.Since) >= l.opts.Retention+retiredMargin {
			forget = append(forget, r.Version)
		}
	}
	var errs []error
	removed := 0
	for _, version := range slices.Sorted(maps.Keys(objects)) {
		since, gone := retired[version]
		var err error
		switch {
		case gone && now.Sub(since) >= l.opts.Retention:
			if err = l.opts.Blobs.Delete(ctx, objectName(version)); err == nil {
				removed++
			}
		case !gone && now.Sub(objects[version].Modified) >= orphanAge && !inCatalogue[version]:
			_, err = l.catalogue.RetireVersion(ctx, version, now)
		}
		errs = append(errs, err)
	}
	if len(forget) > 0 {
		errs = append(errs, l.catalogue.ForgetRetired(ctx, forget))
	}
	if removed > 0 {
		l.opts.Log.Info("deleted unreferenced objects", "objects", removed)
	}
	return errors.Join(errs...)
}

// objects lists the files of versions in Blobs, by version, and records them in the cache.
func (l *Library) objects(ctx context.Context) (map[string]herb.Blob, error) {
	objects, stored := map[string]herb.Blob{}, map[string]bool{}
	for b, err := range l.opts.Blobs.List(ctx) {
		if err != nil {
			return nil, err
		}
		if version, ok := strings.CutSuffix(b.Name, fileSuffix); ok && isVersion(version) {
			objects[version], stored[version] = b, true
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cache.stored, l.cache.lastCollected = stored, l.opts.Now()
	return objects, nil
}

// cleanUp collects garbage locally and in Blobs until ctx ends. It logs when it starts to fail, not each time.
func (l *Library) cleanUp(ctx context.Context) {
	failing := false
	do := func() {
		limited, cancel := context.WithTimeout(ctx, collectEvery)
		defer cancel()
		err := errors.Join(l.Collect(limited), l.Sweep(limited))
		if l.shared() {
			err = errors.Join(err, l.scanCache())
			l.saveCatalogueCopy()
		}
		if ctx.Err() != nil || (err != nil) == failing {
			return
		}
		if failing = err != nil; failing {
			l.opts.Log.Warn("garbage collection failed; will retry", "err", err)
		}
	}
	do()
	every(ctx, collectEvery, do)
}
