package migrate

import (
	"archive/tar"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"herbarium/internal/filesystem"
	"herbarium/internal/herb"
)

// The files of a backup, in a folder or in an archive.
const (
	entriesFile = "backup.ndjson"
	segmentsDir = "segments" // also with the kept sources
	partSuffix  = ".part"    // of files that are being written
)

// Backup backs up everything of a place to a path: to a folder if the path is one or ends with a
// slash, and otherwise to an archive. A folder is created; files of versions that are already there
// are not copied again. An existing file is replaced once the archive is complete and on disk. The
// archive goes to stdout if the path is "-". program is the version of the program. A complete
// backup is recorded in the audit log of the place, so that servers know its age; if that fails,
// the backup is still complete, and Result.Unrecorded is the error.
func Backup(ctx context.Context, from Place, path string, stdout io.Writer, program string, o Options) (r Result,
	err error) {
	var source, files Installation
	defer func() { err = errors.Join(err, source.close(), files.close()) }()
	o.readOnly = true
	if err := source.openPlace(ctx, from, true, o); err != nil {
		return r, err
	}
	o.begin(PhaseSegments, PhaseEntries)
	leftOut, err := countLeftOut(ctx, source.Store)
	if err != nil {
		return r, err
	}
	r.LeftOut = leftOut
	h := Header{Format: FormatVersion, Created: time.Now().UTC(), Program: program, LeftOut: leftOut}
	switch {
	case path == StandardStream:
		err = r.saveArchive(ctx, source, stdout, h, o)
	case isFolder(path) || strings.HasSuffix(filepath.ToSlash(path), "/"):
		if err := files.openFiles("", filepath.Join(path, segmentsDir)); err != nil {
			return r, err
		}
		addFile := func(f versionFile, _ int64) error {
			return ensureFile(ctx, source, files, f, o.files.next(source.fileSize(f)), &r)
		}
		addEntries := func(write func(io.Writer) error) error {
			return writeFile(filepath.Join(path, entriesFile), write)
		}
		err = r.save(ctx, source, h, o, addFile, addEntries)
	default:
		err = writeFile(path, func(w io.Writer) error { return r.saveArchive(ctx, source, w, h, o) })
	}
	if err == nil && len(r.Skipped) == 0 {
		r.Unrecorded = source.Store.AddAuditEntries(ctx, []herb.AuditEntry{h.auditEntry(ctx)})
	}
	return r, err
}

// auditEntry returns the entry of a backup in the audit log. The backup contains it, too, so that
// what is restored equals the source.
func (h Header) auditEntry(ctx context.Context) herb.AuditEntry {
	actor := herb.ActorOf(ctx)
	return herb.AuditEntry{
		Time: h.Created.Truncate(time.Microsecond), Action: herb.AuditBackedUp, Subject: herb.BackupSubject,
		Actor: actor.ID, Origin: actor.Origin, Result: herb.AuditOK,
	}
}

// writeFile writes a file, which replaces an earlier one when it is complete. It fails while
// another process writes the same file: both would write to the same temporary file.
func writeFile(path string, write func(io.Writer) error) error {
	part := path + partSuffix
	lock, err := os.OpenFile(part, os.O_RDONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	locked := filesystem.TryLock(lock)
	if locked == nil {
		defer lock.Close()
	} else if err := lock.Close(); err != nil { // without locks, only the operator knows
		return err
	}
	if errors.Is(locked, filesystem.ErrLocked) {
		return herb.Errorf(herb.CodeRejected, "another process writes %s; wait until it has ended", path)
	}
	return filesystem.WriteFile(filesystem.OS{}, part, path, 0o600, write)
}

// save backs up an installation. addFile copies a file of a version, which has a number of bytes;
// it fails with herb.CodeNotFound, and changes nothing, if the file does not exist. addEntries
// stores the entries that write writes, after all files.
func (r *Result) save(
	ctx context.Context, from Installation, h Header, o Options, addFile func(f versionFile, size int64) error,
	addEntries func(write func(io.Writer) error) error,
) error {
	source, omitted, err := readSource(ctx, from, addFile, func(s *Snapshot) { o.files.total = s.fileSizes() })
	if err != nil {
		return err
	}
	r.Skipped = omitted.skipped
	if len(r.Skipped) == 0 { // an incomplete backup does not count as the last one
		source.audit = append(source.audit, &AuditEntry{h.auditEntry(ctx)})
		slices.SortFunc(source.audit, compareOrder)
	}
	o.report(PhaseEntries, 0, source.plants)
	return addEntries(func(w io.Writer) error {
		return Write(w, h, r.counted(omitted.remaining(source.Entries(ctx, time.Time{})), o, PhaseEntries,
			source.plants))
	})
}

// saveArchive backs an installation up to a tar archive: the files of versions first, the entries
// last.
func (r *Result) saveArchive(ctx context.Context, from Installation, to io.Writer, h Header, o Options) error {
	archive := tar.NewWriter(to)
	file := func(name string, size int64) *archivedFile {
		header := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o600,
			ModTime: h.Created.Truncate(time.Second)}
		return &archivedFile{archive, header}
	}
	addFile := func(f versionFile, size int64) error {
		progress := &meter{ctx: ctx, total: size, report: o.files.next(from.fileSize(f))}
		got, err := from.hash(ctx, f.name(), io.MultiWriter(file(backupPath(f), size), progress))
		if err != nil {
			return err
		}
		return compareFile(got, *f.file(), "the file has changed")
	}
	// The entries are written to a temporary file first, because their size must be known.
	addEntries := func(write func(io.Writer) error) (err error) {
		temp, err := filesystem.TempFile("")
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, temp.Close()) }()
		if err := write(temp); err != nil {
			return err
		}
		size, err := temp.Seek(0, io.SeekCurrent)
		if err != nil {
			return err
		}
		if _, err := io.Copy(file(entriesFile, size), io.NewSectionReader(temp, 0, size)); err != nil {
			return err
		}
		return archive.Close()
	}
	return r.save(ctx, from, h, o, addFile, addEntries)
}

// archivedFile writes a file of an archive. It writes the header with the first bytes, so that a
// file that cannot be read at all leaves no trace.
type archivedFile struct {
	archive *tar.Writer
	header  *tar.Header // nil if it was written
}

func (f *archivedFile) Write(p []byte) (int, error) {
	if f.header != nil {
		if err := f.archive.WriteHeader(f.header); err != nil {
			return 0, err
		}
		f.header = nil
	}
	return f.archive.Write(p)
}
