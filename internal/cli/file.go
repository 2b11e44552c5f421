package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"herbarium/internal/filesystem"
	"herbarium/internal/herb"
	"herbarium/internal/ingest"
)

// writeFile writes a temporary file and renames it to path when it is complete. An existing file is replaced, or kept if
// writing fails. A path that is not a regular file, such as a pipe or a terminal, is written directly.
func writeFile(path string, write func(io.Writer) error) error {
	info, err := os.Stat(path) // follows links
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case info.IsDir():
		return usagef("%s is a folder; expected a file", path)
	case !info.Mode().IsRegular():
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(write(f), f.Close())
	default:
		if path, err = filepath.EvalSymlinks(path); err != nil { // replace the file, not the link to it
			return err
		}
	}
	part := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"."+rand.Text()+".part")
	return filesystem.WriteFile(filesystem.OS{}, part, path, 0o666, write)
}

// stdinPath is the path that denotes standard input.
const stdinPath = "-"

// copyInput copies standard input to a temporary file, which is removed when the command has ended.
func (r *runner) copyInput(ctx context.Context, ref herb.Ref, given readFlags) (src ingest.Source, err error) {
	shown := r.newProgress(ref.String())
	defer shown.end()
	if src, r.removeInput, err = ingest.Spool(ctx, r.In, ref, ingest.Options{Progress: shown.bytes("receiving standard input")}); err != nil {
		return src, err
	}
	src.Format, src.Dialect, err = given.options()
	return src, err
}
