package library

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"herbarium/internal/filesystem"
	"herbarium/internal/herb"
	"herbarium/internal/segment"
	"herbarium/internal/store"
)

// folder is the folder of a library and the object store of its files, if there is one. It has no
// state: it names, reads, writes, fetches and stores files for those that decide which ones.
type folder struct {
	dir   string
	fs    filesystem.FS
	blobs Blobs // nil: dir is the only store
	log   *slog.Logger
	// openFile opens a segment file with the index of this program; openLocal but in tests.
	openFile func(path string) (*segment.Reader, error)
}

// shared reports whether the files are in an object store that nodes share, and dir is a cache of
// it.
func (f *folder) shared() bool { return f.blobs != nil }

func (f *folder) path(name string) string { return filepath.Join(f.dir, name) }

// publishedFile returns the path of the file of a version as it was published.
func (f *folder) publishedFile(version string) string { return f.path(store.SegmentFile(version)) }

// rebuiltFile returns the path of the file of a version with the index of this program.
func (f *folder) rebuiltFile(version string) string { return f.path(RebuiltName(version)) }

// remove removes a file. It succeeds if the file does not exist.
func (f *folder) remove(name string) error { return f.fs.RemoveAll(f.path(name)) }

// listFiles returns the files of versions in dir.
func (f *folder) listFiles() (files []localFile, err error) {
	entries, err := f.fs.ReadDir(f.dir)
	for _, e := range entries {
		if file, ok := store.ParseVersionFile(e.Name()); ok {
			files = append(files, localFile{file, e})
		}
	}
	return files, err
}

// localFile is a file of a version in the folder.
type localFile struct {
	store.VersionFile
	os.DirEntry
}

// Name returns the name of the file, also of an incomplete one.
func (f localFile) Name() string { return f.DirEntry.Name() }

// save writes a file atomically. Other processes may write it concurrently.
func (f *folder) save(name string, write func(io.Writer) error) error {
	lock, err := store.LockVersions(f.dir)
	if err != nil {
		return err
	}
	defer lock.Close()
	path := f.path(name)
	return filesystem.WriteFile(f.fs, path+"."+rand.Text()+segment.PartSuffix, path, 0o600, write)
}

// saveJSON writes a small file.
func (f *folder) saveJSON(name string, content any) error {
	return f.save(name, func(w io.Writer) error { return json.NewEncoder(w).Encode(content) })
}

// fetch copies an object to the file with its name and returns the size.
func (f *folder) fetch(ctx context.Context, name string) (size int64, err error) {
	err = f.save(name, func(file io.Writer) error {
		return f.blobs.Get(ctx, name, writerFunc(func(p []byte) (int, error) {
			n, err := file.Write(p)
			size += int64(n)
			return n, err
		}))
	})
	return size, err
}

// findObject returns nil if the object store has an object, which it does not fetch. The error has
// herb.CodeNotFound if there is no such object.
func (f *folder) findObject(ctx context.Context, name string) error {
	errFound := errors.New("the object exists")
	err := f.blobs.Get(ctx, name, writerFunc(func([]byte) (int, error) { return 0, errFound }))
	if errors.Is(err, errFound) {
		return nil
	}
	return err
}

// writerFunc is a function as an io.Writer.
type writerFunc func(p []byte) (int, error)

func (w writerFunc) Write(p []byte) (int, error) { return w(p) }

// CheckFile opens the published file of a version with OpenCore and closes it.
func (f *folder) CheckFile(version string) error {
	c, err := OpenCore(f.publishedFile(version))
	if err != nil {
		return err
	}
	return c.Close()
}

// HashFile returns the size and hash of the published file of a version.
func (f *folder) HashFile(ctx context.Context, version string) (hash *herb.File, err error) {
	file, err := f.fs.OpenFile(f.publishedFile(version), os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	sum := herb.NewFileHash()
	_, err = io.Copy(writerFunc(func(p []byte) (int, error) {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		return sum.Write(p)
	}), file)
	return new(sum.File()), err
}

// loadDescription returns the copy of a description, which never changes.
func (f *folder) loadDescription(v herb.LiveVersion) (d herb.Dataset, err error) {
	content, err := os.ReadFile(f.path(store.DescriptionFile(v.Version)))
	if err != nil {
		return d, err
	}
	if err := json.Unmarshal(content, &d); err != nil {
		return d, err
	}
	if d.Ref != v.Ref || d.Version != v.Version {
		return d, errors.New("the description is that of another version")
	}
	return d, nil
}

// saveDescription saves a copy of a description. If that fails, the node needs the catalogue to
// open the version again.
func (f *folder) saveDescription(d herb.Dataset) {
	if err := f.saveJSON(store.DescriptionFile(d.Version), d); err != nil {
		f.log.Warn("cannot save description", "dataset", d.Ref.String(), "version", d.Version, "err", err)
	}
}
