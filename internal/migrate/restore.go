package migrate

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"herbarium/internal/filesystem"
	"herbarium/internal/herb"
	"herbarium/internal/store"
	"herbarium/internal/store/sqlite"
)

// stagingDir is the folder in a data folder in which a backup is restored, before it takes effect.
const stagingDir = "restore" + partSuffix

// StandardStream is the path of a backup on standard input or standard output.
const StandardStream = "-"

// Restore restores a backup: a folder, an archive, or standard input with an archive.
//
// A data folder must be empty, unless o.Replace is set. It changes only once everything was
// restored beside its content and compared with the backup. A database must be empty; see load.
// With o.Check, the backup is read as for a restore, and nothing is restored.
func Restore(ctx context.Context, path string, stdin io.Reader, to Place, o Options) (r Result, err error) {
	o.begin(PhaseRead, PhaseCompare, PhaseSegments, PhaseLoad, PhaseVerify)
	if !o.Check && to.Database == "" {
		return restoreFolder(ctx, path, stdin, to.Folder, o)
	}
	temp, err := os.MkdirTemp("", "herbarium-restore-*")
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	if !o.Check {
		return restoreInto(ctx, path, stdin, to, temp, o)
	}
	b, err := readBackup(ctx, path, stdin, temp, o, allFiles)
	if err != nil {
		return r, err
	}
	return b.result(decideOmissions(b.damage, b.datasets)), nil
}

// allFiles selects all files of versions in a backup.
func allFiles(string) bool { return true }

// restoreFolder restores a backup into a data folder. It first removes what a killed restore has
// left.
func restoreFolder(ctx context.Context, path string, stdin io.Reader, data string, o Options) (r Result, err error) {
	if err := checkReplaceable(ctx, data, o); err != nil {
		return r, err
	}
	_, missing := os.Stat(data)
	if err := os.MkdirAll(data, 0o700); err != nil {
		return r, err
	}
	defer func() {
		if err != nil && missing != nil {
			_ = os.Remove(data) // unless another process uses it
		}
	}()
	lock, err := os.Open(data)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	staging := filepath.Join(data, stagingDir)
	locked := filesystem.TryLock(lock)
	if errors.Is(locked, filesystem.ErrLocked) {
		return r, herb.Errorf(herb.CodeRejected, "another restore into %s is running; wait until it has ended", data)
	}
	if locked == nil {
		err = os.RemoveAll(staging)
	}
	if err == nil {
		err = os.Mkdir(staging, 0o700)
	}
	if errors.Is(err, fs.ErrExist) { // without locks, only the operator knows
		err = herb.Errorf(herb.CodeRejected,
			"%s exists: another restore is running, or was killed; remove the folder if none is running",
			staging)
	}
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(staging)) }()
	r, err = restoreInto(ctx, path, stdin, Place{Folder: staging}, staging, o)
	r.NewFiles = r.Versions + r.Sources // also those that were unpacked in place
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

// checkReplaceable fails if a data folder has data that must not be replaced, or that a process
// uses.
func checkReplaceable(ctx context.Context, data string, o Options) error {
	database := filepath.Join(data, store.DatabaseFile)
	switch _, err := os.Stat(database); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !o.Replace:
		return herb.Errorf(herb.CodeRejected, "%s has data; restore into another folder, or replace it with --replace",
			data)
	}
	return sqlite.Quiesce(ctx, database)
}

// restoreInto restores a backup into a place. An archive is unpacked first, to a folder with the
// structure of a data folder: if it is the target, files of versions need not be copied.
func restoreInto(ctx context.Context, path string, stdin io.Reader, to Place, unpacked string, o Options) (r Result,
	err error) {
	var files, target Installation
	defer func() { err = errors.Join(err, files.close(), target.close()) }()
	entries, segments := filepath.Join(unpacked, entriesFile), filepath.Join(unpacked, store.VersionsDir)
	if isFolder(path) {
		entries, segments = filepath.Join(path, entriesFile), filepath.Join(path, segmentsDir)
	}
	b, err := readBackup(ctx, path, stdin, unpacked, o, allFiles)
	if err != nil {
		return r, err
	}
	if err := files.openFiles("", segments); err != nil {
		return r, err
	}
	if err := target.openPlace(ctx, to, false, o); err != nil {
		return r, err
	}
	omitted := decideOmissions(b.damage, b.datasets)
	if err := b.removeExcept(omitted); err != nil {
		return r, err
	}
	read := b.result(omitted)
	r, err = load(ctx, Source{read.Plants, (&EntryFile{entries}).Entries, files, omitted}, target, o)
	r.Rebuilds, r.LeftOut = read.Rebuilds, read.LeftOut
	return r, err
}

// activate moves a restored installation from a staging folder into its data folder. The database
// is last: before it is renamed, the new files of versions are not used.
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
	files, err := os.ReadDir(from)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for _, f := range files {
		if parsed, ok := store.ParseVersionFile(f.Name()); !ok || !parsed.IsPublished() {
			continue
		}
		if err := os.Rename(filepath.Join(from, f.Name()), filepath.Join(to, f.Name())); err != nil {
			return err
		}
	}
	if err := filesystem.SyncDir(filesystem.OS{}, to); err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(staging, store.DatabaseFile),
		filepath.Join(data, store.DatabaseFile)); err != nil {
		return err
	}
	return filesystem.SyncDir(filesystem.OS{}, data)
}
