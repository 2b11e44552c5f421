package file

import (
	"cmp"
	"fmt"
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/segment/internal/guard"
)

// Tag is the kind of a section.
type Tag [4]byte

// String returns the tag as stored in the file.
func (t Tag) String() string { return string(t[:]) }

// Section tags. Sections of a field carry its position, others NoField.
var (
	TagMeta    = Tag{'M', 'E', 'T', 'A'} // JSON: fields, counts, text rules
	TagRecords = Tag{'R', 'E', 'C', 'S'} // each record's JSON
	TagStarts  = Tag{'R', 'O', 'F', 'F'} // u64: start of each record, and end of the last

	// Of every field.
	TagSorted      = Tag{'O', 'R', 'D', 'R'} // u32: sorted rows: record numbers in the order of the field
	TagRanks       = Tag{'P', 'L', 'A', 'C'} // u32: rank of each record in the sorted rows
	TagRuns        = Tag{'R', 'U', 'N', 'S'} // u32: first rank of each value run; then the end of the values
	TagNonUniform  = Tag{'M', 'I', 'X', 'D'} // bits: non-uniform runs, whose values compare equal but are written differently
	TagPrefix      = Tag{'P', 'R', 'E', 'F'} // sets: the first 1/32, 2/32 … of the sorted rows
	TagLongRuns    = Tag{'L', 'O', 'N', 'G'} // u32: the numbers of the long runs
	TagLongRunSets = Tag{'O', 'F', 'T', 'N'} // sets: the records of each long run

	// Of list fields.
	TagElement      = Tag{'E', 'L', 'E', 'M'} // strings: the elements, sorted
	TagNumbers      = Tag{'E', 'I', 'D', 'S'} // u32: the number of each element in LIST
	TagListed       = Tag{'L', 'I', 'S', 'T'} // sets: postings of each element
	TagElementOrder = Tag{'E', 'O', 'R', 'D'} // u32: indexes in ELEM, in the order of the sort keys
	TagListStarts   = Tag{'L', 'O', 'F', 'F'} // u32: first element of each record in LPOS, and end of the last
	TagPositions    = Tag{'L', 'P', 'O', 'S'} // elements of each record: their positions in EORD, ascending, in 1, 2 or 4 bytes

	// Of filterable fields that are not lists: text has VKEY, other types VALS. Empty if the values
	// are long.
	TagValues = Tag{'V', 'A', 'L', 'S'} // the value of each value run, without the prefix that it shares with the one before
	TagKeys   = Tag{'V', 'K', 'E', 'Y'} // the value key of each value run, in the format of VALS

	// Frequent values, of the file, and their block counts, of sortable fields.
	TagFrequent    = Tag{'F', 'R', 'E', 'Q'} // u32: field and number of each frequent value
	TagBlockCounts = Tag{'B', 'C', 'N', 'T'} // u32: number of records with each frequent value before the end of each block of the sorted rows

	TagTerms       = Tag{'T', 'E', 'R', 'M'} // strings: the terms of all searchable fields, sorted
	TagIDs         = Tag{'T', 'I', 'D', 'S'} // u32: the number of each term in DOCS, MULT and FWRD
	TagDocs        = Tag{'D', 'O', 'C', 'S'} // sets: postings of each term
	TagFreqs       = Tag{'M', 'U', 'L', 'T'} // sets: term-frequency postings: the records with each term more than once, followed by the frequencies
	TagTermFields  = Tag{'T', 'F', 'L', 'D'} // table: by term, u8 for each record of its postings: mask of the fields; empty with one searchable field
	TagForward     = Tag{'F', 'W', 'R', 'D'} // varints: forward index: the terms of each record, field by field
	TagFStarts     = Tag{'F', 'O', 'F', 'F'} // u64: start of each record in the forward index
	TagLengths     = Tag{'L', 'E', 'N', 'S'} // u32: number of words of each record
	TagLengthOrder = Tag{'S', 'H', 'R', 'T'} // u32: length order: record numbers by ascending number of words

	// Postings of frequent prefixes; empty in small files, as the next ones.
	TagPrefixRanges = Tag{'B', 'E', 'G', 'N'} // u32: range of each prefix in TERM
	TagPrefixDocs   = Tag{'B', 'S', 'E', 'T'} // sets: postings of each prefix
	TagPrefixFreqs  = Tag{'B', 'M', 'U', 'L'} // sets: term-frequency postings of each prefix

	// Postings of frequent terms and prefixes by field.
	TagFieldRanges = Tag{'F', 'R', 'N', 'G'} // u32: range of each frequent term or prefix in TERM
	TagFieldDocs   = Tag{'F', 'S', 'E', 'T'} // sets: postings of each in each searchable field

	// Postings of bigrams of frequent terms.
	TagBigramTerms = Tag{'C', 'O', 'M', 'M'} // u32: number of each frequent term, and of its first bigram
	TagBigramDocs  = Tag{'P', 'A', 'I', 'R'} // sets: postings of each bigram
	TagBigramFreqs = Tag{'P', 'M', 'U', 'L'} // sets: term-frequency postings of each bigram
)

