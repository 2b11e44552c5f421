package descriptor

import (
	"fmt"
	"slices"

	"herbarium/internal/ingest/pattern"
	"herbarium/internal/ingest/rows"
)

// readKeys reads the unique keys of a schema. Keys of other datasets are not checked.
func readKeys(s *Source, schema node) {
	for _, key := range schema.member("uniqueKeys").items() {
		s.UniqueKeys = append(s.UniqueKeys, key.texts())
	}
	if schema.member("foreignKeys").value != nil {
		s.Notes = append(s.Notes, "foreignKeys are not checked, because every dataset is published on its own")
	}
}

// readConstraints reads the constraints of a field. A constraint that is unknown is not checked,
// which a note says.
func readConstraints(s *Source, n node, f *FieldSetting) {
	if n.value == nil || !n.isObject() {
		return
	}
	c, unique := &f.Constraints, false
	known := n.assignAll(constraintMembers(c, &unique))
	if unique {
		s.UniqueKeys = append(s.UniqueKeys, []string{f.Name})
	}
	err := pattern.Check(c.Pattern)
	if err != nil {
		n.member("pattern").fail("of the field %q %v", rows.Clip(f.Name), err)
	}
	for _, name := range n.names() {
		if !slices.Contains(known, name) {
			s.Notes = append(s.Notes,
				fmt.Sprintf("field %q: the constraint %q is unknown and not checked; constraints: %s",
					rows.Clip(f.Name), rows.Clip(name), rows.JoinNames(known)))
		}
	}
}
