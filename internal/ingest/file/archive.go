package file

import (
	"archive/zip"
	"cmp"
	"path"
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
)

const (
	maxEntries = 1000 // of an archive
	maxTables  = 100  // of an archive; each is opened, however short it is
)

// SeveralTables is the cause of the error of Open for a zip archive with several tables, of which
// Options.Entry selects none.
type SeveralTables struct{ Entries []string }

func (e *SeveralTables) Error() string { return "the archive has several tables" }

// openArchive selects the entry of a zip archive that is read. An archive that is a document
// itself, such as a workbook, is not unpacked.
func (f *File) openArchive() error {
	archive, err := rows.OpenZip(f.reader(0), f.stored.Size())
	if err != nil {
		return cmp.Or(f.failed, rows.Damaged(err, "the zip archive"))
	}
	var files []*zip.File
	for _, e := range archive.File {
		switch name := entryName(e); {
		case name == "mimetype":
			return herb.Invalidf("the file is an OpenDocument or similar document; save its tables as .xlsx or CSV")
		case name == "[Content_Types].xml" || strings.HasPrefix(name, "xl/"):
			f.kind = ""
			return nil
		case strings.HasSuffix(name, "/") || strings.HasPrefix(path.Base(name), ".") ||
			strings.HasPrefix(name, "__MACOSX/"):
		default:
			files = append(files, e)
		}
	}
	if len(archive.File) > maxEntries {
		return herb.Invalidf("the zip archive has %d entries; unpack it and publish its tables", len(archive.File))
	}
	f.entry, err = f.selectEntry(files)
	if err != nil {
		return err
	}
	if f.entry.Flags&1 != 0 {
		return herb.Invalidf("%s in the zip archive is encrypted; unpack it", f.entry.Name)
	}
	f.name = path.Base(entryName(f.entry))
	return nil
}

// InArchive reports whether the file that is read is in a zip archive.
func (f *File) InArchive() bool { return f.entry != nil }

// entryName returns the path of an entry. Some programs write backslashes.
func entryName(e *zip.File) string { return strings.ReplaceAll(e.Name, `\`, "/") }

// selectEntry returns the entry that Options.Entry names, or else the only table.
func (f *File) selectEntry(files []*zip.File) (*zip.File, error) {
	tables := f.tableEntries(files)
	var names []string
	for _, e := range tables {
		names = append(names, entryName(e))
	}
	list := strings.TrimSuffix(" ("+rows.JoinNames(names)+")", " ()")
	switch {
	case f.opts.Entry != "":
		i := slices.IndexFunc(files, func(e *zip.File) bool { return entryName(e) == f.opts.Entry })
		if i < 0 {
			return nil, herb.Invalidf("no such file %q in the zip archive; its tables: %s", rows.Clip(f.opts.Entry),
				rows.JoinNames(names))
		}
		return files[i], nil
	case len(tables) == 1:
		return tables[0], nil
	case len(tables) == 0 && slices.ContainsFunc(files, isArchive):
		names = nil
		for _, e := range files {
			if isArchive(e) {
				names = append(names, entryName(e))
			}
		}
		return nil, errArchives(names)
	case len(tables) == 0:
		return nil, herb.Invalidf("the zip archive contains no table; publish a file with records")
	case len(tables) > maxTables:
		return nil, herb.Invalidf(
			"the zip archive contains %d tables%s; at most %d are possible; unpack it and publish them", len(tables),
			list, maxTables)
	}
	return nil, herb.Wrap(herb.CodeInvalid, &SeveralTables{names},
		"the zip archive contains %d tables%s; name one of them, such as FILE#%s",
		len(tables), list, rows.Clip(names[0]))
}

// isArchive reports whether an entry is an archive by its name.
func isArchive(e *zip.File) bool {
	return slices.Contains([]string{".zip", ".tar", ".tgz", ".7z", ".rar"}, strings.ToLower(path.Ext(e.Name))) ||
		strings.HasSuffix(e.Name, ".tar.gz")
}

// errArchives returns the error for a zip archive that contains archives instead of tables.
func errArchives(names []string) error {
	return herb.Invalidf("the zip archive contains other archives (%s), which are not read; unpack it and publish them",
		rows.JoinNames(names))
}

// tableEntries returns the entries that may be tables: the only entry, else those with the
// extension of a format, else texts, except for one text beside a larger file, which it is about. A
// Darwin Core Archive, which has a meta.xml, may have a larger description.
func (f *File) tableEntries(files []*zip.File) []*zip.File {
	var tables, texts []*zip.File
	for _, e := range files {
		if _, ok := ByPath(f.opts.Formats, path.Base(entryName(e))); ok {
			tables = append(tables, e)
		} else if IsGeneric(f.opts.Formats, path.Base(entryName(e))) {
			texts = append(texts, e)
		}
	}
	isLarger := func(e *zip.File) bool { return e.UncompressedSize64 > texts[0].UncompressedSize64 }
	isDarwinCore := slices.ContainsFunc(files, func(e *zip.File) bool { return path.Base(entryName(e)) == "meta.xml" })
	switch {
	case len(files) == 1:
		return files
	case len(tables) == 0 && (len(texts) != 1 || isDarwinCore || !slices.ContainsFunc(files, isLarger)):
		return texts
	}
	return tables
}
