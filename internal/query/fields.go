package query

import (
	"slices"
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// parseFields parses the value of ParamFields. Positions are nil if all fields are selected in
// their order.
func parseFields(value string, fields []herb.Field) (selected []int, err error) {
	parts := []string{value} // a field whose name contains a comma can only be given alone
	if herb.FieldIndex(fields, value) < 0 {
		parts = strings.Split(value, ",")
	}
	for _, name := range parts {
		i, err := resolveField(fields, name, fieldUse{unknown: "field %q in " + strconv.Quote(ParamFields),
			choices: "fields"})
		if err != nil {
			return nil, err
		}
		if slices.Contains(selected, i) {
			return nil, herb.Invalidf("field %q is given more than once in %q; give it once", name, ParamFields)
		}
		selected = append(selected, i)
	}
	if len(selected) == len(fields) && slices.IsSorted(selected) {
		return nil, nil
	}
	return selected, nil
}

// fieldUse describes which fields a parameter allows, and how errors name them.
type fieldUse struct {
	allows     func(herb.Field) bool // nil if it allows all fields
	unknown    string                // follows "unknown" in an error; contains %q for the name
	disallowed string                // follows the name of a field that is not allowed, as in "is not sortable"
	choices    string                // precedes the list of allowed fields, as in "sortable fields"
}

// resolveField returns the position of the field with a name, which its use must allow.
func resolveField(fields []herb.Field, name string, use fieldUse) (int, error) {
	i := herb.FieldIndex(fields, name)
	if i >= 0 && (use.allows == nil || use.allows(fields[i])) {
		return i, nil
	}
	choices := fieldNames(fields, use.allows)
	if i >= 0 {
		return 0, herb.Invalidf("field %q %s; %s: %s", name, use.disallowed, use.choices, joinNames(choices))
	}
	return 0, herb.Invalidf("unknown "+use.unknown+"%s %s: %s", clip(name),
		text.Suggestion(clip(name), choices), use.choices, joinNames(choices))
}

// Fields returns the fields of the records that the request returns, in order.
func (r *Request) Fields() []herb.Field {
	if r.Selected == nil && !r.Labels {
		return r.fields
	}
	fields := make([]herb.Field, 0, len(r.Selected))
	for _, i := range r.positions() {
		f := &r.fields[i]
		fields = append(fields, *f)
		if r.Labels && f.HasCategoryLabels() {
			fields = append(fields, herb.Field{Name: f.Name + LabelSuffix, Type: herb.TypeText})
		}
	}
	return fields
}
