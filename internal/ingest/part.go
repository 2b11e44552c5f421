package ingest

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/file"
)

// splitPart takes the name of a part from a path: garden.db#plants is the table plants. A file that has the whole name
// comes first.
func splitPart(path string) (file, part string) {
	i := strings.LastIndexByte(path, '#')
	if i <= 0 || i == len(path)-1 {
		return path, ""
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return path, ""
	}
	return path[:i], path[i+1:]
}

// partOf is the source of one part of a file, without a name.
func partOf(path, part string) (Source, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Source{}, file.CannotRead(path, err)
	}
	src := Source{Path: path}
	if info.IsDir() {
		return src, herb.Invalidf("%s is a folder and has no part %q; name a file, like %s", path, clip(part), filepath.Join(path, "file.db#table"))
	}
	format, err := publishable(path, info)
	if err != nil {
		return src, err
	}
	switch format {
	case FormatXLSX, FormatSQLite:
		src.Dialect.Table = part
	default:
		return src, herb.Invalidf("%s has no parts, so remove #%s; workbooks (.xlsx) and databases (.db) have parts", path, clip(part))
	}
	return src, nil
}

// part takes up a part of a file that the user named.
func (f *finder) part(path, part string) {
	src, err := partOf(path, part)
	if err != nil {
		f.problem(err)
		return
	}
	name := part
	if format, _ := formatOf(path); format == FormatXLSX {
		name = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)) + "-" + part
	}
	f.named(src, name)
}

// tables takes up the tables of a database. It is false if there is only one, which goes by the name of the file, and if
// the database cannot be read, which is told where it is published.
func (f *finder) tables(in file.Dir, path string) bool {
	before, err := in.Stat(path)
	if err != nil {
		return false
	}
	names, err := tablesIn(context.Background(), path)
	if err != nil || len(names) < 2 {
		return false
	}
	// SQLite opens the file by its name: that must have led to the same file all the time.
	byName, err := os.Stat(path)
	if after, inErr := in.Stat(path); err != nil || inErr != nil || !os.SameFile(before, after) || !os.SameFile(before, byName) {
		return false
	}
	for _, name := range names {
		f.named(Source{Path: path, Root: in.Path(), Dialect: Dialect{Table: name}}, name)
	}
	return true
}

// named adds a source that is called after a part of its file.
func (f *finder) named(src Source, name string) {
	abs, err := filepath.Abs(src.Path)
	if err != nil {
		f.problem(file.CannotRead(src.Path, err))
		return
	}
	if src.Ref, err = refFor(src.Path, filepath.Base(filepath.Dir(abs)), name); err != nil {
		f.problem(err)
		return
	}
	f.sources = append(f.sources, src)
}

// isOtherDatabase reports whether a file in a folder is called like a database but is none: many programs call theirs
// .db, too.
func isOtherDatabase(in file.Dir, path string) bool {
	if format, _ := formatOf(path); format != FormatSQLite {
		return false
	}
	f, err := in.Open(path)
	if err != nil {
		return false // which is told where it is published
	}
	defer f.Close()
	head := make([]byte, len(sqliteHead))
	_, err = io.ReadFull(f, head)
	return err != nil || string(head) != sqliteHead
}
