package migrate

import (
	"archive/tar"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"herbarium/internal/filesystem"
	"herbarium/internal/herb"
)

// readBackup reads a backup completely and fails unless every segment file is as the entries describe it. Unless dir is empty,
// it writes the files to dir, except for segment files that the entries do not name: their versions were dropped during the
// backup.
func readBackup(ctx context.Context, path string, stdin io.Reader, dir string, o Options) (r Result, err error) {
	write := func(_ string, content func(io.Writer) error) error { return content(io.Discard) }
	if dir != "" {
		if err := os.MkdirAll(filepath.Join(dir, segmentsDir), 0o700); err != nil {
			return r, err
		}
		write = func(name string, content func(io.Writer) error) error {
			path := filepath.Join(dir, filepath.FromSlash(name))
			return filesystem.WriteFile(filesystem.OS{}, path+partSuffix, path, 0o600, content)
		}
	}
	read := map[string]herb.File{} // segment files, by path in the backup
	report := o.steps.Bytes(PhaseRead)
	err = eachFile(ctx, path, stdin, func(name string, content io.Reader) error {
		content = &reader{ctx: ctx, r: content, report: report}
		return write(name, func(w io.Writer) error {
			if name == entriesFile {
				return r.verify(io.TeeReader(content, w), read)
			}
			sum := newDigest()
			_, err := io.Copy(io.MultiWriter(w, sum), content)
			read[name] = sum.file()
			return err
		})
	})
	for name := range read {
		if dir != "" && err == nil {
			err = os.Remove(filepath.Join(dir, filepath.FromSlash(name)))
		}
	}
	return r, err
}

// verify reads entries, counts them and fails unless every segment file was read and is as described. It deletes those from
// read.
func (r *Result) verify(entries io.Reader, read map[string]herb.File) error {
	for e, err := range Read(entries) {
		if err != nil {
			return err
		}
		r.count(e)
		s, ok := e.(*Segment)
		if !ok {
			continue
		}
		got, ok := read[s.path()]
		if !ok {
			return herb.Errorf(herb.CodeInvalid, "the backup is incomplete: %s is missing", s)
		}
		if err := compareFile(got, s.File, "the backup is damaged"); err != nil {
			return herb.Errorf(herb.CodeInvalid, "%s: %v", s, err)
		}
		delete(read, s.path())
	}
	return nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return path != StandardInput && err == nil && info.IsDir()
}

// eachFile calls visit for each segment file of a backup, and then for its entries.
func eachFile(ctx context.Context, path string, stdin io.Reader, visit func(name string, content io.Reader) error) (err error) {
	if isFolder(path) {
		return eachInFolder(ctx, path, visit)
	}
	if path == StandardInput {
		return eachInArchive(ctx, stdin, visit)
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return eachInArchive(ctx, f, visit)
}

// eachInFolder is eachFile for a folder, which may have segment files of earlier backups. It skips missing files.
func eachInFolder(ctx context.Context, dir string, visit func(name string, content io.Reader) error) error {
	var names []string
	for e, err := range (&EntryFile{Path: filepath.Join(dir, entriesFile)}).Entries(ctx, everything()) {
		if err != nil {
			return err
		}
		s, ok := e.(*Segment)
		if !ok {
			break // segments come first
		}
		names = append(names, s.path())
	}
	for _, name := range append(names, entriesFile) {
		f, err := os.Open(filepath.Join(dir, filepath.FromSlash(name)))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if err := errors.Join(visit(name, f), f.Close()); err != nil {
			return err
		}
	}
	return nil
}

// segmentPath matches the path of a segment file in a backup.
var segmentPath = regexp.MustCompile(`^` + segmentsDir + `/[A-Za-z0-9-]+\.segment$`)

// eachInArchive is eachFile for an archive, in which the entries come last.
func eachInArchive(ctx context.Context, r io.Reader, visit func(name string, content io.Reader) error) error {
	archive := tar.NewReader(r)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		h, err := archive.Next()
		if err == io.EOF {
			err = errors.New(entriesFile + " is missing")
		}
		if err != nil {
			return herb.Errorf(herb.CodeInvalid, "the backup is damaged, incomplete, compressed, or not a backup of Herbarium: %v", err)
		}
		if h.Name != entriesFile && !segmentPath.MatchString(h.Name) {
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

// reader reads until its context ends and reports how many bytes were read.
type reader struct {
	ctx    context.Context
	r      io.Reader
	done   int64
	report func(done, total int64)
}

// Read implements io.Reader.
func (r *reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := r.r.Read(p)
	r.done += int64(n)
	r.report(r.done, 0)
	return n, err
}
