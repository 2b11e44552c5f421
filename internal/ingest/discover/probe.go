package discover

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/descriptor"
	"herbarium/internal/ingest/file"
	"herbarium/internal/ingest/rows"
)

const (
	sampleRows = 100   // that are read to decide whether a text is a table
	minRows    = 2     // of a text that is a table
	maxTables  = 1_000 // of one file, or sources in one descriptor that read one file, that are published together
)

// addNamedFile adds a file that the user named, or one table of it.
func (s *search) addNamedFile(path, table string) error {
	return s.addProbed(descriptor.Source{Path: path}, s.probe(file.Dir{}, path), table)
}

// addProbed adds a source that was examined, or one table of it.
func (s *search) addProbed(src descriptor.Source, p probe, table string) error {
	switch {
	case len(p.entries) > 0 && table != "":
		return s.addNamedEntry(src, p, table)
	case len(p.entries) > 0 && !s.single:
		s.addEntries(src, p)
		return nil
	case p.format == "":
		return descriptor.Located(src.Path, p.err)
	case table != "" && !p.multiple:
		return herb.Invalidf("%s has the format %s, which has no tables; remove #%s", src.Path, p.format,
			rows.Clip(table))
	case table == "" && s.single && len(rows.Published(p.tables)) > 1:
		return s.severalTables(src, rows.Published(p.tables))
	case table != "" || s.single:
		return s.addSource(src, p, table)
	default:
		return s.addTables(src, p)
	}
}

// severalTables returns the error for a file of several tables of which one must be named.
func (s *search) severalTables(src descriptor.Source, tables []string) error {
	how := "such as " + src.Path + "#" + rows.Clip(tables[0])
	switch {
	case s.opts.TableParameter != "":
		how = "with " + s.opts.TableParameter
	case src.Input != nil:
		how = "in a file, such as FILE#" + rows.Clip(tables[0])
	}
	return herb.Invalidf("%s has %d tables; name one of them, %s: %s", src.Path, len(tables), how,
		rows.JoinNames(tables))
}

// addFolderFile adds a file in a folder, or skips it.
func (s *search) addFolderFile(dir file.Dir, path string) error {
	format, known := file.ByPath(s.opts.Formats, path)
	mayBeTable := s.mayBeTable(path)
	var p probe
	if mayBeTable || known && format.Tables != nil || isZip(path) {
		p = s.probe(dir, path)
	}
	switch {
	case len(p.entries) > 0:
		s.addEntries(descriptor.Source{Path: path, Root: dir.Path()}, p)
	case mayBeTable && p.err != nil:
		s.Skip(path, p.err.Error())
	case !mayBeTable && !known:
		s.Skip(path, fmt.Sprintf("%q is not the extension of a supported format",
			cmp.Or(filepath.Ext(file.Uncompressed(path)), filepath.Ext(path))))
	case format.Name == "sqlite" && p.format != "" && !p.matches: // many programs use the extension .db
		s.Skip(path, "not a SQLite database")
	default:
		// an error is reported when the file is published
		return s.addTables(descriptor.Source{Path: path, Root: dir.Path()}, p)
	}
	return nil
}

// mayBeTable reports whether only the content shows that a file is a table.
func (s *search) mayBeTable(path string) bool {
	switch strings.ToLower(filepath.Ext(file.Uncompressed(path))) {
	case "":
		return isZip(path)
	case ".geojson": // other shapes than a collection
		return true
	default:
		return file.IsGeneric(s.opts.Formats, path)
	}
}

func isZip(path string) bool { return strings.EqualFold(filepath.Ext(path), ".zip") }

// addTables adds a dataset for each table of a file. A single table has the name of the file.
func (s *search) addTables(src descriptor.Source, p probe) error {
	switch published := rows.Published(p.tables); {
	case len(published) > maxTables:
		return herb.Invalidf("%s has %d tables; at most %d are published together; name each table to publish, like %s#%s",
			src.Path, len(published), maxTables, src.Path, rows.Clip(published[0]))
	case len(published) < 2: // the report lists the others
		return s.addSource(src, p, "")
	}
	for _, t := range p.tables {
		if t.Skipped != "" {
			s.Skip(src.Path+"#"+t.Name, t.Skipped)
		} else {
			s.Fail(s.addSource(src, p, t.Name))
		}
	}
	return nil
}

