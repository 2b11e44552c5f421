package aggregate

import "herbarium/internal/segment/internal/guard"

// selection is the groups of a By field that a request selects by their labels.
type selection struct {
	steps   *guard.Steps
	grouper grouper
	labels  map[string]bool
	known   map[uint32]bool // by group
}

// bytesPerKnownGroup is the memory of a group in a selection.
const bytesPerKnownGroup = 24

// newSelection returns nil if all groups are selected.
func newSelection(st *guard.Steps, g grouper, labels []string) *selection {
	if len(labels) == 0 {
		return nil
	}
	s := &selection{st, g, map[string]bool{}, map[uint32]bool{}}
	for _, l := range labels {
		s.labels[l] = true
	}
	return s
}

// has reports whether a group is selected.
func (s *selection) has(group uint32) bool {
	if s == nil {
		return true
	}
	selected, ok := s.known[group]
	if !ok {
		s.steps.Add(valueSteps)
		s.steps.Reserve(bytesPerKnownGroup)
		label := s.grouper.label(group)
		selected = s.labels[label] && (label != "" || s.grouper.isMissing(group))
		s.known[group] = selected
	}
	return selected
}

// hasLabel reports whether a group without records is selected.
func (s *selection) hasLabel(label string) bool { return s == nil || s.labels[label] }

// selectRecords removes the records of a chunk whose group in a By field is not selected.
func (a *aggregation) selectRecords(c *chunk, by int) {
	s := a.selections[by]
	if s == nil {
		return
	}
	records := c.selected[by][:0]
	for i, rec := range c.records {
		if !s.has(c.groups[by][i]) {
			continue
		}
		for k := range by + 1 {
			c.groups[k][len(records)] = c.groups[k][i]
		}
		records = append(records, rec)
	}
	for k := range by + 1 {
		c.groups[k] = c.groups[k][:len(records)]
	}
	c.records, c.selected[by] = records, records
}
