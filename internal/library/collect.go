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
	// collectEvery is how often Run removes what is not needed any more.
	collectEvery = 5 * time.Minute
	// underWay is how old an object is that nobody knows of before no publish can be waiting to make it known.
	orphanAge = 24 * time.Hour
	// neverAgain is how much longer it is known that a version was retired than its object is kept. A publish that slept
	// until then would make a version live that has no file.
	retiredMargin = 30 * 24 * time.Hour
)

// Collect removes objects that no node needs any more. Any number of nodes may do so at once.
//
// A version that is retired never enters the catalogue again, and the catalogue itself sees to that in one transaction. So
// nothing has to be asked twice: an object that is neither in the catalogue nor retired is retired when it is a day old,
// and one that was retired for Options.Retention is removed.
func (l *Library) Collect(ctx context.Context) error {
	if l.cache == nil {
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
		l.opts.Log.Info("objects that nobody needs were removed", "objects", removed)
	}
	return errors.Join(errs...)
}

// objects returns the objects that are files of versions, by version, and takes down that they are there.
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

// sweepRegularly removes what killed publishes leave, until ctx ends.
func (l *Library) sweepRegularly(ctx context.Context) {
	every(ctx, collectEvery, func() {
		if err := l.Sweep(ctx); err != nil && ctx.Err() == nil {
			l.opts.Log.Warn("leftovers of interrupted publishes were not removed", "err", err)
		}
	})
}

// clean removes what is not needed any more, here and among Blobs, until ctx ends. The log is told when it begins to fail,
// not each time.
func (l *Library) cleanUp(ctx context.Context) {
	failing := false
	do := func() {
		limited, cancel := context.WithTimeout(ctx, collectEvery)
		defer cancel()
		err := errors.Join(l.Collect(limited), l.Sweep(limited), l.scanCache())
		l.saveCatalogueCopy()
		if ctx.Err() != nil || (err != nil) == failing {
			return
		}
		if failing = err != nil; failing {
			l.opts.Log.Warn("what is not needed any more is removed later", "err", err)
		}
	}
	do()
	every(ctx, collectEvery, do)
}
