package migrate

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"herbarium/internal/filesystem"
	"herbarium/internal/herb"
	"herbarium/internal/progress"
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
// A data folder must be empty, unless o.Replace is set. It changes only once everything was
// restored beside its content and compared with the backup. A database must be empty or have an
// earlier state of the backup; see load. With o.Check, the backup is verified and nothing is
// restored.
func Restore(ctx context.Context, path string, stdin io.Reader, to Place, o Options) (Result, error) {
	if o.Check {
		o.steps = progress.New(o.Progress, PhaseRead)
		segments := ""
		if isFolder(path) {
			segments = filepath.Join(path, segmentsDir)
		}
		return readBackup(ctx, path, stdin, "", segments, o)
	}
	o.steps = progress.New(o.Progress, PhaseRead, PhaseCompare, PhaseSegments, PhaseLoad, PhaseVerify)
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
		err = herb.Errorf(herb.CodeRejected, "%s exists: another restore is running, or was killed; remove the folder if none is running",
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
		return herb.Errorf(herb.CodeRejected, "%s has data; restore into another folder, or replace it with --replace", data)
	}
	return sqlite.Quiesce(ctx, database)
}

// restoreInto restores a backup into a place. An archive is unpacked first, to a folder with the
// layout of a data folder: if it is the target, files of versions need not be copied.
func restoreInto(ctx context.Context, path string, stdin io.Reader, to Place, unpacked string, o Options) (r Result, err error) {
	var files, target Installation
	defer func() { err = errors.Join(err, files.close(), target.close()) }()
	entries, segments := filepath.Join(unpacked, entriesFile), filepath.Join(unpacked, store.VersionsDir)
	if isFolder(path) {
		entries, segments, unpacked = filepath.Join(path, entriesFile), filepath.Join(path, segmentsDir), ""
	}
	read, err := readBackup(ctx, path, stdin, unpacked, segments, o)
	if err != nil {
		return r, err
	}
	if err := files.openFiles("", segments); err != nil {
		return r, err
	}
	if err := target.openPlace(ctx, to, false, o); err != nil {
		return r, err
	}
	return load(ctx, Source{read.Plants, (&EntryFile{entries}).Entries, files}, target, o)
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
	for _, pattern := range []string{store.SegmentFile("*"), store.SourceFile("*")} {
		files, err := filepath.Glob(filepath.Join(from, pattern))
		if err != nil {
			return err
		}
		for _, f := range files {
			if err := os.Rename(f, filepath.Join(to, filepath.Base(f))); err != nil {
				return err
			}
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

// readBackup reads a backup completely and fails unless every file of a version is as the entries
// describe it. Unless dir is empty, it writes the files to dir, except for those that the entries
// do not name: their versions were dropped during the backup. Unless segments is empty, it fails if
// this program cannot read the records of one of the segments there, or if one has other fields or
// another number of records than the entries.
func readBackup(ctx context.Context, path string, stdin io.Reader, dir, segments string, o Options) (r Result, err error) {
	unpacked := func(name string) string {
		if name == entriesFile {
			return filepath.Join(dir, name)
		}
		return filepath.Join(dir, store.VersionsDir, filepath.Base(name))
	}
	if dir != "" {
		if err := os.MkdirAll(filepath.Join(dir, store.VersionsDir), 0o700); err != nil {
			return r, err
		}
	}
	read := map[string]herb.File{} // files of versions, by path in the backup
	meter := &meter{ctx: ctx, report: o.steps.Bytes(PhaseRead)}
	err = visitFiles(ctx, path, stdin, func(name string, content io.Reader) error {
		content = io.TeeReader(content, meter)
		readFile := func(w io.Writer) error {
			if name == entriesFile {
				return r.verify(io.TeeReader(content, w), read, segments)
			}
			sum := newContentHash(name)
			_, err := io.Copy(io.MultiWriter(w, sum), content)
			got, failed := sum.File()
			if read[name] = got; failed != nil && (err == nil || errors.Is(err, failed)) {
				err = herb.Errorf(herb.CodeInvalid, "the backup is damaged: %s: %v", name, failed)
			}
			return err
		}
		if dir == "" {
			return readFile(io.Discard)
		}
		return writeFile(unpacked(name), readFile)
	})
	for name := range read {
		if dir != "" && err == nil {
			err = os.Remove(unpacked(name))
		}
	}
	return r, err
}

// verify reads entries, counts them and fails unless every file of a version was read and is as
// described, and every segment can be opened; see readBackup. It deletes those from read.
func (r *Result) verify(entries io.Reader, read map[string]herb.File, segments string) error {
	contents := map[string]segmentContent{} // by version
	for e, err := range Read(entries) {
		if err != nil {
			return err
		}
		r.count(e)
		if d, ok := e.(*Dataset); ok && segments != "" {
			if err := d.matchContents(contents); err != nil {
				return err
			}
		}
		f, ok := e.(versionFile)
		if !ok {
			continue
		}
		got, ok := read[backupPath(f)]
		if !ok {
			return herb.Errorf(herb.CodeInvalid, "the backup is incomplete: %s is missing", f)
		}
		err := compareFile(got, *f.file(), "the backup is damaged")
		if _, ok := f.(*Segment); ok && err == nil && segments != "" {
			err = openSegment(filepath.Join(segments, f.name()), func(core *segment.Core) error {
				if !core.HasCurrentIndex() {
					r.Rebuilds++
				}
				contents[f.ofVersion()] = newSegmentContent(core.Fields(), core.Len())
				return nil
			})
		}
		if err != nil {
			return herb.Errorf(herb.CodeInvalid, "%s: %v", f, err)
		}
		delete(read, backupPath(f))
	}
	return nil
}

// segmentContent is what a segment file and the entry of its version must have in common, because
// queries address the columns of the file by the fields of the entry.
type segmentContent struct {
	fields  [sha256.Size]byte
	records int
}

func newSegmentContent(fields []herb.Field, records int) segmentContent {
	h := sha256.New()
	for _, f := range fields {
		fmt.Fprintf(h, "%q %s %t %t %t\n", portable(f.Name), f.Type, f.Searchable, f.Filterable, f.Sortable)
	}
	return segmentContent{[sha256.Size]byte(h.Sum(nil)), records}
}

// matchContents fails unless each version has a segment file with its fields and its number of
// records.
func (d *Dataset) matchContents(contents map[string]segmentContent) error {
	for _, v := range d.Versions {
		got, ok := contents[v.Version]
		switch want := newSegmentContent(v.Fields, v.Records); {
		case !ok:
			return herb.Errorf(herb.CodeInvalid, "the backup is incomplete: %s has version %s and no segment for it", d, v.Version)
		case got.records != want.records:
			return herb.Errorf(herb.CodeInvalid, "the backup is damaged: version %s of %s has %d records, but its segment has %d; use another backup",
				v.Version, d, want.records, got.records)
		case got != want:
			return herb.Errorf(herb.CodeInvalid, "the backup is damaged: the fields of version %s of %s are not those of its segment; use another backup",
				v.Version, d)
		}
	}
	return nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return path != StandardStream && err == nil && info.IsDir()
}

// filePath matches the path of a file of a version in a backup.
var filePath = regexp.MustCompile(`^` + segmentsDir + `/[A-Za-z0-9-]+\.(segment|source)$`)

// visitFiles calls visit for each file of a version in a backup, and then for its entries.
func visitFiles(ctx context.Context, path string, stdin io.Reader, visit func(name string, content io.Reader) error) error {
	if isFolder(path) {
		return visitFolder(ctx, path, visit)
	}
	if path != StandardStream {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }() // it was only read
		stdin = f
	}
	for archive := tar.NewReader(stdin); ; {
		h, err := archive.Next()
		if err == io.EOF {
			err = errors.New(entriesFile + " is missing")
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return herb.Errorf(herb.CodeInvalid, "the backup is damaged, incomplete, compressed, or not a backup of Herbarium: %v", err)
		case h.Name != entriesFile && !filePath.MatchString(h.Name):
			return herb.Errorf(herb.CodeInvalid, "unexpected file %q in the backup", h.Name)
		}
		err = visit(h.Name, archive)
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = herb.Errorf(herb.CodeInvalid, "the backup is incomplete: it ends in %s", h.Name)
		}
		if err != nil || h.Name == entriesFile {
			return err
		}
	}
}

// visitFolder is visitFiles for a folder, which may have files of earlier backups. It skips missing
// files.
func visitFolder(ctx context.Context, dir string, visit func(name string, content io.Reader) error) error {
	var names []string
	for e, err := range (&EntryFile{Path: filepath.Join(dir, entriesFile)}).Entries(ctx, time.Time{}) {
		if err != nil {
			return err
		}
		f, ok := e.(versionFile)
		if !ok {
			break // files come first
		}
		names = append(names, backupPath(f))
	}
	for _, name := range append(names, entriesFile) {
		f, err := os.Open(filepath.Join(dir, filepath.FromSlash(name)))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = errors.Join(visit(name, f), f.Close())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// meter reports how many bytes were written to it, and fails when its context ends.
type meter struct {
	ctx         context.Context
	done, total int64 // total is 0 if unknown
	report      func(done, total int64)
}

func (m *meter) Write(p []byte) (int, error) {
	m.done += int64(len(p))
	m.report(m.done, m.total)
	return len(p), m.ctx.Err()
}