// NoField is the field of sections that belong to no field.
const NoField = 1<<32 - 1

// Section is an entry of the table of contents, which is written in the order of these members.
type Section struct {
	Tag    Tag
	Field  uint32 // position of the field, or NoField
	Offset uint64
	Length uint64
	CRC    uint32
	_      uint32
}

// fileTags returns the kinds of sections that every file has once.
func fileTags() []Tag {
	return []Tag{
		TagMeta, TagRecords, TagStarts, TagFrequent,
		TagTerms, TagIDs, TagDocs, TagFreqs, TagTermFields, TagForward, TagFStarts, TagLengths, TagLengthOrder,
		TagPrefixRanges, TagPrefixDocs, TagPrefixFreqs, TagFieldRanges, TagFieldDocs,
		TagBigramTerms, TagBigramDocs, TagBigramFreqs,
	}
}

// fieldTags returns the kinds of sections that a field has.
func fieldTags(f *herb.Field) []Tag {
	tags := []Tag{TagSorted, TagRanks, TagRuns, TagNonUniform, TagPrefix, TagLongRuns, TagLongRunSets}
	switch {
	case f.Type == herb.TypeList:
		tags = append(tags, TagElement, TagNumbers, TagListed, TagElementOrder, TagListStarts, TagPositions)
	case f.Filterable:
		tags = append(tags, ValuesTag(f.Type))
	}
	if f.Sortable {
		tags = append(tags, TagBlockCounts)
	}
	return tags
}

// ValuesTag returns the section that contains the values of runs: of text, their value keys.
func ValuesTag(t herb.Type) Tag {
	if t == herb.TypeText {
		return TagKeys
	}
	return TagValues
}

// checkSections rejects a file that lacks a section or has one too many.
func (f *File) checkSections() error {
	expected := make(map[sectionName]bool, len(f.Sections))
	for _, t := range fileTags() {
		expected[sectionName{t, NoField}] = true
	}
	for i := range f.Meta.Fields {
		for _, t := range fieldTags(&f.Meta.Fields[i]) {
			expected[sectionName{t, uint32(i)}] = true
		}
	}
	for _, s := range f.Sections {
		name := sectionName{s.Tag, s.Field}
		if !expected[name] {
			return fmt.Errorf("%w: unknown section %s", guard.ErrCorrupt, name)
		}
		delete(expected, name)
	}
	for name := range expected {
		return fmt.Errorf("%w: section %s is missing", guard.ErrCorrupt, name)
	}
	return nil
}

// checkCore rejects a file that lacks a section of the core, or that has fields of types that this
// program does not know.
func (f *File) checkCore() error {
	for _, t := range []Tag{TagRecords, TagStarts} {
		if f.Section(t, NoField) == nil {
			return fmt.Errorf("%w: section %s is missing", guard.ErrCorrupt, t)
		}
	}
	for _, field := range f.Meta.Fields {
		if !slices.Contains(herb.Types(), field.Type) {
			return fmt.Errorf("%w: field %q has the type %q, which this program does not know; use herbarium %s or later",
				ErrIndex, field.Name, field.Type, cmp.Or(f.Meta.Program, "of the release that wrote it"))
		}
	}
	return nil
}

// sectionName identifies a section.
type sectionName struct {
	tag   Tag
	field uint32
}

func (n sectionName) String() string {
	if n.field == NoField {
		return fmt.Sprintf("%q", n.tag)
	}
	return fmt.Sprintf("%q of field %d", n.tag, n.field)
}
