package discover

import (
	"context"
	"path"
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/descriptor"
	"herbarium/internal/ingest/file"
	"herbarium/internal/ingest/rows"
)

// entry is a file in a zip archive that has several tables.
type entry struct {
	path string // in the archive
	probe
}

// examineEntries examines the files of an archive that may be tables.
func (s *search) examineEntries(archive string, names []string, o file.Options) []entry {
	folder := commonFolder(names)
	shared := file.NewShared(len(names)) // its limits apply to all of them together
	entries := make([]entry, len(names))
	for i, name := range names {
		o.Entry = name
		e := entry{path: name}
		if f, err := shared.Open(s.ctx, archive, o); err != nil {
			e.err = err
		} else {
			e.probe = s.examineFile(f, name, 1) // such as the agency of a timetable
			f.Close()
		}
		e.name = strings.ReplaceAll(
			strings.TrimPrefix(strings.TrimSuffix(file.Uncompressed(name), path.Ext(file.Uncompressed(name))), folder),
			"/", "-")
		entries[i] = e
	}
	return entries
}

// commonFolder returns the folder that all files of an archive are in, with a slash; empty: there
// is none.
func commonFolder(names []string) string {
	folder := path.Dir(names[0]) + "/"
	for folder != "./" && slices.ContainsFunc(names, func(n string) bool { return !strings.HasPrefix(n, folder) }) {
		folder = path.Dir(strings.TrimSuffix(folder, "/")) + "/"
	}
	return strings.TrimPrefix(folder, "./")
}

// addEntries adds a dataset for each table of an archive. Texts that are not tables are skipped.
func (s *search) addEntries(src descriptor.Source, p probe) {
	var tables []entry
	for _, e := range p.entries {
		if e.err != nil && file.IsGeneric(s.opts.Formats, e.path) {
			s.Skip(src.Path+"#"+e.path, e.err.Error())
		} else {
			tables = append(tables, e)
		}
	}
	for _, e := range tables {
		src.Entry = e.path
		if len(tables) == 1 {
			e.name = "" // it has the name of the archive
		}
		s.Fail(s.addTables(src, e.probe))
	}
}

// addNamedEntry adds a file of an archive that the user named, or one table of it: FILE or
// FILE#TABLE.
func (s *search) addNamedEntry(src descriptor.Source, p probe, name string) error {
	name, table, _ := strings.Cut(name, "#")
	tables := make([]rows.Table, len(p.entries))
	for i, e := range p.entries {
		tables[i].Name = e.path
	}
	i, err := rows.FindTable("table", name, tables)
	if err != nil {
		return descriptor.Located(src.Path, err)
	}
	e := p.entries[i]
	src.Entry = e.path
	switch {
	case table != "" && !e.multiple:
		return herb.Invalidf("%s has the format %s, which has no tables; remove #%s", src.Label(), e.format,
			rows.Clip(table))
	case table != "" || s.single:
		return s.addSource(src, e.probe, table)
	}
	return s.addTables(src, e.probe)
}

// Tables returns the names of the tables of a source whose content has no path, as AsInput accepts
// them; nil if there is only one, or it cannot be read.
func (f *Finder) Tables(ctx context.Context, src descriptor.Source) []string {
	s := f.newSearch(ctx)
	s.single = true
	p := s.examine(file.Options{Formats: s.opts.Formats, Content: src.Input, Name: src.DisplayName}, src.Path)
	names := rows.Published(p.tables)
	for _, e := range p.entries {
		switch tables := rows.Published(e.tables); {
		case e.err != nil:
		case len(tables) < 2:
			names = append(names, e.path)
		default:
			for _, t := range tables {
				names = append(names, e.path+"#"+t)
			}
		}
	}
	if len(names) < 2 {
		return nil
	}
	return names[:min(len(names), maxTables)]
}
