package segment

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"herbarium/internal/herb"
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
	headerSize = 16
	entrySize  = 32
	footerSize = 40
	alignment  = 8 // of all sections
)

const magic = "HERBSEG\x00"

// MaxRecords is the maximum number of records in a segment: their numbers have 32 bits, and roaring sets count in int.
const MaxRecords = 1<<31 - 1

// tag is the kind of a section.
type tag [4]byte

// String returns the tag as stored in the file.
func (t tag) String() string { return string(t[:]) }

// Section tags. Sections of a field carry its position, others noField.
var (
	tagMeta        = tag{'M', 'E', 'T', 'A'} // JSON: fields, counts
	tagRecords     = tag{'R', 'E', 'C', 'S'} // each record's JSON
	tagStarts      = tag{'R', 'O', 'F', 'F'} // u64: start of each record, and end of the last
	tagSorted      = tag{'O', 'R', 'D', 'R'} // u32: sorted rows: record numbers in the order of the field
	tagRanks       = tag{'P', 'L', 'A', 'C'} // u32: rank of each record in the sorted rows
	tagRuns        = tag{'R', 'U', 'N', 'S'} // u32: first rank of each value run; then the end of the values
	tagNonUniform  = tag{'M', 'I', 'X', 'D'} // bits: non-uniform runs, whose values compare equal but are written differently
	tagPrefix      = tag{'P', 'R', 'E', 'F'} // sets: the first 1/32, 2/32 … of the sorted rows
	tagLongRuns    = tag{'L', 'O', 'N', 'G'} // u32: the numbers of the long runs
	tagLongRunSets = tag{'O', 'F', 'T', 'N'} // sets: the records of each long run
	tagElement     = tag{'E', 'L', 'E', 'M'} // strings: the elements of a list field, sorted
	tagNumbers     = tag{'E', 'I', 'D', 'S'} // u32: the number of each element in LIST
	tagListed      = tag{'L', 'I', 'S', 'T'} // sets: postings of each element
	tagTerms       = tag{'T', 'E', 'R', 'M'} // strings: the terms of all searchable fields, sorted
	tagIDs         = tag{'T', 'I', 'D', 'S'} // u32: the number of each term in DOCS, MULT and FWRD
	tagDocs        = tag{'D', 'O', 'C', 'S'} // sets: postings of each term
	tagFreqs       = tag{'M', 'U', 'L', 'T'} // sets: term-frequency postings: the records with each term more than once, followed by the frequencies
	tagForward     = tag{'F', 'W', 'R', 'D'} // varints: forward index: the terms of each record, field by field
	tagFStarts     = tag{'F', 'O', 'F', 'F'} // u64: start of each record in the forward index
	tagLengths     = tag{'L', 'E', 'N', 'S'} // u32: number of words of each record
	tagLengthOrder = tag{'S', 'H', 'R', 'T'} // u32: length order: record numbers by ascending number of words; not in small files

	// Prefix postings; not in small files.
	tagPrefixRanges = tag{'B', 'E', 'G', 'N'} // u32: range of each prefix in TERM
	tagPrefixDocs   = tag{'B', 'S', 'E', 'T'} // sets: postings of each prefix
	tagPrefixFreqs  = tag{'B', 'M', 'U', 'L'} // sets: term-frequency postings of each prefix

	// Bigrams of frequent terms; not in small files.
	tagBigramTerms = tag{'C', 'O', 'M', 'M'} // u32: number of each frequent term, and of its first bigram
	tagBigramDocs  = tag{'P', 'A', 'I', 'R'} // sets: postings of each bigram
	tagBigramFreqs = tag{'P', 'M', 'U', 'L'} // sets: term-frequency postings of each bigram
)

const noField = 1<<32 - 1

// Errors of invalid files.
var (
	ErrCorrupt   = errors.New("the segment is damaged")
	ErrTruncated = errors.New("the segment is cut off")
	ErrVersion   = errors.New("the segment has another format version")
	ErrRules     = errors.New("the segment was built with other text rules")
)

// meta is the content of the META section.
type meta struct {
	Fields  []herb.Field `json:"fields"`
	Records int          `json:"records"`
	Words   int          `json:"words"` // of all records
	Terms   int          `json:"terms"`
	Rules   string       `json:"rules,omitempty"` // text rules; omitted if they are text.FirstRules
}

// rulesOf returns text rules as stored in META.
func rulesOf(rules string) string {
	if rules == text.FirstRules {
		return ""
	}
	return rules
}

