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

// FormatVersion is the version of the format that this program writes and reads.
//
// Version history:
//
//	1  first version
const FormatVersion = 1

// The sizes of the fixed parts, in bytes.
const (
	headerSize = 16
	entrySize  = 32
	footerSize = 40
	alignment  = 8 // of every section
)

const magic = "HERBSEG\x00"

// MaxRecords is how many records a segment can hold: their numbers have 32 bits, and roaring sets count in int.
const MaxRecords = 1<<31 - 1

// tag names the kind of a section.
type tag [4]byte

// String returns the tag as it stands in the file.
func (t tag) String() string { return string(t[:]) }

// The sections. Those of a field carry its position, the others noField.
var (
	tagMeta    = tag{'M', 'E', 'T', 'A'} // JSON: fields, counts
	tagRecords = tag{'R', 'E', 'C', 'S'} // each record's JSON
	tagStarts  = tag{'R', 'O', 'F', 'F'} // u64: where each record begins, and where the last ends
	tagOrder   = tag{'O', 'R', 'D', 'R'} // u32: record numbers in the field's order
	tagPlaces  = tag{'P', 'L', 'A', 'C'} // u32: the place of each record in that order
	tagRuns    = tag{'R', 'U', 'N', 'S'} // u32: where each distinct value begins in the order; then where the values end
	tagMixed   = tag{'M', 'I', 'X', 'D'} // bits: runs whose values compare alike but are written differently
	tagPrefix  = tag{'P', 'R', 'E', 'F'} // sets: the first 1/32, 2/32 … of the order
	tagLong    = tag{'L', 'O', 'N', 'G'} // u32: the numbers of the long runs
	tagOften   = tag{'O', 'F', 'T', 'N'} // sets: the records of each long run
	tagElement = tag{'E', 'L', 'E', 'M'} // strings: the elements of a list field, sorted
	tagNumbers = tag{'E', 'I', 'D', 'S'} // u32: the number of each element, by which LIST knows it
	tagListed  = tag{'L', 'I', 'S', 'T'} // sets: the records with each element
	tagTerms   = tag{'T', 'E', 'R', 'M'} // strings: the words of all searchable fields, sorted
	tagIDs     = tag{'T', 'I', 'D', 'S'} // u32: the number of each word, by which DOCS, MULT and FWRD know it
	tagFound   = tag{'D', 'O', 'C', 'S'} // sets: the records with each word
	tagTwice   = tag{'M', 'U', 'L', 'T'} // sets: the records with each word more than once, each followed by how often
	tagForward = tag{'F', 'W', 'R', 'D'} // varints: the words of each record, field by field
	tagFStarts = tag{'F', 'O', 'F', 'F'} // u64: where the words of each record begin
	tagLengths = tag{'L', 'E', 'N', 'S'} // u32: how many words each record has
	tagShort   = tag{'S', 'H', 'R', 'T'} // u32: record numbers, those with the fewest words first; not in small files

	// The beginnings of words that many records have; not in small files.
	tagBegin      = tag{'B', 'E', 'G', 'N'} // u32: the places in TERM of the first word of each, and of the first that is not
	tagBegun      = tag{'B', 'S', 'E', 'T'} // sets: the records with each
	tagBegunTwice = tag{'B', 'M', 'U', 'L'} // sets: the records with each more than once, each followed by how often

	// The pairs of frequent words that stand one behind the other; not in small files.
	tagCommon     = tag{'C', 'O', 'M', 'M'} // u32: the number of each frequent word and of its first pair
	tagPairs      = tag{'P', 'A', 'I', 'R'} // sets: the records with each pair
	tagPairsTwice = tag{'P', 'M', 'U', 'L'} // sets: the records with each pair more than once, each followed by how often
)

const noField = 1<<32 - 1

// The errors of files that are not what they should be.
var (
	ErrCorrupt   = errors.New("the segment is damaged")
	ErrTruncated = errors.New("the segment is cut off")
	ErrVersion   = errors.New("the segment has another format version")
	ErrRules     = errors.New("the segment was built with other text rules")
)

// meta is what the META section says.
type meta struct {
	Fields  []herb.Field `json:"fields"`
	Records int          `json:"records"`
	Words   int          `json:"words"` // of all records
	Terms   int          `json:"terms"`
	Rules   string       `json:"rules,omitempty"` // of text; left out if they are the first
}

// rulesOf names text rules as a description does.
func rulesOf(rules string) string {
	if rules == text.FirstRules {
		return ""
	}
	return rules
}

// checkRules refuses what was built by other rules of text: its orders and words are not those that a listing by this
// program's rules expects, and some records would not be found.
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

// appendFooter ends the file. toc is the table of contents as it was written at offset.
func appendFooter(b, toc []byte, offset uint64) []byte {
	start := len(b)
	b = binary.LittleEndian.AppendUint64(b, offset)
	b = binary.LittleEndian.AppendUint64(b, uint64(len(toc)))
	b = binary.LittleEndian.AppendUint64(b, offset+uint64(len(toc))+footerSize) // length of the file
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(toc, castagnoli()))
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b[start:], castagnoli()))
	return append(b, magic...)
}

// readTable checks the frame of a file and returns its table of contents. Sections with tags that are not known here are
// in it: a later version may have added them.
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
	behind := uint64(headerSize) // the section before
	for ; len(toc) > 0; toc = toc[entrySize:] {
		s := section{
			tag:    tag(toc[:4]),
			field:  binary.LittleEndian.Uint32(toc[4:]),
			offset: binary.LittleEndian.Uint64(toc[8:]),
			length: binary.LittleEndian.Uint64(toc[16:]),
			crc:    binary.LittleEndian.Uint32(toc[24:]),
		}
		if s.offset < behind || s.offset%alignment != 0 || s.offset > offset || s.length > offset-s.offset {
			return nil, fmt.Errorf("%w: section %s lies where it cannot", ErrCorrupt, s.tag)
		}
		behind = s.offset + s.length
		sections = append(sections, s)
	}
	return sections, nil
}
