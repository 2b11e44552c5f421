package migrate

import (
	"archive/tar"
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
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

// Backup backs up everything of a place to a path: to a folder if the path is one or ends with a slash, and otherwise to an
// archive. A folder is created; segment files that are already there are not copied again. An existing file is replaced once the
// archive is complete and on disk. The archive goes to stdout if the path is "-". program is the version of the program.
func Backup(ctx context.Context, from Place, path string, stdout io.Writer, program string, o Options) (r Result, err error) {
	var source, files Installation
	defer func() { err = errors.Join(err, source.close(), files.close()) }()
	if err := source.openPlace(ctx, from, true); err != nil {
		return r, err
	}
	o = o.start(PhaseSegments, PhaseEntries)
	h := Header{Format: FormatVersion, Created: time.Now().UTC(), Program: program}
	writeArchive := func(w io.Writer) error {
		return save(ctx, source, newArchive(w, h.Created, o.steps.Bytes(PhaseSegments)), h, o, &r)
	}
	switch {
	case path == StandardStream:
		err = writeArchive(stdout)
	case isFolder(path) || strings.HasSuffix(filepath.ToSlash(path), "/"):
		if err := files.openFiles(ctx, "", filepath.Join(path, segmentsDir)); err != nil {
			return r, err
		}
		err = save(ctx, source, &folder{dir: path, files: files.Files, options: o, result: &r}, h, o, &r)
	default:
		err = filesystem.WriteFile(filesystem.OS{}, path+partSuffix, path, 0o600, func(f io.Writer) error {
			w := bufio.NewWriterSize(f, 1<<20)
			return errors.Join(writeArchive(w), w.Flush())
		})
	}
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
			for e, err := range source.Entries(ctx, time.Time{}) {
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

// archive is a backup that is written as a tar archive: the segment files first, the entries last.
type archive struct {
	tar      *tar.Writer
	created  time.Time
	progress func(done, total int64)
}

func newArchive(w io.Writer, created time.Time, progress func(done, total int64)) *archive {
	return &archive{tar.NewWriter(w), created, progress}
}

// addSegment implements destination.
func (a *archive) addSegment(ctx context.Context, from Files, s *Segment) error {
	w := &archivedFile{archive: a, name: s.path(), size: s.Size, progress: a.progress}
	got, err := from.hash(ctx, segmentName(s.Version), w)
	if err != nil {
		return err
	}
	return compareFile(got, s.File, "the file has changed")
}

// addEntries implements destination. It ends the archive. The entries are written to a temporary file first, because their size
// must be known.
func (a *archive) addEntries(write func(io.Writer) error) (err error) {
	temp, err := os.CreateTemp("", "herbarium-backup-*"+partSuffix)
	if err != nil {
		return err
	}
	_ = os.Remove(temp.Name()) // so that a killed process leaves nothing; Windows removes no open files
	defer func() {
		err = errors.Join(err, temp.Close())
		_ = os.Remove(temp.Name())
	}()
	if err := write(temp); err != nil {
		return err
	}
	size, err := temp.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	entries := &archivedFile{archive: a, name: entriesFile, size: size, progress: func(int64, int64) {}}
	if _, err := io.Copy(entries, io.NewSectionReader(temp, 0, size)); err != nil {
		return err
	}
	return a.tar.Close()
}

// archivedFile writes a file of an archive. It writes the header with the first bytes, so that a file that cannot be read at
// all leaves no trace.
type archivedFile struct {
	*archive
	name       string
	size, done int64
	progress   func(done, total int64)
}

// Write implements io.Writer.
func (f *archivedFile) Write(p []byte) (int, error) {
	if f.done == 0 {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: f.name, Size: f.size, Mode: 0o600, ModTime: f.created.Truncate(time.Second)}
		if err := f.tar.WriteHeader(h); err != nil {
			return 0, err
		}
	}
	n, err := f.tar.Write(p)
	f.done += int64(n)
	f.progress(f.done, f.size)
	return n, err
}
