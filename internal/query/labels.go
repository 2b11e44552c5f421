package query

import (
	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// ParamLabels adds a field with the category labels after each field that has some.
const ParamLabels = "_labels"

// LabelSuffix follows the name of a field in the name of the one that has its category labels.
const LabelSuffix = "_label"

// parseLabels parses the value of ParamLabels.
func parseLabels(p Param) (bool, error) { return p.Value == "true", checkChoice(p, "true", "false") }

// checkLabels fails if two fields that the request returns would have the same name.
func (r *Request) checkLabels() error {
	if !r.Labels {
		return nil
	}
	names := map[string]bool{}
	for _, i := range r.positions() {
		names[r.fields[i].Name] = true
	}
	for _, i := range r.positions() {
		if f := &r.fields[i]; f.HasCategoryLabels() && names[f.Name+LabelSuffix] {
			return herb.Invalidf("%q adds the category labels of %q as %q, which is a field of its own; leave one of them out "+
				"with %q, or leave out %q", ParamLabels, f.Name, f.Name+LabelSuffix, ParamFields, ParamLabels)
		}
	}
	return nil
}

// positions returns the positions of the fields to return.
func (r *Request) positions() []int {
	if r.Selected != nil {
		return r.Selected
	}
	all := make([]int, len(r.fields))
	for i := range all {
		all[i] = i
	}
	return all
}

// labelMember is the member of a record that has the category labels of a field.
type labelMember struct {
	categories text.Categories // without labels: the field has no such member
	start      []byte          // `,"name":`
}

// labelMembers returns the members that the request adds, by the position of their field; nil if it
// adds none.
func (r *Request) labelMembers() []labelMember {
	if !r.Labels {
		return nil
	}
	members := make([]labelMember, len(r.fields))
	for _, i := range r.positions() {
		f := &r.fields[i]
		members[i] = labelMember{text.NewCategories(f),
			append(herb.AppendJSONString([]byte{','}, f.Name+LabelSuffix), ':')}
	}
	return members
}

// LabelBytes returns how many bytes the labels add to a record at most.
func (r *Request) LabelBytes() (size int) {
	if !r.Labels {
		return 0
	}
	for _, i := range r.positions() {
		longest := 0
		for _, c := range r.fields[i].Categories {
			longest = max(longest, len(herb.AppendJSONString(nil, c.Label)))
		}
		size += longest + len(herb.AppendJSONString(nil, r.fields[i].Name+LabelSuffix)) + len(`,:`)
	}
	return size
}
