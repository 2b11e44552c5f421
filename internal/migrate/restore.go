package migrate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
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

// StandardInput is the path of a backup on standard input.
const StandardInput = "-"

// Restore restores a backup: a folder, an archive, or standard input with an archive.
//
// A data folder must be empty, unless o.Replace is set. It changes only once everything was restored beside its content and
// compared with the backup. A database must be empty or have an earlier state of the backup; see load. With o.Check, the
// backup is verified and nothing is restored.
func Restore(ctx context.Context, path string, stdin io.Reader, to Place, o Options) (Result, error) {
	if o.Check {
		return verifyBackup(ctx, path, stdin, o.start(PhaseRead))
	}
	o = o.start(append([]string{PhaseRead}, loadPhases()...)...)
	if to.Database == "" {
		return restoreFolder(ctx, path, stdin, to.Folder, o)
	}
	temp, err := os.MkdirTemp("", "herbarium-restore-*")
	if err != nil {
		return Result{}, err
	}
	r, err := restoreInto(ctx, path, stdin, to, temp, filepath.Join(temp, segmentsDir), o)
	return r, errors.Join(err, os.RemoveAll(temp))
}

// restoreFolder restores a backup into a data folder.
func restoreFolder(ctx context.Context, path string, stdin io.Reader, data string, o Options) (r Result, err error) {
	if err := checkReplaceable(ctx, data, o); err != nil {
		return r, err
	}
	if err := os.MkdirAll(data, 0o700); err != nil {
		return r, err
	}
	staging := filepath.Join(data, stagingDir)
	if err := os.Mkdir(staging, 0o700); errors.Is(err, fs.ErrExist) {
		return r, herb.Errorf(herb.CodeRefused, "%s exists: another restore is running, or was killed; remove the folder if none is running",
			staging)
	} else if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(staging)) }()
	r, err = restoreInto(ctx, path, stdin, Place{Folder: staging}, staging, filepath.Join(staging, store.VersionsDir), o)
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

// restoreInto restores a backup into a place. An archive is unpacked first: its entries to dir, its segment files to segments.
func restoreInto(
	ctx context.Context, path string, stdin io.Reader, to Place, dir, segments string, o Options,
) (r Result, err error) {
	var files, target opened
	defer func() { err = errors.Join(err, files.close(), target.close()) }()
	var source *EntryFile
	if isFolder(path) {
		if _, err := verifyBackup(ctx, path, nil, o); err != nil {
			return r, err
		}
		source, err = OpenEntryFile(ctx, filepath.Join(path, entriesFile))
		segments = filepath.Join(path, segmentsDir)
	} else {
		source, err = unpackTo(ctx, path, stdin, filepath.Join(dir, entriesFile), segments, o)
	}
	if err != nil {
		return r, err
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
func activate(staging, data string) error {
	from, to := filepath.Join(staging, store.VersionsDir), filepath.Join(data, store.VersionsDir)
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	files, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := os.Rename(filepath.Join(from, f.Name()), filepath.Join(to, f.Name())); err != nil {
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

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return path != StandardInput && err == nil && info.IsDir()
}

// openArchive opens an archive, or standard input.
func openArchive(path string, stdin io.Reader) (io.ReadCloser, error) {
	if path == StandardInput {
		return io.NopCloser(stdin), nil
	}
	return os.Open(path)
}

// unpackTo unpacks an archive and compares its segment files with its entries.
func unpackTo(ctx context.Context, path string, stdin io.Reader, entries, segments string, o Options) (source *EntryFile, err error) {
	r, err := openArchive(path, stdin)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if err := os.MkdirAll(segments, 0o700); err != nil {
		return nil, err
	}
	v := verifier{ctx: ctx, files: map[string]herb.File{}, report: o.steps.Bytes(PhaseRead)}
	err = unpack(ctx, r, func(version string, r io.Reader) error {
		return writeFile(filepath.Join(segments, segmentName(version)), func(w io.Writer) error { return v.read(version, w, r) })
	}, func(r io.Reader) error {
		return writeFile(entries, func(w io.Writer) error {
			_, err := io.Copy(w, r)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	if source, err = OpenEntryFile(ctx, entries); err != nil {
		return nil, err
	}
	if err := v.verify(source.Entries(ctx, everything())); err != nil {
		return nil, err
	}
	for version := range v.files { // dropped during the backup
		if err := os.Remove(filepath.Join(segments, segmentName(version))); err != nil {
			return nil, err
		}
	}
	return source, nil
}

// writeFile creates a file and writes it to disk.
func writeFile(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// verifyBackup reads a backup and compares everything with its hashes.
func verifyBackup(ctx context.Context, path string, stdin io.Reader, o Options) (_ Result, err error) {
	v := verifier{ctx: ctx, files: map[string]herb.File{}, report: o.steps.Bytes(PhaseRead)}
	if isFolder(path) {
		segments := os.DirFS(filepath.Join(path, segmentsDir))
		v.open = func(version string) (fs.File, error) { return segments.Open(segmentName(version)) }
		entries := &EntryFile{path: filepath.Join(path, entriesFile)}
		err := v.verify(entries.Entries(ctx, everything()))
		return v.result, err
	}
	r, err := openArchive(path, stdin)
	if err != nil {
		return v.result, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	err = unpack(ctx, r, func(version string, r io.Reader) error { return v.read(version, io.Discard, r) },
		func(r io.Reader) error { return v.verify(Read(r)) })
	return v.result, err
}

// verifier compares the segment files of a backup with its entries, and counts the entries.
type verifier struct {
	ctx    context.Context
	files  map[string]herb.File // that were read and not verified, by version
	open   func(version string) (fs.File, error)
	report func(done, total int64)
	result Result
}

// read copies a segment file to a writer and records its size and hash.
func (v *verifier) read(version string, w io.Writer, r io.Reader) error {
	sum := sha256.New()
	progress := &reader{r: r, report: v.report}
	size, err := io.Copy(io.MultiWriter(canceler{v.ctx}, w, sum), progress)
	v.files[version] = herb.File{Size: size, SHA256: hex.EncodeToString(sum.Sum(nil))}
	return err
}

// reader reports how many bytes were read.
type reader struct {
	r      io.Reader
	done   int64
	report func(done, total int64)
}

// Read implements io.Reader.
func (r *reader) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	r.done += int64(n)
	r.report(r.done, 0)
	return n, err
}

// verify reads the entries and fails unless every segment file is as described.
func (v *verifier) verify(entries iter.Seq2[Entry, error]) error {
	for e, err := range entries {
		if err != nil {
			return err
		}
		v.result.count(e)
		s, ok := e.(*Segment)
		if !ok {
			continue
		}
		if v.open != nil {
			f, err := v.open(s.Version)
			if err != nil {
				return herb.Errorf(herb.CodeInvalid, "the backup is incomplete: %s: %v", s, err)
			}
			if err := errors.Join(v.read(s.Version, io.Discard, f), f.Close()); err != nil {
				return err
			}
		}
		got, ok := v.files[s.Version]
		if !ok {
			return herb.Errorf(herb.CodeInvalid, "the backup is incomplete: %s is missing", s)
		}
		if err := compareFile(got, s.File, "the backup is damaged"); err != nil {
			return herb.Errorf(herb.CodeInvalid, "%s: %v", s, err)
		}
		delete(v.files, s.Version)
	}
	return nil
}
