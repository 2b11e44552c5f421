package migrate

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"herbarium/internal/filesystem"
	"herbarium/internal/herb"
)

// The files of a backup, in a folder or in an archive.
const (
	entriesFile = "backup.ndjson"
	segmentsDir = "segments"
	partSuffix  = ".part" // of files that are being written
)

// destination is where a backup is written.
type destination interface {
	// addSegment copies a segment file. It fails with herb.CodeNotFound, and changes nothing, if the file does not exist.
	addSegment(ctx context.Context, from Files, s *Segment) error
	// addEntries stores the entries that write writes. It is called once, after all segments were added.
	addEntries(write func(io.Writer) error) error
}

// Backup writes everything of a place to w as an archive. program is the version of the program.
func Backup(ctx context.Context, from Place, w io.Writer, program string, o Options) (r Result, err error) {
	spool, err := os.CreateTemp("", "herbarium-backup-*"+partSuffix)
	if err != nil {
		return r, err
	}
	_ = os.Remove(spool.Name()) // so that a killed process leaves nothing; Windows removes no open files
	defer func() {
		err = errors.Join(err, spool.Close())
		_ = os.Remove(spool.Name())
	}()
	return backUp(ctx, from, program, o, func(h Header, o Options, _ *Result) destination {
		return newArchive(w, spool, h.Created, o.steps.Bytes(PhaseSegments))
	})
}

// BackupToFile is Backup to a file. An existing file is replaced once the backup is complete and on disk.
func BackupToFile(ctx context.Context, from Place, path, program string, o Options) (r Result, err error) {
	err = filesystem.WriteFile(filesystem.OS{}, path+partSuffix, path, 0o600, func(f io.Writer) error {
		w := bufio.NewWriterSize(f, 1<<20)
		r, err = Backup(ctx, from, w, program, o)
		return errors.Join(err, w.Flush())
	})
	return r, err
}

// BackupToFolder is Backup to a folder, which it creates. Segment files that are already there are not copied again.
func BackupToFolder(ctx context.Context, from Place, dir, program string, o Options) (_ Result, err error) {
	var files opened
	defer func() { err = errors.Join(err, files.close()) }()
	if err := files.openFiles(ctx, "", filepath.Join(dir, segmentsDir)); err != nil {
		return Result{}, err
	}
	return backUp(ctx, from, program, o, func(_ Header, o Options, r *Result) destination {
		return &folder{dir: dir, files: files.Files, options: o, result: r}
	})
}

// backUp opens a place and backs it up to a destination.
func backUp(
	ctx context.Context, from Place, program string, o Options, open func(Header, Options, *Result) destination,
) (r Result, err error) {
	var source opened
	defer func() { err = errors.Join(err, source.close()) }()
	if err := source.openPlace(ctx, from, true); err != nil {
		return r, err
	}
	o = o.start(PhaseSegments, PhaseEntries)
	h := Header{Format: FormatVersion, Created: time.Now().UTC(), Program: program}
	err = save(ctx, source.Installation, open(h, o, &r), h, o, &r)
	return r, err
}

// save backs an installation up to a destination.
func save(ctx context.Context, from Installation, to destination, h Header, o Options, r *Result) error {
	source, err := saveSegments(ctx, from, to)
	if err != nil {
		return err
	}
	o.report(PhaseEntries, 0, source.Plants())
	return to.addEntries(func(w io.Writer) error {
		return Write(w, h, func(yield func(Entry, error) bool) {
			for e, err := range source.Entries(ctx, everything()) {
				if err == nil {
					r.count(e)
				}
				if _, ok := e.(*Plant); ok && r.Plants%pageSize == 0 {
					o.report(PhaseEntries, r.Plants, source.Plants())
				}
				if !yield(e, err) {
					return
				}
			}
		})
	})
}

// saveSegments copies the segment files of an installation, and returns a snapshot whose files have all been copied. Servers
// are not stopped: if a version is dropped and its file deleted before it is copied, the state is read again. Files that were
// copied before are not copied twice, so this ends unless a file is missing for another reason.
func saveSegments(ctx context.Context, from Installation, to destination) (*Snapshot, error) {
	saved := map[string]herb.File{}
	for lastMissing := ""; ; {
		s, err := readState(ctx, from)
		if err != nil {
			return nil, err
		}
		current := ""
		err = s.addSegments(func(v herb.Dataset) (herb.File, error) {
			if file, ok := saved[v.Version]; ok {
				return file, nil
			}
			current = v.Version
			file, err := from.Files.identify(ctx, v)
			if err == nil {
				err = to.addSegment(ctx, from.Files, &Segment{v.Version, file})
			}
			if err == nil {
				saved[v.Version] = file
			}
			return file, err
		})
		if herb.CodeOf(err) != herb.CodeNotFound || current == lastMissing {
			return s, err
		}
		lastMissing = current
	}
}

// folder is a backup in a folder.
type folder struct {
	dir     string
	files   Files
	options Options
	result  *Result
}

// addSegment implements destination.
func (f *folder) addSegment(ctx context.Context, from Files, s *Segment) error {
	return ensureSegment(ctx, from, f.files, s, f.options, f.result)
}

// addEntries implements destination. Earlier entries are replaced when the new ones are complete.
func (f *folder) addEntries(write func(io.Writer) error) error {
	path := filepath.Join(f.dir, entriesFile)
	return filesystem.WriteFile(filesystem.OS{}, path+partSuffix, path, 0o600, write)
}
