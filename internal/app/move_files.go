package app

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/segment"
)

// moveFiles is where the files of versions are on one side.
type moveFiles interface {
	// Get writes a file. The error has herb.CodeNotFound if there is none.
	Get(ctx context.Context, name string, to io.Writer) error
	// take gets a file from the other side, whole and as wanted or not at all. told is how many bytes are here.
	take(ctx context.Context, name string, want herb.File, from moveFiles, told func(int64)) error
}

// moveBlobs is an object store.
type moveBlobs interface {
	Put(ctx context.Context, name, path string, progress func(done, total int64)) error
	Get(ctx context.Context, name string, to io.Writer) error
	Delete(ctx context.Context, name string) error
}

// moveFiles brings the files of all versions to the target and completes the catalogue with what they are known by.
func (m *mover) moveFiles(ctx context.Context) error {
	total := m.sizes()
	tell := func(done int64) {
		m.steps.update(phaseFiles, func(p *Progress) { p.Bytes, p.Done, p.Total = true, done, total })
	}
	tell(0)
	for _, c := range m.source.catalogue {
		for i := range c.Versions {
			d := &c.Versions[i]
			file, err := m.moveFile(ctx, *d, func(done int64) { tell(m.moved.Bytes + done) })
			if err != nil {
				return fmt.Errorf("the file of version %s of dataset %s: %w", d.Version, d.Ref, err)
			}
			d.File = &file
			m.moved.Bytes += file.Size
			tell(m.moved.Bytes)
		}
	}
	return nil
}

// sizes adds up how large the files of the source are.
func (m *mover) sizes() (total int64) {
	for _, c := range m.source.catalogue {
		for _, d := range c.Versions {
			if dir, ok := m.from.files.(folder); ok {
				if info, err := os.Stat(dir.path(fileName(d.Version))); err == nil { // one that is missing is told of later
					total += info.Size()
				}
			} else if d.File != nil {
				total += d.File.Size
			}
		}
	}
	return total
}

// fileName is what the file of a version is called on every side.
func fileName(version string) string { return version + ".segment" }

// moveFile brings the file of a version to the target, unless it is there, and returns what it is known by.
func (m *mover) moveFile(ctx context.Context, d herb.Dataset, told func(int64)) (want herb.File, err error) {
	name := fileName(d.Version)
	if d.File != nil {
		want = *d.File
	}
	if d.File == nil || m.check {
		got, err := sum(ctx, m.from.files, name)
		if err != nil {
			return want, missingInSource(err)
		}
		if d.File == nil {
			want, err = got, m.verifySegment(name)
		} else {
			err = sameFile(got, want, "that of the source is damaged")
		}
		if err != nil {
			return want, err
		}
	}
	got, err := sum(ctx, m.to.files, name)
	switch {
	case err == nil:
		return want, sameFile(got, want, "the target has another one")
	case herb.CodeOf(err) != herb.CodeNotFound:
		return want, err
	case m.check:
		return want, herb.Errorf(herb.CodeRefused, "the target has none")
	}
	if err := m.to.files.take(ctx, name, want, m.from.files, told); err != nil {
		return want, missingInSource(err)
	}
	m.moved.NewFiles++
	return want, nil
}

// missingInSource says what to do about a file that is not there.
func missingInSource(err error) error {
	if herb.CodeOf(err) != herb.CodeNotFound {
		return err
	}
	return herb.Wrap(herb.CodeNotFound, err, "the source has none; if it was replaced in the meantime, run the move again, "+
		"else publish the dataset again or remove it")
}

// verifySegment reads a file of the source through that nobody has written the hash of down.
func (m *mover) verifySegment(name string) (err error) {
	dir, ok := m.from.files.(folder)
	if !ok {
		return nil // a file that was never on one machine alone has its hash
	}
	r, err := segment.Open(dir.path(name))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Release()) }()
	return r.Verify()
}

