package library

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"herbarium/internal/filesystem"
	"herbarium/internal/herb"
	"herbarium/internal/segment"
	"herbarium/internal/store"
)

const (
	// collectEvery is the interval at which Run collects garbage.
	collectEvery = 5 * time.Minute
	// orphanAge is the age at which an object that is not in the catalogue, or an unfinished upload, cannot belong to a running
	// publish.
	orphanAge = 24 * time.Hour
	// retiredMargin is how long a retired version is remembered after its object was deleted. A publish suspended for longer
	// could make a version live whose file is gone.
	retiredMargin = 30 * 24 * time.Hour
)

// Collect deletes objects that no node needs, and unfinished uploads. Several nodes may run it concurrently.
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
	versions, err := l.catalogue.Versions(ctx)
	if err != nil {
		return err
	}
	retired, err := l.catalogue.Retired(ctx)
	if err != nil {
		return err
	}
	errs := []error{l.opts.Blobs.Abort(ctx, orphanAge)}
	now, known, removed := l.opts.Now(), newSet(versions), 0
	var forget []string
	for _, r := range retired {
		known[r.Version] = true
		switch _, stored := objects[r.Version]; {
		case stored && now.Sub(r.Since) >= l.opts.Retention:
			err := l.opts.Blobs.Delete(ctx, store.SegmentFile(r.Version))
			if errs = append(errs, err); err == nil {
				removed++
			}
		case !stored && now.Sub(r.Since) >= l.opts.Retention+retiredMargin:
			forget = append(forget, r.Version)
		}
	}
	for version, object := range objects {
		if !known[version] && now.Sub(object.Modified) >= orphanAge {
			_, err := l.catalogue.RetireVersion(ctx, version, now)
			errs = append(errs, err)
		}
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
		if version, ok := strings.CutSuffix(b.Name, store.SegmentSuffix); ok && isVersion(version) {
			objects[version], stored[version] = b, true
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cache.stored = stored
	return objects, nil
}

// cleanUp collects garbage locally and in Blobs until ctx is done. If Dir has all files, it does not start with it: reading the names
// of thousands of files would double the processor time of a start. It logs when it starts to fail, not each time.
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
	if l.shared() { // eviction needs to know which files are stored
		do()
	}
	every(ctx, collectEvery, do)
}

// abandonedAge is the age at which a file that may belong to a running process counts as abandoned.
const abandonedAge = time.Hour

// Sweep removes files of interrupted publishes and downloads, and files of versions that are no longer in the catalogue.
//
// Publishes, downloads and migrations hold a shared lock while they run, so Sweep does nothing while there is one in any process;
// the next Sweep after it has ended or was killed removes its leftovers. On a file system without locks, files are removed when
// they are older than abandonedAge.
func (l *Library) Sweep(ctx context.Context) error {
	versions, err := l.catalogue.Versions(ctx)
	if err != nil {
		return err
	}
	lock, err := os.Open(l.notifier.file.Name())
	if err != nil {
		return err
	}
	defer lock.Close()
	locked := filesystem.TryLock(lock)
	if errors.Is(locked, filesystem.ErrLocked) {
		return l.sweepRetired(ctx)
	}
	files, err := l.opts.FS.ReadDir(l.opts.Dir)
	if err != nil {
		return err
	}
	inCatalogue := newSet(versions)
	for _, f := range files {
		err = errors.Join(err, l.sweepFile(ctx, f, inCatalogue, locked == nil))
	}
	if err = errors.Join(err, l.sweepRetired(ctx)); err != nil { // including versions that sweepFile has retired
		err = fmt.Errorf("sweeping leftovers: %w", err)
	}
	return err
}

// sweepFile removes a file if it is a leftover, or retires its version. idle reports that no process writes files.
func (l *Library) sweepFile(ctx context.Context, f fs.DirEntry, inCatalogue map[string]bool, idle bool) error {
	const copySuffix = ".tmp" // of files that blobs writes while a migration copies segments into the folder
	ext := filepath.Ext(f.Name())
	stem := strings.TrimSuffix(f.Name(), ext)
	switch ext {
	case store.SegmentSuffix, descriptionSuffix:
		if inCatalogue[stem] {
			return nil
		}
	case segment.PartSuffix, copySuffix:
	default:
		return nil // not ours
	}
	info, err := f.Info()
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			err = nil
		}
		return err
	}
	old := l.opts.Now().Sub(info.ModTime()) >= abandonedAge
	switch {
	case idle && ext == store.SegmentSuffix && !l.shared(): // with an object store, the file is not needed even if its version goes live
		// The last statement of a publish may still be in flight: retiring its version waits for it or makes it fail.
		_, err = l.catalogue.RetireVersion(ctx, stem, l.opts.Now())
	case old || idle && (ext == segment.PartSuffix || ext == store.SegmentSuffix):
		err = l.opts.FS.RemoveAll(filepath.Join(l.opts.Dir, f.Name()))
	default:
		return nil
	}
	if err == nil {
		l.opts.Log.Info("removed leftover file", "file", f.Name())
	}
	return err
}

func newSet[T comparable](items []T) map[T]bool {
	set := make(map[T]bool, len(items))
	for _, item := range items {
		set[item] = true
	}
	return set
}

// sweepRetired removes the files of versions whose removal was interrupted. With an object store, Collect does.
func (l *Library) sweepRetired(ctx context.Context) error {
	if l.shared() {
		return nil
	}
	retired, err := l.catalogue.Retired(ctx)
	if err != nil {
		return err
	}
	names := make([]string, len(retired))
	for i, r := range retired {
		names[i] = r.Version
	}
	return l.removeRetired(ctx, names)
}

// removeRetired removes the files of versions that have left the catalogue. A process that is killed meanwhile leaves the
// record of their retirement, by which Sweep removes them; with an object store, Collect needs that record.
func (l *Library) removeRetired(ctx context.Context, versions []string) error {
	var err error
	for _, v := range versions {
		err = errors.Join(err, l.removeFile(v))
	}
	if err != nil || l.shared() || len(versions) == 0 {
		return err
	}
	return l.catalogue.ForgetRetired(ctx, versions)
}
