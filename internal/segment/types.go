package segment

import (
	"fmt"

	"herbarium/internal/segment/internal/file"
	"herbarium/internal/typed"
)

// Types returns how other programs read the values of each field.
func (u *Union) Types() (types []typed.Column, err error) {
	err = u.guard(func() error {
		fields := u.fields()
		types = make([]typed.Column, len(fields))
		for i := range types {
			var facts typed.Facts
			for _, r := range u.Segments {
				facts.Merge(typed.DecodeFacts(r.file.Section(file.TagFacts, file.NoField)[i*typed.FactsSize:]))
			}
			types[i] = typed.Of(&fields[i], facts)
		}
		return nil
	})
	return types, err
}

// SortedField returns the first field whose values are in ascending order, as programs compare
// values of its type, with missing values last and not all values alike; -1 if there is none.
func (r *Reader) SortedField(types []typed.Column) (field int, err error) {
	field = -1
	err = r.file.Guard(func() error {
		for i, c := range types {
			if c.Kind == typed.Text || c.Kind == typed.List || r.columns[i].Distinct() < 2 || !isIdentity(file.U32s(r.file.Section(file.TagSortedRows, uint32(i)))) {
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
