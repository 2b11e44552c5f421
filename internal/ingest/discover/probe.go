package discover

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/file"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/source"
)

const (
	sampleRows = 100   // that are read to decide whether a text is a table
	maxTables  = 1_000 // of one file that are published together
)

// namedFile adds a file that the user named, or one table of it.
func (s *search) namedFile(path, table string) {
	p := s.probe(file.Dir{}, path)
	switch {
	case p.err != nil:
		s.Fail(source.Located(path, p.err))
	case table != "" && !p.multiple:
		s.Fail(herb.Invalidf("%s has the format %s, which has no tables; remove #%s", path, p.format, rows.Clip(table)))
	case table != "":
		s.add(source.Source{Path: path, Dialect: rows.Options{Table: table}}, p.datasetName(path, table))
	case s.single:
		s.add(source.Source{Path: path}, "")
	default:
		s.tables(source.Source{Path: path}, p)
	}
}

// folderFile adds a file in a folder, or skips it.
func (s *search) folderFile(dir file.Dir, path string) {
	format, known := file.ByPath(s.opts.Formats, path)
	src := source.Source{Path: path, Root: dir.Path()}
	switch {
	case s.mayBeTable(path):
		if p := s.probe(dir, path); p.reason != "" {
			s.Skip(path, p.reason)
		} else {
			s.tables(src, p)
		}
	case !known:
		s.Skip(path, fmt.Sprintf("%q is not the extension of a supported format",
			cmp.Or(filepath.Ext(file.Uncompressed(path)), filepath.Ext(path))))
	case format.Tables == nil:
		s.add(src, "")
	default:
		p := s.probe(dir, path)
		if format.Name == "sqlite" && p.err == nil && !p.matches { // many programs use the extension .db
			s.Skip(path, "not a SQLite database")
			return
		}
		s.tables(src, p) // an error is reported when the file is published
	}
}

// mayBeTable reports whether only the content shows that a file is a table.
func (s *search) mayBeTable(path string) bool {
	switch strings.ToLower(filepath.Ext(file.Uncompressed(path))) {
	case "":
		return strings.EqualFold(filepath.Ext(path), ".zip")
	case ".geojson": // other shapes than a collection
		return true
	default:
		return file.IsGeneric(s.opts.Formats, path)
	}
}

// tables adds a dataset for each table of a file. A single table has the name of the file.
func (s *search) tables(src source.Source, p probe) {
	switch published := rows.Published(p.tables); {
	case len(published) > maxTables:
		s.Fail(herb.Invalidf("%s has %d tables; at most %d are published together; name each table to publish, like %s#%s",
			src.Path, len(published), maxTables, src.Path, rows.Clip(published[0])))
		return
	case len(published) < 2: // the report lists the others
		s.add(src, "")
		return
	}
	for _, t := range p.tables {
		if t.Skipped != "" {
			s.Skip(src.Path+"#"+t.Name, t.Skipped)
			continue
		}
		src.Dialect.Table = t.Name
		s.add(src, p.datasetName(src.Path, t.Name))
	}
}

// add adds a source that is named after its file, or otherwise.
func (s *search) add(src source.Source, name string) {
	var err error
	if src.Ref, err = source.FileRef(src.Path, name); err != nil && !s.single {
		s.Fail(err)
		return
	}
	table := src.Dialect.Table
	src.Format, src.Dialect = s.opts.Format, s.opts.Dialect
	if table != "" {
		src.Dialect.Table = table
	}
	s.Sources = append(s.Sources, src)
}

// probe is what the content of a file shows.
type probe struct {
	format   string
	matches  bool // the content alone shows the format
	multiple bool // the format has tables
	tables   []rows.Table
	err      error  // why its format cannot be detected
	reason   string // why it is not a table
	stamp    string // of the file, to recognize changes
}

// datasetName returns the name of the dataset for a table of a file.
func (p probe) datasetName(path, table string) string {
	if p.format == "sqlite" {
		return table
	}
	return source.Stem(path) + "-" + table
}

// probe examines a file, or returns the result of the previous search if the file has not changed.
func (s *search) probe(dir file.Dir, path string) probe {
	before, err := dir.Stat(path)
	if err != nil {
		return probe{err: err}
	}
	stamp := stampOf(dir, path, before)
	if p, ok := s.previous[path]; ok && p.stamp == stamp {
		s.probes[path] = p
		return p
	}
	p := s.examine(dir, path)
	if after, err := dir.Stat(path); err == nil && stampOf(dir, path, after) == stamp && context.Cause(s.ctx) == nil {
		p.stamp = stamp
		s.probes[path] = p
	}
	return p
}

// examine examines a file.
func (s *search) examine(dir file.Dir, path string) (p probe) {
	f, err := file.Open(s.ctx, path, file.Options{Dir: dir, InPlace: true, Formats: s.opts.Formats})
	if err != nil {
		return probe{err: err, reason: err.Error()}
	}
	defer f.Close()
	defer func() {
		if f.Replaced() {
			p = probe{err: f.Changed()}
		}
	}()
	name := s.opts.Format
	if byPath, ok := file.ByPath(s.opts.Formats, f.Name()); ok && name == "" {
		name = byPath.Name
	}
	format, _, err := f.Detect(name)
	if err != nil {
		return probe{err: err, reason: err.Error()}
	}
	byContent, _, err := f.Detect("")
	p = probe{format: format.Name, matches: err == nil && byContent.Name == format.Name, multiple: format.Tables != nil}
	if p.multiple {
		if p.tables, err = format.Tables(s.ctx, f, s.opts.Dialect, rows.NewBudget(s.ctx, f.Size(), rows.Limits{})); err != nil {
			p.reason = err.Error()
		}
	} else if s.mayBeTable(path) {
		p.reason = s.sample(f, format)
	}
	return p
}

// isTable reports whether a file is a table by its extension.
func (s *search) isTable(name string) bool {
	_, ok := file.ByPath(s.opts.Formats, name)
	return ok
}

// sample reads the first rows of a text and returns why they are not a table, or "".
func (s *search) sample(f *file.File, format rows.Format) string {
	budget := rows.NewBudget(s.ctx, f.Size(), rows.Limits{})
	r, err := format.Open(s.ctx, f, s.opts.Dialect, budget)
	if err != nil {
		return err.Error()
	}
	defer r.Close()
	limited, count, wide := rows.Limit(r, budget), 0, 0
	for count < sampleRows {
		cells, err := limited.Next()
		if err == io.EOF {
			break
		} else if err != nil {
			return err.Error()
		}
		count++
		if first := slices.IndexFunc(cells, isFilled); first >= 0 && slices.ContainsFunc(cells[first+1:], isFilled) {
			wide++
		}
	}
	if count < 2 || 10*wide < 9*count { // prose has few commas
		return "not a table: too few rows have more than one value"
	}
	return ""
}

func isFilled(cell []byte) bool { return len(cell) > 0 }

// stampOf returns a value that changes when a file or its write-ahead log does.
func stampOf(dir file.Dir, path string, info fs.FileInfo) string {
	stamp := fmt.Sprint(info.Size(), info.ModTime().UnixNano())
	if log, err := dir.Stat(path + "-wal"); err == nil {
		stamp += fmt.Sprint(" ", log.Size(), log.ModTime().UnixNano())
	}
	return stamp
}
