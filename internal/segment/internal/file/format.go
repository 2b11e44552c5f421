// Package file implements the frame of a segment: header, sections with checksums, table of
// contents and footer, and the memory map through which it is read. docs/format/segment.md
// specifies the format.
package file

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/segment/internal/guard"
	"herbarium/internal/text"
)

// FormatVersion is the version of the indexes of a file. It is incremented whenever the content or
// the meaning of a section other than META, RECS and ROFF changes, or a kind of section is added or
// removed. Changes of the text rules do not change it; see Meta.Rules.
//
//	1: first version. Sections were added to it that readers did not require, and text rules that META did not name.
//	2: every section is required. META names the text rules. Without the positions of bigrams (PPOS).
//	3: field postings of all terms, instead of a byte for each posting. Most sections have other tags.
//	4: facts of the columns (FACT), which decide the types that other programs read, and positions of records (POSN,
//	   CELL), whose fields META names.
//	5: elements of lists in sort order, without an order of their own (EORD). Without the block counts of frequent
//	   values (FVAL, BCNT).
//
// The frame and the sections META, RECS and ROFF are the core of a file. They contain what was
// published and are the same in every version, so every program reads them (OpenCore). All other
// sections are indexes that are derived from the core. A program reads the indexes of its own
// version and text rules only and rebuilds others from the core. So there is one way to read an
// index, and a reader needs no fallback for a section that is missing.
//
// A reader rejects a file instead of guessing what it means. Open returns
//
//   - ErrIndex if its indexes have another version, or its text was sorted and split into words by
//     other rules, with those of the file and of the program in the message,
//   - ErrTruncated if it is shorter than a frame, does not end with the magic number, or has
//     another length than its footer says,
//   - guard.ErrCorrupt if it does not begin with the magic number; if it has flags; if the checksum
//     of the footer, the table of contents or META is wrong; if a section is unaligned, overlaps
//     another, ends behind the last, is duplicate, of an unknown kind, or missing; or if the sizes
//     of sections contradict each other.
//
// File.Verify also rejects a wrong checksum of any other section, and padding that is not zero.
const FormatVersion = 5

// Sizes of the fixed parts in bytes.
const (
	HeaderSize = 16
	EntrySize  = 32
	FooterSize = 40
	Alignment  = 8 // of all sections
)

// Magic begins and ends a file.
const Magic = "HERBSEG\x00"

// Limits of a segment.
const (
	MaxRecords  = 1<<31 - 1 // their numbers have 32 bits, and roaring sets count in int
	MaxElements = 1<<32 - 1 // of a list field, in all records; EOFF counts them
)

// Errors of invalid files.
var (
	ErrTruncated = errors.New("the segment is cut off")
	ErrIndex     = errors.New("the segment has the indexes of another release")
)

// Meta is the content of the META section.
type Meta struct {
	Fields  []herb.Field `json:"fields"`
	Records int          `json:"records"`
	Words   int          `json:"words"` // of all records
	Terms   int          `json:"terms"`
	Rules   string       `json:"rules"`             // text.Rules of the program that built the file
	Program string       `json:"program,omitempty"` // release that built the file; empty if unknown
	// Coordinates are where the records are; empty if the dataset has no coordinates, and nil in
	// files before format 4.
	Coordinates []herb.Coordinates `json:"coordinates"`
}

// Index identifies how the indexes of a file are written. A program reads those whose Index equals
// its own.
type Index struct {
	Format int    // FormatVersion of the program that built the file
	Rules  string // text.Rules of that program; empty before format 2
}

// CurrentIndex returns the Index of the files that this program writes.
func CurrentIndex() Index { return Index{FormatVersion, text.Rules()} }

// String returns the numbers of the format and the rules as they are part of file names: "f5-r1".
func (i Index) String() string {
	rules, _, _ := strings.Cut(i.Rules, ",")
	return fmt.Sprintf("f%d-r%s", i.Format, cmp.Or(rules, "0"))
}

// Index returns how the indexes of the file are written.
func (f *File) Index() Index {
	return Index{int(binary.LittleEndian.Uint32(f.Data[len(Magic):])), f.Meta.Rules}
}

