// Package file implements the frame of a segment: header, sections with checksums, table of contents and footer, and the
// memory map through which it is read. docs/format/segment.md specifies the format.
package file

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"herbarium/internal/herb"
	"herbarium/internal/segment/internal/guard"
	"herbarium/internal/text"
)

// FormatVersion is the version of the file format that this program reads and writes.
//
// Version history:
//
//	1  first version
const FormatVersion = 1

// Sizes of the fixed parts in bytes.
const (
	HeaderSize = 16
	EntrySize  = 32
	FooterSize = 40
	Alignment  = 8 // of all sections
)

// Magic begins and ends a file.
const Magic = "HERBSEG\x00"

// MaxRecords is the maximum number of records in a segment: their numbers have 32 bits, and roaring sets count in int.
const MaxRecords = 1<<31 - 1

// Tag is the kind of a section.
type Tag [4]byte

// String returns the tag as stored in the file.
func (t Tag) String() string { return string(t[:]) }

// Section tags. Sections of a field carry its position, others NoField.
var (
	TagMeta        = Tag{'M', 'E', 'T', 'A'} // JSON: fields, counts
	TagRecords     = Tag{'R', 'E', 'C', 'S'} // each record's JSON
	TagStarts      = Tag{'R', 'O', 'F', 'F'} // u64: start of each record, and end of the last
	TagSorted      = Tag{'O', 'R', 'D', 'R'} // u32: sorted rows: record numbers in the order of the field
	TagRanks       = Tag{'P', 'L', 'A', 'C'} // u32: rank of each record in the sorted rows
	TagRuns        = Tag{'R', 'U', 'N', 'S'} // u32: first rank of each value run; then the end of the values
	TagNonUniform  = Tag{'M', 'I', 'X', 'D'} // bits: non-uniform runs, whose values compare equal but are written differently
	TagPrefix      = Tag{'P', 'R', 'E', 'F'} // sets: the first 1/32, 2/32 … of the sorted rows
	TagLongRuns    = Tag{'L', 'O', 'N', 'G'} // u32: the numbers of the long runs
	TagLongRunSets = Tag{'O', 'F', 'T', 'N'} // sets: the records of each long run
	TagElement     = Tag{'E', 'L', 'E', 'M'} // strings: the elements of a list field, sorted
	TagNumbers     = Tag{'E', 'I', 'D', 'S'} // u32: the number of each element in LIST
	TagListed      = Tag{'L', 'I', 'S', 'T'} // sets: postings of each element

	// Order of the elements; not in files of earlier programs.
	TagElementOrder = Tag{'E', 'O', 'R', 'D'} // u32: indexes in ELEM, in the order of the sort keys

	// Forward index of the elements; not in files of earlier programs.
	TagListStarts = Tag{'L', 'O', 'F', 'F'} // u32: first element of each record in LPOS, and end of the last
	TagPositions  = Tag{'L', 'P', 'O', 'S'} // elements of each record: their positions in EORD, ascending, in 1, 2 or 4 bytes

	// Values, or keys of text; not in files of earlier programs, nor of fields with long values.
	TagValues = Tag{'V', 'A', 'L', 'S'} // the value of each value run, without the prefix that it shares with the one before
	TagKeys   = Tag{'V', 'K', 'E', 'Y'} // the value key of each value run, in the format of VALS

	// Frequent values and their block counts; not in small files.
	TagFrequent    = Tag{'F', 'R', 'E', 'Q'} // u32: field and number of each frequent value
	TagBlockCounts = Tag{'B', 'C', 'N', 'T'} // u32: number of records with each frequent value before the end of each block of the sorted rows

	TagTerms       = Tag{'T', 'E', 'R', 'M'} // strings: the terms of all searchable fields, sorted
	TagIDs         = Tag{'T', 'I', 'D', 'S'} // u32: the number of each term in DOCS, MULT and FWRD
	TagDocs        = Tag{'D', 'O', 'C', 'S'} // sets: postings of each term
	TagFreqs       = Tag{'M', 'U', 'L', 'T'} // sets: term-frequency postings: the records with each term more than once, followed by the frequencies
	TagForward     = Tag{'F', 'W', 'R', 'D'} // varints: forward index: the terms of each record, field by field
	TagFStarts     = Tag{'F', 'O', 'F', 'F'} // u64: start of each record in the forward index
	TagLengths     = Tag{'L', 'E', 'N', 'S'} // u32: number of words of each record
	TagLengthOrder = Tag{'S', 'H', 'R', 'T'} // u32: length order: record numbers by ascending number of words; not in small files

	// Fields of the terms; not in small files, nor with one searchable field.
	TagTermFields = Tag{'T', 'F', 'L', 'D'} // table: by term, u8 for each record of its postings: mask of the fields

	// Prefix postings; not in small files.
	TagPrefixRanges = Tag{'B', 'E', 'G', 'N'} // u32: range of each prefix in TERM
	TagPrefixDocs   = Tag{'B', 'S', 'E', 'T'} // sets: postings of each prefix
	TagPrefixFreqs  = Tag{'B', 'M', 'U', 'L'} // sets: term-frequency postings of each prefix

	// Field postings; not in small files.
	TagFieldRanges = Tag{'F', 'R', 'N', 'G'} // u32: range of each frequent term or prefix in TERM
	TagFieldDocs   = Tag{'F', 'S', 'E', 'T'} // sets: postings of each in each searchable field

	// Bigrams of frequent terms; not in small files.
	TagBigramTerms     = Tag{'C', 'O', 'M', 'M'} // u32: number of each frequent term, and of its first bigram
	TagBigramDocs      = Tag{'P', 'A', 'I', 'R'} // sets: postings of each bigram
	TagBigramFreqs     = Tag{'P', 'M', 'U', 'L'} // sets: term-frequency postings of each bigram
	TagBigramPositions = Tag{'P', 'P', 'O', 'S'} // table: by bigram, its positions in each record of its postings
)

