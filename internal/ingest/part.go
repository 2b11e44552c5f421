package ingest

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/file"
	"herbarium/internal/ingest/rows"
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
		return src, herb.Invalidf("%s is a folder and has no part %q; name a file, like %s", path, rows.Clip(part), filepath.Join(path, "file.db#table"))
	}
	format, err := publishable(path, info)
	if err != nil {
		return src, err
	}
	switch format {
	case FormatXLSX, FormatSQLite:
		src.Dialect.Table = part
	default:
		return src, herb.Invalidf("%s has no parts, so remove #%s; workbooks (.xlsx) and databases (.db) have parts", path, rows.Clip(part))
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

// tables adds a source for each table of a file. It returns false if there are fewer than two, so that the file itself is
// the source, and if the file cannot be read, which is reported when it is published.
func (f *finder) tables(in file.Dir, path string) bool {
	names, err := listTables(context.Background(), in, path)
	if err != nil || len(names) < 2 {
		return false
	}
	for _, name := range names {
		f.named(Source{Path: path, Root: in.Path(), Dialect: Dialect{Table: name}}, name)
	}
	return true
}

// listTables lists the tables of a file.
func listTables(ctx context.Context, in file.Dir, path string) ([]string, error) {
	f, err := file.Open(ctx, path, file.Options{Dir: in, InPlace: true})
	if err != nil {
		return nil, err
	}
	defer f.Close()
	format, _, err := f.Detect(formats(), "")
	if err != nil || format.Tables == nil {
		return nil, err
	}
	names, err := format.Tables(ctx, f, rows.Options{}, rows.NewBudget(ctx, f.Size(), rows.Limits{}))
	return names, errors.Join(err, f.Changed())
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

// isOtherDatabase reports whether a file in a folder has the extension of a database but is none: other programs use .db
// too.
func isOtherDatabase(in file.Dir, path string) bool {
	if format, _ := formatOf(path); format != FormatSQLite {
		return false
	}
	f, err := file.Open(context.Background(), path, file.Options{Dir: in})
	if err != nil {
		return false // reported when it is published
	}
	defer f.Close()
	format, _, err := f.Detect(formats(), "")
	return err != nil || Format(format.Name) != FormatSQLite
}
