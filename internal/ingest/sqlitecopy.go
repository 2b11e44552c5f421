package ingest

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
)

// openDatabase starts to read a database. SQLite opens files by name, and a name in a folder may lead elsewhere a moment
// after it was checked. So of a database that was found in a folder a copy is read, made from the file that is open.
func openDatabase(ctx context.Context, in *input, f *os.File, at *readerAt) (*sqliteReader, error) {
	path, remove := f.Name(), func() error { return nil }
	if in.src.Root != "" && f == in.file {
		var err error
		if path, remove, err = copyDatabase(ctx, in, f); err != nil {
			return nil, err
		}
	}
	s, err := newSQLiteReader(ctx, path, in.src.Dialect.Table, at.size, at.tell)
	if err != nil {
		return nil, errors.Join(err, remove())
	}
	s.remove = remove
	return s, nil
}

// copyDatabase copies an open database, its log and its journal into a temporary folder, which remove deletes.
func copyDatabase(ctx context.Context, in *input, f *os.File) (path string, remove func() error, err error) {
	dir, err := os.MkdirTemp("", "herbarium-*")
	if err != nil {
		return "", nil, err
	}
	remove = func() error { return os.RemoveAll(dir) }
	path = filepath.Join(dir, "copy.db")
	files := map[string]*os.File{path: f}
	if in.log != nil {
		files[path+logSuffix] = in.log
	}
	const journal = "-journal"
	name := in.src.files()[in.at] + journal
	if info, err := in.from.stat(name); err == nil && info.Mode().IsRegular() && info.Size() > 0 {
		j, err := in.from.open(name)
		if err != nil {
			return "", nil, errors.Join(err, remove())
		}
		defer j.Close()
		files[path+journal] = j
	}
	for to, from := range files {
		if err := copyFile(ctx, to, from); err != nil {
			return "", nil, errors.Join(err, remove())
		}
	}
	return path, remove, nil
}

// copyFile writes the content of an open file, wherever it has been read to, under another name.
func copyFile(ctx context.Context, to string, from *os.File) error {
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	content := io.NewSectionReader(from, 0, 1<<62)
	_, err = io.CopyBuffer(struct{ io.Writer }{out}, readerFunc(func(p []byte) (int, error) {
		if err := context.Cause(ctx); err != nil {
			return 0, err
		}
		return content.Read(p)
	}), make([]byte, windowBytes))
	return errors.Join(err, out.Close())
}
