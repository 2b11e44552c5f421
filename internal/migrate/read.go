package migrate

import (
	"archive/tar"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/segment"
	"herbarium/internal/store"
)

// backup is what was read from a backup.
type backup struct {
	damage
	header          Header
	counts          Result // of entries that are not in files and datasets
	files, datasets []Entry
	read            map[string]*backupFile // files of versions, by name
}

// backupFile is a file of a version in a backup.
type backupFile struct {
	herb.File
	unpacked string // path; empty if it was not unpacked
	err      error  // of reading it
	listed   bool   // in the entries

	// Of segments.
	content  segmentContent
	outdated bool  // its index has to be rebuilt
	opened   error // of opening it
}

// result describes what a restore copies.
func (b *backup) result(o *omissions) Result {
	r := b.counts
	r.Skipped, r.LeftOut = o.skipped, b.header.LeftOut
	entries := func(yield func(Entry, error) bool) {
		for _, e := range slices.Concat(b.files, b.datasets) {
			if !yield(e, nil) {
				return
			}
		}
	}
	for e := range o.remaining(entries) {
		r.count(e)
		if f, ok := e.(*Segment); ok && b.read[f.name()] != nil && b.read[f.name()].outdated {
			r.Rebuilds++
		}
	}
	return r
}

// removeExcept removes the unpacked files that are not restored: those that are left out, and those
// of versions that were dropped during the backup.
func (b *backup) removeExcept(o *omissions) (err error) {
	for name, f := range b.read {
		if f.unpacked != "" && !o.copied[name] {
			err = errors.Join(err, os.RemoveAll(f.unpacked))
		}
	}
	return err
}

// readBackup reads a backup completely. It records files of versions that are not as the entries
// describe them, and segments whose records this program cannot read, or that have other fields or
// another number of records than the entries. It fails if the entries cannot be read.
//
// It unpacks an archive to dir. With o.Check, it removes each file as soon as it was read.
// wanted reports whether a file of a version is read.
func readBackup(ctx context.Context, path string, stdin io.Reader, dir string, o Options,
	wanted func(name string) bool) (*backup, error) {
	b := &backup{damage: damage{}, read: map[string]*backupFile{}}
	if err := os.MkdirAll(filepath.Join(dir, store.VersionsDir), 0o700); err != nil {
		return nil, err
	}
	meter := &meter{ctx: ctx, report: o.steps.Bytes(PhaseRead)}
	return b, visitFiles(ctx, path, stdin, func(name string, content io.Reader) error {
		content = io.TeeReader(content, meter)
		switch inPlace := isFolder(path); {
		case name != entriesFile && !wanted(filepath.Base(name)):
			return nil
		case name != entriesFile && inPlace:
			return b.readFile(filepath.Join(path, filepath.FromSlash(name)), content, true)
		case name != entriesFile:
			unpacked := filepath.Join(dir, store.VersionsDir, filepath.Base(name))
			err := b.readFile(unpacked, content, false)
			if o.Check {
				err = errors.Join(err, os.RemoveAll(unpacked))
			}
			return err
		case inPlace || o.Check:
			return b.readEntries(content)
		default:
			return writeFile(filepath.Join(dir, entriesFile),
				func(w io.Writer) error { return b.readEntries(io.TeeReader(content, w)) })
		}
	})
}

// readFile reads a file of a version, and opens it if it is a segment. Unless it is in place, its
// content is written to the path first.
func (b *backup) readFile(path string, content io.Reader, inPlace bool) (err error) {
	name, f := filepath.Base(path), &backupFile{}
	b.read[name] = f
	copyTo := func(w io.Writer) error {
		sum := newContentHash(name)
		_, err := io.Copy(io.MultiWriter(w, sum), content)
		got, failed := sum.File()
		f.File = got
		if failed != nil && (err == nil || errors.Is(err, failed)) {
			err = &unreadableError{failed}
		}
		return err
	}
	if inPlace {
		err = copyTo(io.Discard)
	} else {
		f.unpacked = path
		err = writeFile(path, copyTo)
	}
	if unreadable, ok := errors.AsType[*unreadableError](err); ok {
		f.err = unreadable.error
		return nil
	}
	if parsed, ok := store.ParseVersionFile(name); ok && parsed.Kind == store.SegmentKind && err == nil {
		f.opened = openSegment(path, func(core *segment.Core) error {
			f.content, f.outdated = newSegmentContent(core.Fields(), core.Len()), !core.HasCurrentIndex()
			return nil
		})
	}
	return err
}

