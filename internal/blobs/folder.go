package blobs

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"herbarium/internal/filesystem"
	"herbarium/internal/herb"
)

// temporary matches the names of files that are still being written.
var temporary = regexp.MustCompile(`\.[0-9a-f]+\.tmp$`)

// folder is a driver that stores objects as files.
type folder struct{ root string }

func openFolder(a address) (driver, error) {
	root := filepath.FromSlash("/" + a.path)
	if filepath.VolumeName(a.path) != "" { // on Windows, as in file:///C:/folder
		root = filepath.FromSlash(a.path)
	}
	create, err := a.flag("create_dir")
	if err != nil {
		return nil, err
	}
	if create {
		err := os.Mkdir(root, 0o700)
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

func (f *folder) path(name string) string { return filepath.Join(f.root, name) }

// ping implements driver.
func (f *folder) ping(context.Context) error {
	d, err := os.Open(f.root)
	if err != nil {
		return err
	}
	_, err = d.ReadDir(1)
	return errors.Join(ignore(err, io.EOF), d.Close())
}

// put implements driver. It writes a temporary file beside the target, syncs it, renames it and syncs the folder, so that an
// acknowledged object survives a power failure. A folder that was removed or unmounted is not created again.
func (f *folder) put(ctx context.Context, name string, src io.ReaderAt, size int64) (err error) {
	temp, err := os.CreateTemp(f.root, name+".*.tmp") // mode 0600
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
	if err = errors.Join(err, temp.Close(), ctx.Err()); err != nil {
		return err
	}
	if err := os.Rename(temp.Name(), f.path(name)); err != nil {
		return err
	}
	return filesystem.SyncDir(filesystem.OS{}, f.root)
}

// get implements driver.
func (f *folder) get(_ context.Context, name string, to *target) error {
	file, err := os.Open(f.path(name))
	if err != nil {
		return err
	}
	_, err = io.Copy(to, file)
	return errors.Join(err, file.Close())
}

// remove implements driver.
func (f *folder) remove(_ context.Context, name string) error { return os.Remove(f.path(name)) }

// list implements driver.
func (f *folder) list(_ context.Context, yield func(herb.Blob) bool) error {
	files, err := f.files()
	for _, info := range files {
		if name := info.Name(); !temporary.MatchString(name) && !yield(herb.Blob{Name: name, Size: info.Size(), Modified: info.ModTime()}) {
			return nil
		}
	}
	return err
}

// abort implements driver.
func (f *folder) abort(_ context.Context, before time.Time) error {
	files, err := f.files()
	for _, info := range files {
		if temporary.MatchString(info.Name()) && info.ModTime().Before(before) {
			err = errors.Join(err, ignore(os.Remove(f.path(info.Name())), fs.ErrNotExist))
		}
	}
	return err
}

// files returns the regular files in the order of their names.
func (f *folder) files() (files []fs.FileInfo, err error) {
	entries, err := os.ReadDir(f.root)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() { // or it has been removed meanwhile
			files = append(files, info)
		}
	}
	return files, err
}

// ignore returns err unless it is the expected one.
func ignore(err, expected error) error {
	if errors.Is(err, expected) {
		return nil
	}
	return err
}