// checkIndex rejects files with other indexes: their sections have another meaning, or their order
// and terms differ from those of this program, so that some records would not be found.
func (f *File) checkIndex() error {
	has, reads := f.Index(), CurrentIndex()
	if has == reads {
		return nil
	}
	return fmt.Errorf("%w: it has format %d with text rules %q, and this program reads format %d with %q", ErrIndex,
		has.Format, has.Rules, reads.Format, reads.Rules)
}

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// encodeFooter returns the footer of a file whose table of contents is toc, written at offset.
func encodeFooter(toc []byte, offset uint64) []byte {
	b, _ := binary.Append(nil, binary.LittleEndian,
		[]uint64{offset, uint64(len(toc)), offset + uint64(len(toc)) + FooterSize})
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(toc, castagnoli()))
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli()))
	return append(b, Magic...)
}

// ReadTable validates the frame of a file and returns its table of contents.
func ReadTable(file []byte) ([]Section, error) {
	toc, err := encodedTable(file)
	if err != nil {
		return nil, err
	}
	sections := make([]Section, 0, len(toc)/EntrySize)
	// previousEnd is the end of the preceding section
	tableStart, previousEnd := uint64(len(file)-FooterSize-len(toc)), uint64(HeaderSize)
	for ; len(toc) > 0; toc = toc[EntrySize:] {
		s := decodeEntry(toc)
		if s.Offset < previousEnd || s.Offset%Alignment != 0 || s.Offset > tableStart ||
			s.Length > tableStart-s.Offset {
			return nil, fmt.Errorf("%w: section %s has an invalid offset or length", guard.ErrCorrupt, s.Tag)
		}
		previousEnd = s.Offset + s.Length
		sections = append(sections, s)
	}
	return sections, nil
}

// decodeEntry decodes an entry of the table of contents.
func decodeEntry(b []byte) Section {
	return Section{
		Tag:    Tag(b[:4]),
		Field:  binary.LittleEndian.Uint32(b[4:]),
		Offset: binary.LittleEndian.Uint64(b[8:]),
		Length: binary.LittleEndian.Uint64(b[16:]),
		CRC:    binary.LittleEndian.Uint32(b[24:]),
	}
}

// encodedTable validates header and footer of a file and returns its table of contents as written.
func encodedTable(file []byte) ([]byte, error) {
	if len(file) < HeaderSize+FooterSize {
		return nil, fmt.Errorf("%w: it has %d bytes", ErrTruncated, len(file))
	}
	if string(file[:len(Magic)]) != Magic {
		return nil, fmt.Errorf("%w: no magic number at the start", guard.ErrCorrupt)
	}
	if binary.LittleEndian.Uint32(file[len(Magic)+4:]) != 0 {
		return nil, fmt.Errorf("%w: unknown flags; if a later release wrote the file, use that release",
			guard.ErrCorrupt)
	}
	footer := file[len(file)-FooterSize:]
	if string(footer[FooterSize-len(Magic):]) != Magic {
		return nil, fmt.Errorf("%w: no magic number at the end", ErrTruncated)
	}
	if crc32.Checksum(footer[:28], castagnoli()) != binary.LittleEndian.Uint32(footer[28:]) {
		return nil, fmt.Errorf("%w: footer", guard.ErrCorrupt)
	}
	offset, length := binary.LittleEndian.Uint64(footer), binary.LittleEndian.Uint64(footer[8:])
	if size := binary.LittleEndian.Uint64(footer[16:]); size != uint64(len(file)) {
		return nil, fmt.Errorf("%w: it has %d bytes of %d", ErrTruncated, len(file), size)
	}
	end := uint64(len(file) - FooterSize)
	if offset < HeaderSize || offset > end || length != end-offset || length%EntrySize != 0 {
		return nil, fmt.Errorf("%w: table of contents", guard.ErrCorrupt)
	}
	toc := file[offset:end]
	if crc32.Checksum(toc, castagnoli()) != binary.LittleEndian.Uint32(footer[24:]) {
		return nil, fmt.Errorf("%w: table of contents", guard.ErrCorrupt)
	}
	return toc, nil
}
