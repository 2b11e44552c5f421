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

// Section tags. Sections of a field carry its position, others NoField. The specification calls a
// section by the words of its name here.
var (
	TagMetadata      = Tag{'M', 'E', 'T', 'A'} // JSON: fields, counts, text rules
	TagRecords       = Tag{'R', 'E', 'C', 'S'} // each record's JSON
	TagRecordOffsets = Tag{'R', 'O', 'F', 'F'} // u64: start of each record, and end of the last

	TagFacts = Tag{'F', 'A', 'C', 'T'} // facts of each field, which decide its type in other programs

	// Of every field.
	TagSortedRows = Tag{'S', 'O', 'R', 'T'} // u32: sorted rows: record numbers in the order of the field
	TagRanks      = Tag{'R', 'A', 'N', 'K'} // u32: rank of each record in the sorted rows
	TagRuns       = Tag{'R', 'U', 'N', 'S'} // u32: first rank of each value run; then the end of the values
	// bits: non-uniform runs, whose values compare equal but are written differently
	TagNonUniformRuns = Tag{'N', 'U', 'N', 'I'}
	TagLeadingSets    = Tag{'L', 'E', 'A', 'D'} // sets: the first 1/32, 2/32 … of the sorted rows
	TagLongRuns       = Tag{'L', 'O', 'N', 'G'} // u32: the numbers of the long runs
	TagLongRunSets    = Tag{'L', 'S', 'E', 'T'} // sets: the records of each long run

	// Of list fields.
	TagElements        = Tag{'E', 'L', 'E', 'M'} // table: the elements, in the order of their sort keys
	TagElementNumbers  = Tag{'E', 'N', 'U', 'M'} // u32: the number of each element in EPST
	TagElementPostings = Tag{'E', 'P', 'S', 'T'} // sets: postings of each element
	TagElementOffsets  = Tag{'E', 'O', 'F', 'F'} // u32: first element of each record in EPOS, and end of the last
	// elements of each record: their positions in ELEM, ascending, in 1, 2 or 4 bytes
	TagElementPositions = Tag{'E', 'P', 'O', 'S'}

	// Of filterable fields that are not lists: text has VKEY, other types VALS. Empty if the values
	// are long.
	// the value of each value run, without the prefix that it shares with the one before
	TagValues    = Tag{'V', 'A', 'L', 'S'}
	TagValueKeys = Tag{'V', 'K', 'E', 'Y'} // the value key of each value run, in the format of VALS

	// Of the field that names coordinates: the one with latitudes, or the only one.
	TagPositions = Tag{'P', 'O', 'S', 'N'} // i32: longitude and latitude of each record
	TagCellOrder = Tag{'C', 'E', 'L', 'L'} // u32: cell order: the records with a position, sorted by cell

	// Of the words of all searchable fields.
	TagTerms        = Tag{'T', 'E', 'R', 'M'} // strings: the terms, sorted
	TagTermNumbers  = Tag{'T', 'N', 'U', 'M'} // u32: the number of each term in TPST, TFRQ and FWRD
	TagTermPostings = Tag{'T', 'P', 'S', 'T'} // sets: postings of each term
	// sets: term-frequency postings: the records with each term more than once, followed by the
	// frequencies
	TagTermFrequencies = Tag{'T', 'F', 'R', 'Q'}
	TagForwardIndex    = Tag{'F', 'W', 'R', 'D'} // varints: forward index: the terms of each record, field by field
	TagForwardOffsets  = Tag{'F', 'O', 'F', 'F'} // u64: start of each record in the forward index
	TagLengths         = Tag{'L', 'E', 'N', 'S'} // u32: number of words of each record
	TagLengthOrder     = Tag{'L', 'O', 'R', 'D'} // u32: length order: record numbers by ascending number of words

	// Of frequent prefixes; empty in small files, as those of bigrams.
	TagPrefixes          = Tag{'P', 'R', 'F', 'X'} // u32: range of each prefix in TERM
	TagPrefixPostings    = Tag{'P', 'P', 'S', 'T'} // sets: postings of each prefix
	TagPrefixFrequencies = Tag{'P', 'F', 'R', 'Q'} // sets: term-frequency postings of each prefix

	// table: field postings of each term and each prefix; empty with one searchable field
	TagFieldPostings = Tag{'F', 'P', 'S', 'T'}

	// Of bigrams of frequent terms.
	TagBigrams           = Tag{'B', 'G', 'R', 'M'} // u32: number of each frequent term, and of its first bigram
	TagBigramPostings    = Tag{'B', 'P', 'S', 'T'} // sets: postings of each bigram
	TagBigramFrequencies = Tag{'B', 'F', 'R', 'Q'} // sets: term-frequency postings of each bigram
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
		TagMetadata, TagRecords, TagRecordOffsets, TagFacts,
		TagTerms, TagTermNumbers, TagTermPostings, TagTermFrequencies, TagForwardIndex, TagForwardOffsets, TagLengths,
		TagLengthOrder,
		TagPrefixes, TagPrefixPostings, TagPrefixFrequencies, TagFieldPostings,
		TagBigrams, TagBigramPostings, TagBigramFrequencies,
	}
}

// fieldTags returns the kinds of sections that a field has.
func fieldTags(f *herb.Field) []Tag {
	tags := []Tag{TagSortedRows, TagRanks, TagRuns, TagNonUniformRuns, TagLeadingSets, TagLongRuns, TagLongRunSets}
	switch {
	case f.Type == herb.TypeList:
		tags = append(tags, TagElements, TagElementNumbers, TagElementPostings, TagElementOffsets, TagElementPositions)
	case f.Filterable:
		tags = append(tags, ValuesTag(f.Type))
	}
	return tags
}

// ValuesTag returns the section that contains the values of runs: of text, their value keys.
func ValuesTag(t herb.Type) Tag {
	if t == herb.TypeText {
		return TagValueKeys
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
	for _, c := range f.Meta.Coordinates {
		i := herb.FieldIndex(f.Meta.Fields, c.Name())
		for _, t := range []Tag{TagPositions, TagCellOrder} {
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
	for _, t := range []Tag{TagRecords, TagRecordOffsets} {
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