// checkRules rejects files built by different text rules: their order and terms differ from those of this program, so
// some records would not be found.
func (m meta) checkRules(rules string) error {
	if m.Rules == rulesOf(rules) {
		return nil
	}
	return fmt.Errorf("%w: %s, and this program has %s; publish the dataset again", ErrRules, cmp.Or(m.Rules, text.FirstRules), rules)
}

// section is an entry of the table of contents.
type section struct {
	tag    tag
	field  uint32
	offset uint64
	length uint64
	crc    uint32
}

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

func appendHeader(b []byte) []byte {
	b = append(b, magic...)
	b = binary.LittleEndian.AppendUint32(b, FormatVersion)
	return binary.LittleEndian.AppendUint32(b, 0)
}

func appendEntry(b []byte, s section) []byte {
	b = append(b, s.tag[:]...)
	b = binary.LittleEndian.AppendUint32(b, s.field)
	b = binary.LittleEndian.AppendUint64(b, s.offset)
	b = binary.LittleEndian.AppendUint64(b, s.length)
	b = binary.LittleEndian.AppendUint32(b, s.crc)
	return binary.LittleEndian.AppendUint32(b, 0)
}

// appendFooter appends the footer. toc is the table of contents as written at offset.
func appendFooter(b, toc []byte, offset uint64) []byte {
	start := len(b)
	b = binary.LittleEndian.AppendUint64(b, offset)
	b = binary.LittleEndian.AppendUint64(b, uint64(len(toc)))
	b = binary.LittleEndian.AppendUint64(b, offset+uint64(len(toc))+footerSize) // length of the file
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(toc, castagnoli()))
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b[start:], castagnoli()))
	return append(b, magic...)
}

// readTable validates the frame of a file and returns its table of contents, including sections with unknown tags,
// which a later version may have added.
func readTable(file []byte) ([]section, error) {
	if len(file) < headerSize+footerSize {
		return nil, fmt.Errorf("%w: it has %d bytes", ErrTruncated, len(file))
	}
	if string(file[:len(magic)]) != magic {
		return nil, fmt.Errorf("%w: it does not begin as one", ErrCorrupt)
	}
	if v := binary.LittleEndian.Uint32(file[len(magic):]); v != FormatVersion {
		return nil, fmt.Errorf("%w: it has %d and this program reads %d", ErrVersion, v, FormatVersion)
	}
	if binary.LittleEndian.Uint32(file[len(magic)+4:]) != 0 {
		return nil, fmt.Errorf("%w: unknown flags", ErrCorrupt)
	}
	footer := file[len(file)-footerSize:]
	if string(footer[footerSize-len(magic):]) != magic {
		return nil, fmt.Errorf("%w: it does not end as one", ErrTruncated)
	}
	if crc32.Checksum(footer[:28], castagnoli()) != binary.LittleEndian.Uint32(footer[28:]) {
		return nil, fmt.Errorf("%w: footer", ErrCorrupt)
	}
	offset, length := binary.LittleEndian.Uint64(footer), binary.LittleEndian.Uint64(footer[8:])
	if size := binary.LittleEndian.Uint64(footer[16:]); size != uint64(len(file)) {
		return nil, fmt.Errorf("%w: it has %d bytes of %d", ErrTruncated, len(file), size)
	}
	end := uint64(len(file) - footerSize)
	if offset < headerSize || offset > end || length != end-offset || length%entrySize != 0 {
		return nil, fmt.Errorf("%w: table of contents", ErrCorrupt)
	}
	toc := file[offset:end]
	if crc32.Checksum(toc, castagnoli()) != binary.LittleEndian.Uint32(footer[24:]) {
		return nil, fmt.Errorf("%w: table of contents", ErrCorrupt)
	}
	sections := make([]section, 0, length/entrySize)
	behind := uint64(headerSize) // end of the preceding section
	for ; len(toc) > 0; toc = toc[entrySize:] {
		s := section{
			tag:    tag(toc[:4]),
			field:  binary.LittleEndian.Uint32(toc[4:]),
			offset: binary.LittleEndian.Uint64(toc[8:]),
			length: binary.LittleEndian.Uint64(toc[16:]),
			crc:    binary.LittleEndian.Uint32(toc[24:]),
		}
		if s.offset < behind || s.offset%alignment != 0 || s.offset > offset || s.length > offset-s.offset {
			return nil, fmt.Errorf("%w: section %s has an invalid offset or length", ErrCorrupt, s.tag)
		}
		behind = s.offset + s.length
		sections = append(sections, s)
	}
	return sections, nil
}