// NoField is the field of sections that belong to no field.
const NoField = 1<<32 - 1

// Errors of invalid files.
var (
	ErrTruncated = errors.New("the segment is cut off")
	ErrVersion   = errors.New("the segment has another format version")
	ErrRules     = errors.New("the segment was built with other text rules")
)

// Meta is the content of the META section.
type Meta struct {
	Fields  []herb.Field `json:"fields"`
	Records int          `json:"records"`
	Words   int          `json:"words"` // of all records
	Terms   int          `json:"terms"`
	Rules   string       `json:"rules,omitempty"` // text rules; omitted if they are text.FirstRules
}

// storedRules returns text rules as stored in META.
func storedRules(rules string) string {
	if rules == text.FirstRules {
		return ""
	}
	return rules
}

// checkRules rejects files built by different text rules: their order and terms differ from those of this program, so
// some records would not be found.
func (m Meta) checkRules(rules string) error {
	if m.Rules == storedRules(rules) {
		return nil
	}
	return fmt.Errorf("%w: %s, and this program has %s; publish the dataset again", ErrRules, cmp.Or(m.Rules, text.FirstRules), rules)
}

// Section is an entry of the table of contents, which is written in the order of these members.
type Section struct {
	Tag    Tag
	Field  uint32 // position of the field, or NoField
	Offset uint64
	Length uint64
	CRC    uint32
	_      uint32
}

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// encodeFooter returns the footer of a file whose table of contents is toc, written at offset.
func encodeFooter(toc []byte, offset uint64) []byte {
	b, _ := binary.Append(nil, binary.LittleEndian, []uint64{offset, uint64(len(toc)), offset + uint64(len(toc)) + FooterSize})
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(toc, castagnoli()))
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli()))
	return append(b, Magic...)
}

// ReadTable validates the frame of a file and returns its table of contents, including sections with unknown tags,
// which a later version may have added.
func ReadTable(file []byte) ([]Section, error) {
	toc, err := encodedTable(file)
	if err != nil {
		return nil, err
	}
	sections := make([]Section, 0, len(toc)/EntrySize)
	tableStart, previousEnd := uint64(len(file)-FooterSize-len(toc)), uint64(HeaderSize) // previousEnd is the end of the preceding section
	for ; len(toc) > 0; toc = toc[EntrySize:] {
		s := decodeEntry(toc)
		if s.Offset < previousEnd || s.Offset%Alignment != 0 || s.Offset > tableStart || s.Length > tableStart-s.Offset {
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
	if v := binary.LittleEndian.Uint32(file[len(Magic):]); v != FormatVersion {
		return nil, fmt.Errorf("%w: it has %d and this program reads %d; publish the dataset again", ErrVersion, v, FormatVersion)
	}
	if binary.LittleEndian.Uint32(file[len(Magic)+4:]) != 0 {
		return nil, fmt.Errorf("%w: unknown flags", guard.ErrCorrupt)
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
