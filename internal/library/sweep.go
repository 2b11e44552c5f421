package library

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"herbarium/internal/segment"
)

// leftAfter is the age from which a file without a lock file counts as abandoned.
const abandonedAge = time.Hour

// copySuffix ends the names of files that blobs writes while a migration or a load copies segments into the folder.
const copySuffix = ".tmp"

// Sweep removes what interrupted publishes and downloads have left, and files of versions that are in the catalogue no more.
//
// A publish and a download hold a lock for as long as they run, so that what they write is never removed, and what they leave
// when they are killed is removed by the next Sweep. Files without a lock file are removed when they are an hour old: they
// are from a file system without locks, or were published before and retired.
func (l *Library) Sweep(ctx context.Context) error {
	files, err := l.opts.FS.ReadDir(l.opts.Dir)
	if err != nil {
		return err
	}
	byStem := map[string][]fs.DirEntry{}
	var stems []string
	for _, f := range files {
		if ext := filepath.Ext(f.Name()); !slices.Contains([]string{fileSuffix, segment.PartSuffix, lockSuffix, copySuffix}, ext) {
			continue
		}
		stem := stemOf(f.Name())
		if byStem[stem] == nil {
			stems = append(stems, stem)
		}
		byStem[stem] = append(byStem[stem], f)
	}
	versions, err := l.catalogue.Versions(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, stem := range stems {
		lock, err := openLock(l.lockPath(stem), 0)
		switch {
		case err == nil:
			errs = append(errs, l.sweepAbandoned(ctx, stem, lock))
		case errors.Is(err, errNoLockFile), errors.Is(err, errLocksUnsupported):
			if !slices.Contains(versions, stem) {
				errs = append(errs, l.sweepOld(byStem[stem]))
			}
		case !errors.Is(err, errLocked):
			errs = append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("sweeping leftovers: %w", err)
	}
	return nil
}

// sweepAbandoned removes the files of a publish or download whose process has ended. The lock is held, and given back.
func (l *Library) sweepAbandoned(ctx context.Context, stem string, lock *fileLock) (err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, lock.unlock()) // for the next Sweep
			return
		}
		err = lock.release()
	}()
	// The directory was listed before the lock was taken; what is there is known only now.
	for _, part := range []string{l.file(stem) + segment.PartSuffix, filepath.Join(l.opts.Dir, stem+segment.PartSuffix)} {
		if err := l.opts.FS.RemoveAll(part); err != nil {
			return err
		}
	}
	if _, err := os.Stat(l.file(stem)); err == nil {
		if err := l.sweepVersion(ctx, stem); err != nil {
			return err
		}
	}
	l.opts.Log.Info("removed what an interrupted publish or download left", "name", stem)
	return nil
}

// sweepVersion removes the complete file of a version, unless the catalogue has the version. What the publish sent last may
// still be under way to the catalogue: retiring the version waits for that or forestalls it.
func (l *Library) sweepVersion(ctx context.Context, version string) error {
	retired, err := l.catalogue.RetireVersion(ctx, version, l.opts.Now())
	if err != nil || !retired {
		return err
	}
	if err := l.removeFile(version); err != nil || l.opts.Blobs != nil { // Collect needs to know what is retired
		return err
	}
	return l.catalogue.ForgetRetired(ctx, []string{version})
}

// sweepOld removes files that have no lock file and have not changed for a while.
func (l *Library) sweepOld(files []fs.DirEntry) error {
	var errs []error
	for _, f := range files {
		info, err := f.Info()
		if errors.Is(err, os.ErrNotExist) || err == nil && l.opts.Now().Sub(info.ModTime()) < abandonedAge {
			continue
		}
		if err == nil {
			err = l.opts.FS.RemoveAll(filepath.Join(l.opts.Dir, f.Name()))
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
