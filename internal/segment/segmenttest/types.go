package segmenttest

import (
	"fmt"
	"slices"

	"herbarium/internal/query"
	"herbarium/internal/typed"
)

// Types implements query.Engine.
//
// Rule: docs/api.md, "Types for other programs".
func (o *Oracle) Types() ([]typed.Column, error) {
	types := make([]typed.Column, len(o.fields))
	for i := range types {
		var facts typed.Facts
		for _, r := range o.records {
			facts.Add(&o.fields[i], []byte(r[i]))
		}
		types[i] = typed.Of(&o.fields[i], facts)
	}
	return types, nil
}

// agreeOnTypes compares the types of an engine with those of the oracle.
func agreeOnTypes(l query.Engine, o *Oracle) error {
	got, err := l.Types()
	if want, _ := o.Types(); err != nil || !slices.Equal(got, want) {
		return fmt.Errorf("types %v, %w; want %v", got, err, want)
	}
	return nil
}