// unreadableError is the error of a file of a version that cannot be read, unlike other files.
type unreadableError struct{ error }

// readEntries reads the entries and records files that are not as they describe them.
func (b *backup) readEntries(entries io.Reader) error {
	for e, err := range Read(entries, &b.header) {
		if err != nil {
			return err
		}
		switch e := e.(type) {
		case versionFile:
			b.files = append(b.files, e)
			if err := b.match(e); err != nil {
				b.add(e.ofVersion(), fmt.Errorf("%s: %w", e, err))
			}
		case *Dataset:
			b.datasets = append(b.datasets, e)
			for _, v := range e.Versions {
				b.matchContent(v)
			}
		default:
			b.counts.count(e)
		}
	}
	return nil
}

// match fails if a file is missing, cannot be read, or is not as its entry describes it.
func (b *backup) match(entry versionFile) error {
	f := b.read[entry.name()]
	if f == nil {
		return herb.Errorf(herb.CodeInvalid, "the backup is incomplete: the file is missing")
	}
	f.listed = true
	if f.err != nil {
		return herb.Errorf(herb.CodeInvalid, "the backup is damaged: %v", f.err)
	}
	return cmp.Or(compareFile(f.File, *entry.file(), "the backup is damaged"), f.opened)
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

// matchContent records a version whose segment has other fields or another number of records.
func (b *backup) matchContent(v herb.Dataset) {
	problem, f := "", b.read[store.SegmentFile(v.Version)]
	switch want := newSegmentContent(v.Fields, v.Records); {
	case b.damage[v.Version] != nil:
	case f == nil || !f.listed:
		problem = "the backup has no segment for it"
	case f.content.records != want.records:
		problem = fmt.Sprintf("it has %d records, but its segment has %d", want.records, f.content.records)
	case f.content != want:
		problem = "its fields are not those of its segment"
	}
	if problem != "" {
		b.add(v.Version, herb.Errorf(herb.CodeInvalid, "%s; use another backup", problem))
	}
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return path != StandardStream && err == nil && info.IsDir()
}

// isVersionFile reports whether a path is that of a file of a version in a backup.
func isVersionFile(path string) bool {
	name, ok := strings.CutPrefix(path, segmentsDir+"/")
	f, parsed := store.ParseVersionFile(name)
	return ok && parsed && f.IsPublished() && versionName.MatchString(f.Version)
}

// versionName matches names of versions that are safe as names of files.
var versionName = regexp.MustCompile(`^[A-Za-z0-9-]+$`)

// visitFiles calls visit for each file of a version in a backup, and then for its entries.
func visitFiles(ctx context.Context, path string, stdin io.Reader,
	visit func(name string, content io.Reader) error) error {
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
			return herb.Errorf(herb.CodeInvalid,
				"the backup is damaged, incomplete, compressed, or not a backup of Herbarium: %v", err)
		case h.Name != entriesFile && !isVersionFile(h.Name):
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
			err = errors.Join(visit(name, folderFile{f, nil}), f.Close())
		} else {
			err = visit(name, folderFile{nil, err})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// folderFile reads a file of a folder. If it fails, other files may be readable.
type folderFile struct {
	*os.File
	err error // of opening it
}

func (f folderFile) Read(p []byte) (n int, err error) {
	err = f.err
	if err == nil {
		n, err = f.File.Read(p)
	}
	if err != nil && err != io.EOF {
		err = &unreadableError{err}
	}
	return n, err
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
