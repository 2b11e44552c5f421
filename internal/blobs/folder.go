package blobs

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"herbarium/internal/filesystem"
	"herbarium/internal/herb"
)

const folderMode = 0o700

// temporary matches the names of files that are still being written.
var temporary = regexp.MustCompile(`\.[0-9a-f]+\.tmp$`)

// folder is a driver that stores objects as files.
type folder struct{ root string }

func openFolder(a address) (driver, error) {
	root := filepath.FromSlash("/" + a.path)
	create, err := a.flag("create_dir")
	if err != nil {
		return nil, err
	}
	if create {
		err := os.Mkdir(root, folderMode)
		if err == nil {
			err = filesystem.SyncDir(filesystem.OS{}, filepath.Dir(root))
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, herb.Wrap(herb.CodeInvalid, err, "cannot create the folder of the object store %s", a)
		}
	}
	info, err := os.Stat(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, herb.Invalidf("the folder of the object store %s does not exist; create it, or add ?create_dir=true", a)
	}
	if err != nil {
		return nil, herb.Wrap(herb.CodeInvalid, err, "cannot read the folder of the object store %s", a)
	}
	if !info.IsDir() {
		return nil, herb.Invalidf("the object store %s is not a folder", a)
	}
	return &folder{root: root}, nil
}

func (f *folder) close() {}

func (f *folder) path(name string) string { return filepath.Join(f.root, filepath.FromSlash(name)) }

// ping implements driver.
func (f *folder) ping(context.Context) error {
	d, err := os.Open(f.root)
	if err != nil {
		return err
	}
	_, err = d.ReadDir(1)
	return errors.Join(ignore(err, io.EOF), d.Close())
}

// put implements driver. It writes a temporary file beside the target, syncs it, renames it and syncs the folders, so that an
// acknowledged object survives a power failure.
func (f *folder) put(ctx context.Context, name string, src io.ReaderAt, size int64) (err error) {
	if err := f.ping(ctx); err != nil {
		return err // a folder that was removed or unmounted is not created again
	}
	path := f.path(name)
	if err := os.MkdirAll(filepath.Dir(path), folderMode); err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp") // mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, ignore(os.Remove(temp.Name()), fs.ErrNotExist))
		}
	}()
	_, err = io.Copy(temp, io.NewSectionReader(src, 0, size))
	if err == nil {
		err = temp.Sync()
	}
	if err = errors.Join(err, temp.Close()); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := os.Rename(temp.Name(), path); err != nil {
		return err
	}
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if err := filesystem.SyncDir(filesystem.OS{}, dir); err != nil {
			return err
		}
		if dir == f.root {
			return nil
		}
	}
}

// get implements driver.
func (f *folder) get(_ context.Context, name string, to *target) error {
	file, err := os.Open(f.path(name))
	if err != nil {
		return err
	}
	if _, err = regular(file.Stat()); err == nil {
		_, err = io.Copy(to, file)
	}
	return errors.Join(err, file.Close())
}

// regular turns the description of anything but a regular file into fs.ErrNotExist.
func regular(info fs.FileInfo, err error) (fs.FileInfo, error) {
	if err == nil && !info.Mode().IsRegular() {
		err = fs.ErrNotExist
	}
	return info, err
}

// remove implements driver.
func (f *folder) remove(_ context.Context, name string) error {
	if _, err := regular(os.Stat(f.path(name))); err != nil {
		return err
	}
	return os.Remove(f.path(name))
}

// list implements driver. It collects all files first: the order of names is not the order in which a tree is walked.
func (f *folder) list(ctx context.Context, yield func(herb.Blob) bool) error {
	var objects []herb.Blob
	err := f.walk(ctx, func(path string, info fs.FileInfo) error {
		name, err := filepath.Rel(f.root, path)
		if err == nil && !temporary.MatchString(path) {
			objects = append(objects, herb.Blob{Name: filepath.ToSlash(name), Size: info.Size(), Modified: info.ModTime()})
		}
		return err
	})
	if err != nil {
		return err
	}
	slices.SortFunc(objects, func(a, b herb.Blob) int { return strings.Compare(a.Name, b.Name) })
	for _, o := range objects {
		if !yield(o) {
			return nil
		}
	}
	return nil
}

// abort implements driver.
func (f *folder) abort(ctx context.Context, before time.Time) error {
	return f.walk(ctx, func(path string, info fs.FileInfo) error {
		if temporary.MatchString(path) && info.ModTime().Before(before) {
			return ignore(os.Remove(path), fs.ErrNotExist)
		}
		return nil
	})
}

// walk calls visit for all regular files. Files that disappear meanwhile are skipped, the root must exist.
func (f *folder) walk(ctx context.Context, visit func(path string, info fs.FileInfo) error) error {
	if err := f.ping(ctx); err != nil {
		return err
	}
	return filepath.WalkDir(f.root, func(path string, d fs.DirEntry, err error) error {
		if err = errors.Join(err, ctx.Err()); err != nil || d.IsDir() {
			return ignore(err, fs.ErrNotExist)
		}
		info, err := regular(d.Info())
		if err != nil {
			return ignore(err, fs.ErrNotExist)
		}
		return visit(path, info)
	})
}

// ignore returns err unless it is the expected one.
func ignore(err, expected error) error {
	if errors.Is(err, expected) {
		return nil
	}
	return err
}
