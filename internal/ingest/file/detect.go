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

// ByPath returns the format that the extension of a path says, that of the content if the file is compressed.
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
func (f *File) Detect(formats []rows.Format, name string) (format rows.Format, note string, err error) {
	if err := foreign(f.head); err != nil {
		return rows.Format{}, "", err
	}
	said, known := ByName(formats, name)
	for _, m := range formats {
		if m.Matches == nil || !m.Matches(f.head) {
			continue
		}
		if known && m.Name != said.Name {
			note = fmt.Sprintf("the content is %s, not %s; it was read as %s", m.Name, said.Name, m.Name)
		}
		return m, note, nil
	}
	if !known {
		said = formats[0]
	}
	return said, "", nil
}

// foreign rejects content that often has the name of a table, by the name of its format.
func foreign(head []byte) error {
	const unpack = "unpack it and publish the tables in it"
	for _, f := range []struct {
		at         int
		magic      string
		binary     bool // text may begin with the same characters
		is, remedy string
	}{
		{257, "ustar", false, "a tar archive", unpack},
		{0, "PK\x05\x06", false, "an empty zip archive", "publish a file with records"},
		{0, "7z\xBC\xAF\x27\x1C", false, "a 7z archive", unpack},
		{0, "Rar!\x1A\x07", false, "a RAR archive", unpack},
		{0, "\x04\x22\x4D\x18", false, "compressed with lz4", "unpack it, or compress it with gzip or zstd"},
		{0, "\x1F\x9D", false, "compressed with compress", "unpack it, or compress it with gzip or zstd"},
		{0, "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", false, "a legacy Office file (.xls), or a workbook with a password", "save it as .xlsx or CSV, without a password"},
		{0, "\x09\x08", false, "a legacy Excel file (.xls)", "save it as .xlsx or CSV"},
		{0, "version https://git-lfs.github.com/spec/", false, "a Git LFS pointer, not the data", "run git lfs pull, then publish the file"},
		{0, "/annex/objects/", false, "a git-annex pointer, not the data", "run git annex get, then publish the file"},
		{0, "ARROW1", true, "an Arrow (Feather) file", "save it as Parquet or CSV"},
		{0, "FEA1", true, "a Feather file", "save it as Parquet or CSV"},
		{0, "\xFF\xFF\xFF\xFF", false, "an Arrow stream", "save it as Parquet or CSV"},
		{0, "ORC", true, "an ORC file", "save it as Parquet or CSV"},
		{0, "Obj\x01", false, "an Avro file", "save it as Parquet, JSON or CSV"},
		{0, "\x89HDF\r\n\x1A\n", false, "an HDF5 file", "save its tables as Parquet or CSV"},
		{0, "CDF\x01", false, "a NetCDF file", "save its tables as Parquet or CSV"},
		{8, "DUCK", true, "a DuckDB database", "save its tables as Parquet or CSV"},
		{0, "\x00\x01\x00\x00Standard ", false, "a Microsoft Access database", "save its tables as CSV"},
		{0, "RDX", true, "an R data file", "save its tables as CSV"},
		{0, "X\n\x00\x00", false, "an R data file", "save its tables as CSV"},
		{0, "<stata_dta>", false, "a Stata file", "save it as CSV"},
		{0, "$FL", true, "an SPSS file", "save it as CSV"},
		{0, "\x93NUMPY", false, "a NumPy array", "save it as CSV"},
		{0, "\x80\x04\x95", false, "a Python pickle", "save it as Parquet or CSV"},
		{0, "PGDMP", true, "a PostgreSQL dump", "export its tables as CSV"},
		{0, "%PDF-", false, "a PDF document", "publish the data that it was made from"},
		{0, "{\\rtf", false, "an RTF document", "save its table as CSV"},
		{0, "\x89PNG", false, "an image", "publish a table"},
		{0, "\xFF\xD8\xFF", false, "an image", "publish a table"},
		{0, "GIF8", true, "an image", "publish a table"},
	} {
		if len(head) > f.at && bytes.HasPrefix(head[f.at:], []byte(f.magic)) && (!f.binary || bytes.IndexByte(head, 0) >= 0) {
			return herb.Invalidf("the file is %s; %s", f.is, f.remedy)
		}
	}
	s := bytes.ToLower(bytes.TrimLeft(charset.ASCII(head[:min(len(head), 1024)]), " \t\r\n"))
	for _, f := range []struct{ prefix, is, remedy string }{
		{"<!doctype html", "a web page", "download the data that the page links to"},
		{"<html", "a web page", "download the data that the page links to"},
		{"<?xml", "XML", "save the data as CSV or JSON"},
		{"-- mysql dump", "an SQL dump", "export its tables as CSV"},
		{"-- mariadb dump", "an SQL dump", "export its tables as CSV"},
		{"--\n-- postgresql database dump", "an SQL dump", "export its tables as CSV"},
	} {
		if bytes.HasPrefix(s, []byte(f.prefix)) {
			return herb.Invalidf("the file is %s; %s", f.is, f.remedy)
		}
	}
	return nil
}
