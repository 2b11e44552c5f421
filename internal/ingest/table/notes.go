package table

import (
	"regexp"
	"slices"
)

// updatePattern matches a note about the age of a table.
var updatePattern = regexp.MustCompile(`^(?i)(last )?(updated?|modified|revised|retrieved|downloaded|extracted|stand|as of)( on)?:`)

// isNote reports whether a text beside the names of columns is a note rather than a name.
func isNote(text []byte) bool {
	return labelPattern.Match(text) || updatePattern.Match(text) || isSentence(text) && text[len(text)-1] == '.'
}

// withoutNoteCells returns the rows of a header without notes in those above the last.
func withoutNoteCells(header []Row) []Row {
	header = slices.Clone(header)
	for i := range max(0, len(header)-1) {
		if !slices.ContainsFunc(header[i].Cells, labelPattern.Match) {
			continue
		}
		header[i] = header[i].Clone()
		for c := range header[i].Cells {
			if labelPattern.Match(header[i].cell(c)) {
				header[i].Cells[c] = nil
			}
		}
	}
	return header
}

// CutNotes removes notes beside the header from the names of columns that have no value. It returns
// the notes by column, nil if there are none.
func (l Header) CutNotes(s Sample, names []string) (notes []string) {
	for c, name := range names {
		hasValue := func(r Row) bool { return len(r.cell(c)) > 0 }
		if c == 0 || !isNote([]byte(name)) || len(s.Rows) <= l.End || slices.ContainsFunc(s.Rows[l.End:], hasValue) {
			continue
		}
		if notes == nil {
			notes = make([]string, len(names))
		}
		notes[c], names[c] = name, ""
	}
	return notes
}
