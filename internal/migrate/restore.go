package migrate

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"

	"herbarium/internal/filesystem"
	"herbarium/internal/herb"
	"herbarium/internal/segment"
	"herbarium/internal/store"
	"herbarium/internal/store/sqlite"
)

// stagingDir is the folder in a data folder in which a backup is restored, before it takes effect.
const stagingDir = "restore" + partSuffix

// StandardStream is the path of a backup on standard input or standard output.
const StandardStream = "-"

// Restore restores a backup: a folder, an archive, or standard input with an archive.
//
// A data folder must be empty, unless o.Replace is set. It changes only once everything was restored beside its content and
// compared with the backup. A database must be empty or have an earlier state of the backup; see load. With o.Check, the
// backup is verified and nothing is restored.
func Restore(ctx context.Context, path string, stdin io.Reader, to Place, o Options) (Result, error) {
	if o.Check {
		return readBackup(ctx, path, stdin, "", o.start(PhaseRead))
	}
	o = o.start(append([]string{PhaseRead}, loadPhases()...)...)
	if to.Database == "" {
		return restoreFolder(ctx, path, stdin, to.Folder, o)
	}
	temp, err := os.MkdirTemp("", "herbarium-restore-*")
	if err != nil {
		return Result{}, err
	}
	r, err := restoreInto(ctx, path, stdin, to, temp, o)
	return r, errors.Join(err, os.RemoveAll(temp))
}

// restoreFolder restores a backup into a data folder. It first removes what a killed restore has left.
func restoreFolder(ctx context.Context, path string, stdin io.Reader, data string, o Options) (r Result, err error) {
	if err := checkReplaceable(ctx, data, o); err != nil {
		return r, err
	}
	if err := os.MkdirAll(data, 0o700); err != nil {
		return r, err
	}
	lock, err := os.Open(data)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	staging := filepath.Join(data, stagingDir)
	switch err := filesystem.TryLock(lock); {
	case errors.Is(err, filesystem.ErrLocked):
		return r, herb.Errorf(herb.CodeRefused, "another restore into %s is running; wait until it has ended", data)
	case err == nil:
		if err := os.RemoveAll(staging); err != nil {
			return r, err
		}
	}
	if err := os.Mkdir(staging, 0o700); errors.Is(err, fs.ErrExist) { // without locks, only the operator knows
		return r, herb.Errorf(herb.CodeRefused, "%s exists: another restore is running, or was killed; remove the folder if none is running",
			staging)
	} else if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(staging)) }()
	r, err = restoreInto(ctx, path, stdin, Place{Folder: staging}, staging, o)
	if err == nil {
		err = sqlite.Quiesce(ctx, filepath.Join(staging, store.DatabaseFile))
	}
	if err == nil {
		err = checkReplaceable(ctx, data, o) // a server may have been started
	}
	if err == nil {
		err = activate(staging, data)
	}
	return r, err
}

// checkReplaceable fails if a data folder has data that must not be replaced, or that a process uses.
func checkReplaceable(ctx context.Context, data string, o Options) error {
	database := filepath.Join(data, store.DatabaseFile)
	switch _, err := os.Stat(database); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !o.Replace:
		return herb.Errorf(herb.CodeRefused, "%s has data; restore into another folder, or replace it with --replace", data)
	}
	return sqlite.Quiesce(ctx, database)
}

// restoreInto restores a backup into a place. An archive is unpacked to a folder first.
func restoreInto(ctx context.Context, path string, stdin io.Reader, to Place, unpacked string, o Options) (r Result, err error) {
	var files, target opened
	defer func() { err = errors.Join(err, files.close(), target.close()) }()
	backup := path
	if isFolder(path) {
		unpacked = ""
	} else {
		backup = unpacked
	}
	read, err := readBackup(ctx, path, stdin, unpacked, o)
	if err != nil {
		return r, err
	}
	source, segments := &EntryFile{Path: filepath.Join(backup, entriesFile), Total: read.Plants}, filepath.Join(backup, segmentsDir)
	if backup == to.Folder { // its segment files need not be copied
		versions := filepath.Join(to.Folder, store.VersionsDir)
		if err := os.Rename(segments, versions); err != nil {
			return r, err
		}
		segments = versions
	}
	if err := checkFormats(source.Entries(ctx, everything()), segments); err != nil {
		return r, err
	}
	if err := files.openFiles(ctx, "", segments); err != nil {
		return r, err
	}
	if err := target.openPlace(ctx, to, false); err != nil {
		return r, err
	}
	return load(ctx, source, files.Files, target.Installation, o)
}

// checkFormats fails if this program cannot open one of the segment files, such as one of a later release.
func checkFormats(entries iter.Seq2[Entry, error], dir string) error {
	for e, err := range entries {
		s, ok := e.(*Segment)
		if err != nil || !ok {
			return err // segments come first
		}
		r, err := segment.Open(filepath.Join(dir, segmentName(s.Version)))
		if err == nil {
			err = r.Release()
		}
		if err != nil {
			return herb.Errorf(herb.CodeInvalid, "%s: %v", s, err)
		}
	}
	return nil
}

// activate moves a restored installation from a staging folder into its data folder. The database is last: before it is
// renamed, the new segment files are not used.
func activate(staging, data string) (err error) {
	from, to := filepath.Join(staging, store.VersionsDir), filepath.Join(data, store.VersionsDir)
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	lock, err := store.LockVersions(to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	files, err := filepath.Glob(filepath.Join(from, segmentName("*")))
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := os.Rename(f, filepath.Join(to, filepath.Base(f))); err != nil {
			return err
		}
	}
	if err := filesystem.SyncDir(filesystem.OS{}, to); err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(staging, store.DatabaseFile), filepath.Join(data, store.DatabaseFile)); err != nil {
		return err
	}
	return filesystem.SyncDir(filesystem.OS{}, data)
}
