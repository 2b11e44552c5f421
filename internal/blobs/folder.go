package blobs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
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
	if a.flags["create_dir"] {
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
		return nil, herb.Invalidf(
			"the folder of the object store %s does not exist; create it, or add ?create_dir=true", a)
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

func (f *folder) ping(context.Context) error {
	d, err := os.Open(f.root)
	if err != nil {
		return err
	}
	_, err = d.ReadDir(1)
	return errors.Join(ignore(err, io.EOF), d.Close())
}

// put implements driver. An acknowledged object survives a power failure. A folder that was removed
// or unmounted is not created again.
func (f *folder) put(ctx context.Context, name string, src io.ReaderAt, size int64) error {
	temp := fmt.Sprintf("%s.%x.tmp", f.path(name), rand.Uint64())
	return filesystem.WriteFile(filesystem.OS{}, temp, f.path(name), 0o600, func(w io.Writer) error {
		_, err := io.Copy(w, io.NewSectionReader(src, 0, size))
		return errors.Join(err, ctx.Err())
	})
}

func (f *folder) get(_ context.Context, name string, to *target) error {
	file, err := os.Open(f.path(name))
	if err != nil {
		return err
	}
	_, err = io.Copy(to, file)
	return errors.Join(err, file.Close())
}

func (f *folder) remove(_ context.Context, name string) error { return os.Remove(f.path(name)) }

func (f *folder) list(_ context.Context, prefix string, yield func(herb.Blob) bool) error {
	files, err := f.files()
	for _, info := range files {
		name := info.Name()
		if temporary.MatchString(name) || !strings.HasPrefix(name, prefix) {
			continue
		}
		if !yield(herb.Blob{Name: name, Size: info.Size(), Modified: info.ModTime()}) {
			return nil
		}
	}
	return err
}

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
