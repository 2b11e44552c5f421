package file

import (
	"archive/zip"
	"bufio"
	"bytes"
	"cmp"
	"compress/bzip2"
	"errors"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
	"github.com/ulikunitz/xz/lzma"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
)

// maxWindow is how far back zstd and xz data may refer, which is what a decoder holds in memory.
const maxWindow = 64 << 20

// The kinds of compression.
const (
	kindNone  = ""
	kindGzip  = "gzip"
	kindZstd  = "zstd"
	kindBzip2 = "bzip2"
	kindXZ    = "xz"
	kindZip   = "zip" // an archive with one table
)

// compressionOf returns the kind of compression of a file that begins with head.
func compressionOf(head []byte) string {
	for _, k := range []struct{ magic, kind string }{
		{"\x1F\x8B", kindGzip}, {"\x28\xB5\x2F\xFD", kindZstd}, {"\xFD7zXZ\x00", kindXZ}, {"PK\x03\x04", kindZip},
	} {
		if bytes.HasPrefix(head, []byte(k.magic)) {
			return k.kind
		}
	}
	switch {
	case len(head) >= 4 && head[0]&0xF0 == 0x50 && string(head[1:4]) == "\x2A\x4D\x18":
		return kindZstd // begins with a skippable frame, as parallel compressors write it
	case len(head) >= 10 && string(head[:3]) == "BZh" && (string(head[4:10]) == "1AY&SY" || string(head[4:10]) == "\x17\x72\x45\x38\x50\x90"):
		return kindBzip2
	}
	return kindNone
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

// decompress returns the content of a file from its start.
func (f *File) decompress() (io.ReadCloser, error) {
	d := &decompressor{file: f, stored: f.reader(0)}
	in := bufio.NewReaderSize(d.stored, bufferBytes)
	var src io.Reader
	var err error
	switch f.kind {
	case kindNone:
		return io.NopCloser(d.stored), nil
	case kindGzip:
		src, err = gzip.NewReader(in)
	case kindZstd:
		var z *zstd.Decoder
		z, err = zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err == nil {
			src = z.IOReadCloser()
		}
	case kindBzip2:
		src = bzip2.NewReader(in)
	case kindXZ:
		if err = checkXZ(in); err == nil {
			src, err = xz.NewReader(in)
		}
	case kindZip:
		if src, err = f.entry.Open(); err == nil {
			d.stored.at = int64(f.entry.CompressedSize64)
		}
	}
	if err != nil {
		return nil, d.failure(err)
	}
	var ok bool
	if d.ReadCloser, ok = src.(io.ReadCloser); !ok {
		d.ReadCloser = io.NopCloser(src)
	}
	return d, nil
}

// checkXZ fails if the first block of xz data needs too much memory. Compressors use the same dictionary for all blocks.
func checkXZ(in *bufio.Reader) error {
	const streamHeader, unfiltered = 12, 2 // bytes before the block header; bytes of the block header before its filters
	head, err := in.Peek(streamHeader + 32)
	if err != nil && err != io.EOF {
		return err
	}
	const filterLZMA2 = "\x21\x01" // its ID and the size of its property
	at := bytes.Index(head[min(len(head), streamHeader+unfiltered):], []byte(filterLZMA2))
	if at += streamHeader + unfiltered + len(filterLZMA2); at < len(head) {
		if size, err := lzma.DecodeDictCap(head[at]); err == nil && size > maxWindow {
			return zstd.ErrWindowSizeExceeded
		}
	}
	return nil
}

// Read implements io.Reader.
func (d *decompressor) Read(p []byte) (int, error) {
	n, err := d.ReadCloser.Read(p)
	d.read += int64(n)
	if excess := rows.CheckUnpacked(d.read, d.file.Size()); excess != nil {
		d.file.failed = excess
		return 0, excess
	}
	if err != nil && err != io.EOF {
		err = d.failure(err)
	}
	return n, err
}

// failure describes an error of a decoder.
func (d *decompressor) failure(err error) error {
	switch {
	case d.file.failed != nil:
		return d.file.failed
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return herb.Invalidf("the %s data ends too early, after %d bytes and %d of its content; the file is cut off", d.file.kind, d.stored.at, d.read)
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return herb.Invalidf("the %s data needs a window of more than %d bytes; compress it again without --long, --ultra or a larger dictionary", d.file.kind, maxWindow)
	}
	return herb.Invalidf("the %s data is damaged somewhere before byte %d (%s); compress it again", d.file.kind, d.stored.at, err)
}

// maxEntries is the number of entries that an archive may have.
const maxEntries = 1000

// openArchive selects the only table of a zip archive: the only entry, else the only one with the extension of a format, else
// the only text if no other entry is larger. An archive that is a document itself, such as a workbook, is not unpacked.
func (f *File) openArchive() error {
	archive, err := rows.OpenZip(f.reader(0), f.stored.Size())
	if err != nil {
		return cmp.Or(f.failed, rows.Damaged(err, "the zip archive"))
	}
	var files, tables, texts []*zip.File
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
		if _, ok := ByPath(f.opts.Formats, base); ok {
			tables = append(tables, e)
		} else if IsGeneric(f.opts.Formats, base) {
			texts = append(texts, e)
		}
	}
	isLarger := func(e *zip.File) bool { return e.UncompressedSize64 > texts[0].UncompressedSize64 }
	if len(tables) == 0 && (len(texts) != 1 || !slices.ContainsFunc(files, isLarger)) {
		tables = texts
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
		list := strings.TrimSuffix(" ("+rows.JoinNames(names)+")", " ()")
		return herb.Invalidf("the zip archive contains %d tables%s; unpack it and publish them, or keep exactly one", len(tables), list)
	}
	if f.entry = tables[0]; f.entry.Flags&1 != 0 {
		return herb.Invalidf("%s in the zip archive is encrypted; unpack it", f.entry.Name)
	}
	f.name = path.Base(strings.ReplaceAll(f.entry.Name, `\`, "/"))
	return nil
}
