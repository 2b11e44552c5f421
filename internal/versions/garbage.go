package versions

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"herbarium/internal/filesystem"
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
	return errors.Join(s.opts.Blobs.Abort(ctx, orphanAge), s.collectDrafts(ctx, stored.drafts), s.collect(ctx, newSet(versions), garbage{
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

// garbage describes where the files of versions are stored for good, and when to delete them.
type garbage struct {
	stored    map[string]time.Time // modification times by version; those of the catalogue may be missing
	orphanAge time.Duration        // age at which a file that is neither in the catalogue nor retired belongs to no running publish
	retention time.Duration        // how long the file of a retired version is kept
	margin    time.Duration        // how long its retirement is remembered afterwards
	remove    func(version string) error
}

// collect retires versions that will not enter the catalogue, and deletes the files of retired
// ones.
//
// A retired version never enters the catalogue again, which the catalogue enforces in one
// transaction: if the last statement of a publish is still in flight, retiring its version waits
// for it or makes it fail. So no second check is needed.
func (s *Service) collect(ctx context.Context, inCatalogue map[string]bool, g garbage) error {
	retired, err := s.catalogue.Retired(ctx)
	if err != nil {
		return err
	}
	now, known, removed := s.opts.Now(), map[string]bool{}, 0
	for _, r := range retired {
		known[r.Version] = true
	}
	var errs []error
	for version, modified := range g.stored {
		if inCatalogue[version] || known[version] || now.Sub(modified) < g.orphanAge {
			continue
		}
		is, err := s.catalogue.RetireVersion(ctx, version, now)
		if errs = append(errs, err); is {
			retired = append(retired, store.Retired{Version: version, Since: now})
		}
	}
	var forget []string
	for _, r := range retired {
		age := now.Sub(r.Since) - g.retention
		_, stored := g.stored[r.Version]
		if stored && age >= 0 {
			err := g.remove(r.Version)
			if errs = append(errs, err); err == nil {
				removed++
			}
			stored = err != nil || g.margin > 0
		}
		if !stored && age >= g.margin {
			forget = append(forget, r.Version)
		}
	}
	if len(forget) > 0 {
		errs = append(errs, s.catalogue.ForgetRetired(ctx, forget))
	}
	if removed > 0 {
		s.opts.Log.Info("deleted unreferenced files", "files", removed)
	}
	return errors.Join(errs...)
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
		if failing = err != nil; failing {
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

// abandonedAge is the age at which a file that may belong to a running process counts as abandoned.
const abandonedAge = time.Hour

// Sweep removes files of interrupted publishes and downloads, and files of versions that are no
// longer in the catalogue.
//
// Publishes, downloads and migrations hold a shared lock while they run, so Sweep does nothing
// while there is one in any process; the next Sweep after it has ended or was killed removes its
// leftovers. On a file system without locks, files are removed when they are older than
// abandonedAge.
func (s *Service) Sweep(ctx context.Context) error {
	lock, err := os.Open(filepath.Join(s.opts.Dir, store.ChangedFile))
	if err != nil {
		return err
	}
	defer lock.Close()
	minAge := time.Duration(0)
	if err := filesystem.TryLock(lock); errors.Is(err, filesystem.ErrLocked) {
		return nil
	} else if err != nil {
		minAge = abandonedAge
	}
	files, err := s.opts.FS.ReadDir(s.opts.Dir)
	if err != nil {
		return err
	}
	versions, err := s.catalogue.Versions(ctx)
	if err != nil {
		return err
	}
	inCatalogue, unused := newSet(versions), map[string]time.Time{}
	var drafts []string
	for _, f := range files {
		file, ofVersion := store.ParseVersionFile(f.Name())
		isDraft := strings.HasSuffix(f.Name(), store.DraftSuffix)
		kept := file.IsNeeded(inCatalogue) && file.Kind != store.PartialKind
		switch {
		case isDraft && !s.shared():
			drafts = append(drafts, f.Name())
			continue
		case !ofVersion && !isDraft, kept && !file.IsDerived(), kept && library.IsCurrent(file):
			continue
		}
		published := ofVersion && (file.Kind == store.SegmentKind || file.Kind == store.SourceKind)
		info, failed := f.Info()
		switch {
		case errors.Is(failed, os.ErrNotExist):
		case failed != nil:
			err = errors.Join(err, failed)
		case s.opts.Now().Sub(info.ModTime()) < minAge, kept && s.opts.Now().Sub(info.ModTime()) < rebuiltAge:
		case published && !s.shared(): // with an object store, the file is not needed even if its version goes live
			unused[file.Version] = info.ModTime()
		default:
			if failed := s.opts.FS.RemoveAll(filepath.Join(s.opts.Dir, f.Name())); failed != nil {
				err = errors.Join(err, failed)
			} else {
				s.opts.Log.Info("removed leftover file", "file", f.Name())
			}
		}
	}
	err = errors.Join(err, s.library.TrimDerived())
	if !s.shared() {
		err = errors.Join(err, s.collectDrafts(ctx, drafts), s.collect(ctx, inCatalogue, garbage{
			stored: unused, remove: func(version string) error { return s.library.RemoveFiles(version) },
		}))
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

// removeRetired removes the files of versions that have left the catalogue. A process that is
// killed meanwhile leaves the record of their retirement, by which Sweep removes them; with an
// object store, Collect needs that record.
func (s *Service) removeRetired(ctx context.Context, versions []string) error {
	err := s.library.RemoveFiles(versions...)
	if err != nil || s.shared() || len(versions) == 0 {
		return err
	}
	return s.catalogue.ForgetRetired(ctx, versions)
}
