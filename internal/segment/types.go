package segment

import (
	"fmt"

	"herbarium/internal/segment/internal/file"
	"herbarium/internal/typed"
)

// Types returns how other programs read the values of each field.
func (r *Reader) Types() (types []typed.Column, err error) {
	facts, err := r.Facts()
	for i, f := range facts {
		types = append(types, typed.Of(&r.Fields()[i], f))
	}
	return types, err
}

// Facts returns the facts of each field, which decide its type in other programs.
func (r *Reader) Facts() (facts []typed.Facts, err error) {
	err = r.file.Guard(func() error {
		section := r.file.Section(file.TagFacts, file.NoField)
		for i := range r.Fields() {
			facts = append(facts, typed.DecodeFacts(section[i*typed.FactsSize:]))
		}
		return nil
	})
	return facts, err
}

// SortedField returns the first field whose values are in ascending order, as programs compare
// values of its type, with missing values last and not all values alike; -1 if there is none.
func (r *Reader) SortedField(types []typed.Column) (field int, err error) {
	field = -1
	err = r.file.Guard(func() error {
		for i, c := range types {
			if c.Kind == typed.Text || c.Kind == typed.List || r.columns[i].Distinct() < 2 ||
				!isIdentity(file.U32s(r.file.Section(file.TagSortedRows, uint32(i)))) {
				continue
			}
			field = i
			return nil
		}
		return nil
	})
	return field, err
}

// isIdentity reports whether the sorted rows are the records in their own order.
func isIdentity(sorted file.U32s) bool {
	for i := range sorted.Len() {
		if sorted.At(i) != uint32(i) {
			return false
		}
	}
	return true
}

// checkFacts checks the size of the facts.
func (r *Reader) checkFacts() error {
	if size, want := len(r.file.Section(file.TagFacts, file.NoField)), len(r.Fields())*typed.FactsSize; size != want {
		return fmt.Errorf("%w: section %s has %d bytes; want %d", ErrCorrupt, file.TagFacts, size, want)
	}
	return nil
}