// addSource adds a source for a file or one table of it. It is named after the file and its folder;
// a table of a database has its own name, that of another file is appended to the name of the file.
func (s *search) addSource(src descriptor.Source, p probe, table string) error {
	abs, err := filepath.Abs(src.Path)
	if err != nil {
		return file.CannotRead(src.Path, err)
	}
	name := descriptor.Stem(abs)
	if p.name != "" {
		name += "-" + p.name
	}
	src = s.opts.Reading.Override(src)
	if table != "" {
		src.Dialect.Table = table
		name += "-" + table
		if p.format == "sqlite" {
			name = table
		}
	}
	src.Settings.Reading.Table = src.InnerPath()
	if descriptor.IsTransliterated(name) {
		src.Title = name
	}
	src.Ref, err = descriptor.NewRef(src.Path, filepath.Base(filepath.Dir(abs)), name)
	if err != nil && !s.single {
		return err
	}
	s.Sources = append(s.Sources, src)
	return nil
}

// probe is what the content of a file shows.
type probe struct {
	format   string // empty: not detected
	matches  bool   // the content alone shows the format
	multiple bool   // the format has tables
	tables   []rows.Table
	err      error  // why its format cannot be detected, its tables cannot be listed, or it is not a table
	stamp    string // of the file, to recognize changes

	entries []entry // tables of a zip archive that has several; else nil
	name    string  // of the dataset, after that of the archive; empty: that of the archive
}

// probe examines a file, or returns the result of the previous search if the file has not changed.
func (s *search) probe(dir file.Dir, path string) probe {
	before, err := dir.Stat(path)
	if err != nil {
		return probe{err: err}
	}
	stamp := stampOf(dir, path, before)
	p, known := s.previous[path]
	if !known || p.stamp != stamp {
		p = s.examine(file.Options{Dir: dir, InPlace: true, Formats: s.opts.Formats}, path)
		p.stamp = stamp
		if after, err := dir.Stat(path); err != nil || stampOf(dir, path, after) != stamp ||
			context.Cause(s.ctx) != nil {
			return p // it may be wrong the next time
		}
	}
	s.probes[path] = p
	return p
}

func (s *search) examine(o file.Options, path string) (p probe) {
	f, err := file.Open(s.ctx, path, o)
	if several, ok := errors.AsType[*file.SeveralTables](err); ok {
		return probe{err: err, entries: s.examineEntries(path, several.Entries, o)}
	}
	if err != nil {
		return probe{err: err}
	}
	defer f.Close()
	return s.examineFile(f, path, minRows)
}

// examineFile examines an open file. path is its own or that in an archive. A text has at least
// minRows rows if it is a table.
func (s *search) examineFile(f *file.File, path string, minRows int) (p probe) {
	defer func() {
		if f.Replaced() {
			p = probe{err: f.Changed()}
		}
	}()
	name := s.opts.Reading.Format
	if byPath, ok := file.ByPath(s.opts.Formats, f.Name()); ok && name == "" {
		name = byPath.Name
	}
	format, _, err := f.Detect(name)
	if err != nil {
		return probe{err: err}
	}
	byContent, _, err := f.Detect("")
	p = probe{format: format.Name, matches: err == nil && byContent.Name == format.Name, multiple: format.Tables != nil}
	budget := f.NewBudget(rows.Limits{})
	if p.multiple {
		p.tables, err = format.Tables(s.ctx, f, s.opts.Reading.Dialect, budget)
		p.err = f.Cause(err)
	} else if s.mayBeTable(path) {
		p.err = s.sample(f, format, budget, minRows)
	}
	return p
}

// sample reads the first rows of a text. It fails if they are not a table. One row is one if it has
// at least three values.
func (s *search) sample(f *file.File, format rows.Format, budget *rows.Budget, minRows int) error {
	r, err := format.Open(s.ctx, f, s.opts.Reading.Dialect, budget)
	if err != nil {
		return err
	}
	defer r.Close()
	limited, count, wide, filled := rows.Limit(r, budget), 0, 0, 0
	for count < sampleRows {
		cells, err := limited.Next()
		if err == io.EOF {
			break
		} else if err != nil {
			return err
		}
		count++
		filled = 0
		for _, cell := range cells {
			if len(cell) > 0 {
				filled++
			}
		}
		if filled > 1 {
			wide++
		}
	}
	if count < minRows || count == 1 && filled < 3 || 10*wide < 9*count { // prose has few commas
		return herb.Invalidf("not a table: too few rows have more than one value")
	}
	return nil
}

// stampOf returns a value that changes when a file or its write-ahead log does.
func stampOf(dir file.Dir, path string, info fs.FileInfo) string {
	stamp := fmt.Sprint(info.Size(), info.ModTime().UnixNano())
	if log, err := dir.Stat(path + "-wal"); err == nil {
		stamp += fmt.Sprint(" ", log.Size(), log.ModTime().UnixNano())
	}
	return stamp
}
