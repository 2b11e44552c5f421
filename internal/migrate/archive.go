package migrate

import (
	"archive/tar"
	"context"
	"errors"
	"io"
	"os"
	"time"
)

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
	spool, err := os.CreateTemp("", "herbarium-backup-*"+partSuffix)
	if err != nil {
		return err
	}
	_ = os.Remove(spool.Name()) // so that a killed process leaves nothing; Windows removes no open files
	defer func() {
		err = errors.Join(err, spool.Close())
		_ = os.Remove(spool.Name())
	}()
	if err := write(spool); err != nil {
		return err
	}
	size, err := spool.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	entries := &archivedFile{archive: a, name: entriesFile, size: size, progress: func(int64, int64) {}}
	if _, err := io.Copy(entries, io.NewSectionReader(spool, 0, size)); err != nil {
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
