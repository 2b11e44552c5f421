package file

import (
	"archive/zip"
	"path"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
)

// maxEntries is the number of entries that an archive may have.
const maxEntries = 1000

// openArchive selects the only table of a zip archive. An archive that is a document itself, such as a workbook, is not
// unpacked.
func (f *File) openArchive() error {
	archive, err := zip.NewReader(&storedReader{f: f}, f.stored.Size())
	if err != nil {
		if f.failed != nil {
			return f.failed
		}
		return herb.Wrap(herb.CodeInvalid, err, "the zip archive is damaged or cut off; copy the file again")
	}
	var files, tables []*zip.File
	for _, e := range archive.File {
		name := strings.ReplaceAll(e.Name, `\`, "/")
		base := path.Base(name)
		switch {
		case name == "mimetype":
			return herb.Invalidf("the file is an OpenDocument or similar document; save its tables as .xlsx or CSV")
		case name == "[Content_Types].xml" || strings.HasPrefix(name, "xl/"):
			f.kind = kindNone
			return nil
		case strings.HasSuffix(name, "/") || strings.HasPrefix(base, ".") || strings.HasPrefix(name, "__MACOSX/"):
			continue
		}
		files = append(files, e)
		if f.opts.IsTable != nil && f.opts.IsTable(base) {
			tables = append(tables, e)
		}
	}
	if len(archive.File) > maxEntries {
		return herb.Invalidf("the zip archive has %d entries; unpack it and publish its tables", len(archive.File))
	}
	if len(files) == 1 {
		tables = files
	}
	if len(tables) != 1 {
		var names []string
		for _, e := range tables {
			names = append(names, e.Name)
		}
		list := ""
		if len(names) > 0 {
			list = " (" + rows.JoinNames(names) + ")"
		}
		return herb.Invalidf("the zip archive contains %d tables%s; unpack it and publish them, or keep exactly one", len(tables), list)
	}
	if f.entry = tables[0]; f.entry.Flags&1 != 0 {
		return herb.Invalidf("%s in the zip archive is encrypted; unpack it", f.entry.Name)
	}
	f.name = path.Base(strings.ReplaceAll(f.entry.Name, `\`, "/"))
	return nil
}
