package file

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/therootcompany/xz"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/charset"
	"herbarium/internal/ingest/rows"
)

// maxWindow is how far back zstd and xz data may refer, which is what a decoder holds in memory.
const maxWindow = 64 << 20

// compressionOf returns the kind of compression of a file that begins with head, empty if there is
// none. Of a zip archive, one entry is read.
func compressionOf(head []byte) string {
	for _, k := range []struct{ magic, kind string }{
		{"\x1F\x8B", "gzip"}, {"\x28\xB5\x2F\xFD", "zstd"}, {"\xFD7zXZ\x00", "xz"}, {"PK\x03\x04", "zip"},
	} {
		if bytes.HasPrefix(head, []byte(k.magic)) {
			return k.kind
		}
	}
	switch {
	case len(head) >= 4 && head[0]&0xF0 == 0x50 && string(head[1:4]) == "\x2A\x4D\x18":
		return "zstd" // begins with a skippable frame, as parallel compressors write it
	case len(head) >= 10 && string(head[:3]) == "BZh" &&
		(string(head[4:10]) == "1AY&SY" || string(head[4:10]) == "\x17\x72\x45\x38\x50\x90"):
		return "bzip2"
	}
	return ""
}

// Uncompressed returns a path without the extension of a compression.
func Uncompressed(path string) string {
	switch ext := filepath.Ext(path); strings.ToLower(ext) {
	case ".gz", ".gzip", ".zst", ".zstd", ".bz2", ".xz", ".zip":
		return strings.TrimSuffix(path, ext)
	}
	return path
}

// decompressor reads the content of a compressed file.
type decompressor struct {
	io.ReadCloser // the decoder
	file          *File
	stored        *storedReader
	read          int64
}

// Open returns the content from the start. It is part of rows.File.
func (f *File) Open() (io.ReadCloser, error) {
	d := &decompressor{file: f, stored: f.reader(0)}
	in := bufio.NewReaderSize(d.stored, bufferBytes)
	var src io.Reader
	var err error
	switch f.kind {
	case "":
		return io.NopCloser(d.stored), nil
	case "gzip":
		src, err = gzip.NewReader(in)
	case "zstd":
		var z *zstd.Decoder
		z, err = zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(maxWindow))
		if err == nil {
			src = z.IOReadCloser()
		}
	case "bzip2":
		src = bzip2.NewReader(in)
	case "xz":
		src, err = xz.NewReader(in, maxWindow)
	case "zip":
		src, err = f.entry.Open()
		if err == nil {
			d.stored.at = int64(f.entry.CompressedSize64)
		}
	}
	if err != nil {
		return nil, d.failure(err)
	}
	var ok bool
	d.ReadCloser, ok = src.(io.ReadCloser)
	if !ok {
		d.ReadCloser = io.NopCloser(src)
	}
	return d, nil
}

func (d *decompressor) Read(p []byte) (int, error) {
	n, err := d.ReadCloser.Read(p)
	d.read += int64(n)
	d.file.unpacked = max(d.file.unpacked, d.read)
	if excess := rows.CheckUnpacked(d.read, d.file.Size()); excess != nil {
		d.file.failed = excess
		return 0, excess
	}
	if err != nil && err != io.EOF {
		err = d.failure(err)
	}
	return n, err
}

func (d *decompressor) failure(err error) error {
	switch {
	case d.file.failed != nil:
		return d.file.failed
	case errors.Is(err, xz.ErrMemlimit):
		return herb.Invalidf("the xz data needs a dictionary of more than %s; compress it again with xz -9 or lower",
			herb.FormatBytes(maxWindow))
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return herb.Invalidf("the %s data ends too early, after %d bytes and %d of its content; the file is cut off",
			d.file.kind, d.stored.at, d.read)
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return herb.Invalidf("the %s data needs a window of more than %s; compress it again with a smaller window, "+
			"without the options long and ultra of zstd", d.file.kind, herb.FormatBytes(maxWindow))
	}
	return herb.Invalidf("the %s data is damaged somewhere before byte %d (%s); compress it again", d.file.kind,
		d.stored.at, err)
}

// ByName returns the format that has a name or an extension, given without its dot.
func ByName(formats []rows.Format, name string) (rows.Format, bool) {
	name = strings.ToLower(name)
	i := slices.IndexFunc(formats, func(f rows.Format) bool {
		return f.Name == name ||
			slices.Contains(f.Extensions, "."+name)
	})
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

// Detect returns the format of the file. Unmistakable content takes precedence over the name of a
// format from settings or an extension, and the note says so. Without either, the file has the
// first format.
func (f *File) Detect(name string) (format rows.Format, note string, err error) {
	if err := rejectForeign(f.head); err != nil {
		if f.entry != nil {
			err = herb.At(rows.Clip(f.entry.Name)+" in the zip archive", err)
		}
		return rows.Format{}, "", err
	}
	declared, known := ByName(f.opts.Formats, name)
	for _, m := range f.opts.Formats {
		if m.Matches == nil || !m.Matches(f.head) {
			continue
		}
		if known && m.Name != declared.Name {
			note = fmt.Sprintf("the content is %s, not %s; it was read as %s", m.Name, declared.Name, m.Name)
		}
		return m, note, nil
	}
	if !known {
		declared = f.opts.Formats[0]
	}
	if f.kind != "" && compressionOf(f.head) == "zip" && declared.Matches == nil {
		return rows.Format{}, "", f.nestedArchive()
	}
	return declared, "", nil
}

// nestedArchive returns the error for a zip archive in an archive or a compressed file.
func (f *File) nestedArchive() error {
	if f.entry != nil {
		return errArchives([]string{f.entry.Name})
	}
	return herb.Invalidf("the file is a zip archive that is compressed with %s; unpack it once", f.kind)
}

// rejectForeign rejects content that often has the name of a table, by the name of its format.
func rejectForeign(head []byte) error {
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
		{0, "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", anything, "a legacy Office file (.xls), or a workbook with a password",
			"save it as .xlsx or CSV, without a password"},
		{0, "\x09\x08", anything, "a legacy Excel file (.xls)", "save it as .xlsx or CSV"},
		{0, "version https://git-lfs.github.com/spec/", anything, "a Git LFS pointer, not the data",
			"run git lfs pull, then publish the file"},
		{0, "/annex/objects/", anything, "a git-annex pointer, not the data",
			"run git annex get, then publish the file"},
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
		if len(content) > f.at && bytes.HasPrefix(content[f.at:], []byte(f.magic)) &&
			(f.in != binary || bytes.IndexByte(head, 0) >= 0) {
			return herb.Invalidf("the file is %s; %s", f.is, f.remedy)
		}
	}
	return nil
}