// sameFile fails if a file is not as wanted.
func sameFile(got, want herb.File, what string) error {
	if got == want {
		return nil
	}
	return herb.Errorf(herb.CodeRefused, "%s: it has %d bytes and the SHA-256 %s; %d bytes and %s would be right",
		what, got.Size, got.SHA256, want.Size, want.SHA256)
}

// sum reads a file through.
func sum(ctx context.Context, files moveFiles, name string) (herb.File, error) {
	s := newSummer(io.Discard)
	err := files.Get(ctx, name, s)
	return s.file(), err
}

// summer adds up what is written through it.
type summer struct {
	to   io.Writer
	hash hash.Hash
	size int64
	told func(int64) // each time
}

func newSummer(to io.Writer) *summer {
	return &summer{to: to, hash: sha256.New(), told: func(int64) {}}
}

// Write is io.Writer.
func (s *summer) Write(p []byte) (int, error) {
	n, err := s.to.Write(p)
	s.hash.Write(p[:n])
	s.size += int64(n)
	s.told(s.size)
	return n, err
}

func (s *summer) file() herb.File {
	return herb.File{Size: s.size, SHA256: hex.EncodeToString(s.hash.Sum(nil))}
}

// folder is the folder of files in a data folder.
type folder string

func (f folder) path(name string) string { return filepath.Join(string(f), name) }

// Get is moveFiles.
func (f folder) Get(ctx context.Context, name string, to io.Writer) (err error) {
	file, err := os.Open(f.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return herb.Wrap(herb.CodeNotFound, err, "there is no file %q", name)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	_, err = io.Copy(to, contextReader{ctx, file})
	return err
}

// contextReader is a reader that fails when a context ends.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

// Read is io.Reader.
func (r contextReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

// take is moveFiles.
func (f folder) take(ctx context.Context, name string, want herb.File, from moveFiles, told func(int64)) error {
	part, err := fetchPart(ctx, string(f), name, want, from, told)
	if err != nil {
		return err
	}
	if err := os.Rename(part, f.path(name)); err != nil {
		return errors.Join(err, os.Remove(part))
	}
	return syncDir(string(f))
}

// fetchPart gets a file under another name in a folder, synced and as wanted.
func fetchPart(
	ctx context.Context, dir, name string, want herb.File, from moveFiles, told func(int64),
) (part string, err error) {
	base := strings.TrimSuffix(name, filepath.Ext(name))
	part = filepath.Join(dir, base+"."+strings.ToLower(rand.Text())+segment.PartSuffix) // servers sweep what is called so
	file, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	s := newSummer(file)
	s.told = told
	err = from.Get(ctx, name, s)
	if err == nil {
		err = sameFile(s.file(), want, "that of the source is damaged")
	}
	if err == nil {
		err = file.Sync()
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return "", errors.Join(err, os.Remove(part))
	}
	return part, nil
}

// syncDir makes the names in a folder durable.
func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// bucket is an object store.
type bucket struct{ moveBlobs }

// take is moveFiles.
func (b bucket) take(ctx context.Context, name string, want herb.File, from moveFiles, told func(int64)) (err error) {
	var path string
	if dir, ok := from.(folder); ok {
		got, err := sum(ctx, dir, name)
		if err != nil {
			return err
		}
		if err := sameFile(got, want, "that of the source is damaged"); err != nil {
			return err
		}
		path = dir.path(name)
	} else {
		if path, err = fetchPart(ctx, os.TempDir(), name, want, from, func(int64) {}); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.Remove(path)) }()
	}
	if err := b.Put(ctx, name, path, func(done, _ int64) { told(done) }); err != nil {
		return err
	}
	got, err := sum(ctx, b, name)
	if err == nil {
		err = sameFile(got, want, "what was stored does not read back")
	}
	if herb.CodeOf(err) == herb.CodeRefused {
		err = errors.Join(err, b.Delete(ctx, name))
	}
	return err
}
