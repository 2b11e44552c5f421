package file

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/charset"
	"herbarium/internal/ingest/rows"
)

// ByName returns the format that has a name or an extension, given without its dot.
func ByName(formats []rows.Format, name string) (rows.Format, bool) {
	name = strings.ToLower(name)
	i := slices.IndexFunc(formats, func(f rows.Format) bool { return f.Name == name || slices.Contains(f.Extensions, "."+name) })
	if i < 0 {
		return rows.Format{}, false
	}
	return formats[i], true
}

// ByPath returns the format by the extension of a path, without the extension of a compression.
func ByPath(formats []rows.Format, path string) (rows.Format, bool) {
	ext := filepath.Ext(Uncompressed(path))
	if ext == "" {
		return rows.Format{}, false
	}
	return ByName(formats, ext[1:])
}

// IsGeneric reports whether a path has an extension that tables and other files have.
func IsGeneric(formats []rows.Format, path string) bool {
	ext := strings.ToLower(filepath.Ext(Uncompressed(path)))
	return slices.ContainsFunc(formats, func(f rows.Format) bool { return slices.Contains(f.Generic, ext) })
}

// Detect returns the format of the file. Unmistakable content takes precedence over the name of a format from settings or
// an extension, and the note says so. Without either, the file has the first format.
func (f *File) Detect(name string) (format rows.Format, note string, err error) {
	if err := foreign(f.head); err != nil {
		return rows.Format{}, "", err
	}
	said, known := ByName(f.opts.Formats, name)
	for _, m := range f.opts.Formats {
		if m.Matches == nil || !m.Matches(f.head) {
			continue
		}
		if known && m.Name != said.Name {
			note = fmt.Sprintf("the content is %s, not %s; it was read as %s", m.Name, said.Name, m.Name)
		}
		return m, note, nil
	}
	if !known {
		said = f.opts.Formats[0]
	}
	return said, "", nil
}

// foreign rejects content that often has the name of a table, by the name of its format.
func foreign(head []byte) error {
	const unpack = "unpack it and publish the tables in it"
	const (
		anything = iota
		binary   // text may begin with the same characters
		markup   // in any encoding and case, after blanks
	)
	text := bytes.ToLower(bytes.TrimLeft(charset.ASCII(head[:min(len(head), 1024)]), " \t\r\n"))
	for _, f := range []struct {
		at         int
		magic      string
		in         int
		is, remedy string
	}{
		{257, "ustar", anything, "a tar archive", unpack},
		{0, "PK\x05\x06", anything, "an empty zip archive", "publish a file with records"},
		{0, "7z\xBC\xAF\x27\x1C", anything, "a 7z archive", unpack},
		{0, "Rar!\x1A\x07", anything, "a RAR archive", unpack},
		{0, "\x04\x22\x4D\x18", anything, "compressed with lz4", "unpack it, or compress it with gzip or zstd"},
		{0, "\x1F\x9D", anything, "compressed with compress", "unpack it, or compress it with gzip or zstd"},
		{0, "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", anything, "a legacy Office file (.xls), or a workbook with a password", "save it as .xlsx or CSV, without a password"},
		{0, "\x09\x08", anything, "a legacy Excel file (.xls)", "save it as .xlsx or CSV"},
		{0, "version https://git-lfs.github.com/spec/", anything, "a Git LFS pointer, not the data", "run git lfs pull, then publish the file"},
		{0, "/annex/objects/", anything, "a git-annex pointer, not the data", "run git annex get, then publish the file"},
		{0, "ARROW1", binary, "an Arrow (Feather) file", "save it as Parquet or CSV"},
		{0, "FEA1", binary, "a Feather file", "save it as Parquet or CSV"},
		{0, "\xFF\xFF\xFF\xFF", anything, "an Arrow stream", "save it as Parquet or CSV"},
		{0, "ORC", binary, "an ORC file", "save it as Parquet or CSV"},
		{0, "Obj\x01", anything, "an Avro file", "save it as Parquet, JSON or CSV"},
		{0, "\x89HDF\r\n\x1A\n", anything, "an HDF5 file", "save its tables as Parquet or CSV"},
		{0, "CDF\x01", anything, "a NetCDF file", "save its tables as Parquet or CSV"},
		{8, "DUCK", binary, "a DuckDB database", "save its tables as Parquet or CSV"},
		{0, "\x00\x01\x00\x00Standard ", anything, "a Microsoft Access database", "save its tables as CSV"},
		{0, "RDX", binary, "an R data file", "save its tables as CSV"},
		{0, "X\n\x00\x00", anything, "an R data file", "save its tables as CSV"},
		{0, "<stata_dta>", anything, "a Stata file", "save it as CSV"},
		{0, "$FL", binary, "an SPSS file", "save it as CSV"},
		{0, "\x93NUMPY", anything, "a NumPy array", "save it as CSV"},
		{0, "\x80\x04\x95", anything, "a Python pickle", "save it as Parquet or CSV"},
		{0, "PGDMP", binary, "a PostgreSQL dump", "export its tables as CSV"},
		{0, "%PDF-", anything, "a PDF document", "publish the data that it was made from"},
		{0, "{\\rtf", anything, "an RTF document", "save its table as CSV"},
		{0, "\x89PNG", anything, "an image", "publish a table"},
		{0, "\xFF\xD8\xFF", anything, "an image", "publish a table"},
		{0, "GIF8", binary, "an image", "publish a table"},
		{0, "<!doctype html", markup, "a web page", "download the data that the page links to"},
		{0, "<html", markup, "a web page", "download the data that the page links to"},
		{0, "<?xml", markup, "XML", "save the data as CSV or JSON"},
		{0, "-- mysql dump", markup, "an SQL dump", "export its tables as CSV"},
		{0, "-- mariadb dump", markup, "an SQL dump", "export its tables as CSV"},
		{0, "--\n-- postgresql database dump", markup, "an SQL dump", "export its tables as CSV"},
	} {
		content := head
		if f.in == markup {
			content = text
		}
		if len(content) > f.at && bytes.HasPrefix(content[f.at:], []byte(f.magic)) && (f.in != binary || bytes.IndexByte(head, 0) >= 0) {
			return herb.Invalidf("the file is %s; %s", f.is, f.remedy)
		}
	}
	return nil
}
