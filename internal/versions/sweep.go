package versions

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"herbarium/internal/filesystem"
	"herbarium/internal/library"
	"herbarium/internal/store"
)

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
		published := ofVersion && file.IsPublished()
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
