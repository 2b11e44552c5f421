package query

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// parseFields parses the value of ParamFields. Positions are nil if all fields are selected in their order.
func parseFields(value string, fields []herb.Field) (selected []int, err error) {
	parts := []string{value} // a field whose name contains a comma can only be given alone
	if herb.FieldIndex(fields, value) < 0 {
		parts = strings.Split(value, ",")
	}
	for _, name := range parts {
		i, err := resolveField(fields, name, fieldUse{unknown: "field %q in " + strconv.Quote(ParamFields), choices: "fields"})
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
	if r.Selected == nil {
		return r.fields
	}
	fields := make([]herb.Field, len(r.Selected))
	for i, position := range r.Selected {
		fields[i] = r.fields[position]
	}
	return fields
}

// AppendSelected appends a record with the selected fields only. Members are copied unchanged.
func (r *Request) AppendSelected(dst, record []byte) ([]byte, error) {
	members := make([][]byte, 0, len(r.fields))
	for rest := record; len(rest) > 1; {
		end := stringEnd(rest, stringEnd(rest, 1)+1) // the name after { or , and the value after :
		if end <= 0 {
			return nil, errors.New("record is not a flat object of strings")
		}
		members = append(members, rest[1:end])
		rest = rest[end:]
	}
	if len(members) != len(r.fields) {
		return nil, errors.New("members of a record differ from its fields")
	}
	dst = append(dst, '{')
	for i, position := range r.Selected {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, members[position]...)
	}
	return append(dst, '}'), nil
}

// stringEnd returns the index after the JSON string that begins at an index of b, or -1.
func stringEnd(b []byte, at int) int {
	if at <= 0 || at >= len(b) || b[at] != '"' {
		return -1
	}
	for at++; at < len(b); at += 2 { // skips what a backslash escapes
		i := bytes.IndexAny(b[at:], `"\`)
		if i < 0 {
			return -1
		}
		if at += i; b[at] == '"' {
			return at + 1
		}
	}
	return -1
}

// SelectRecords returns the records with the selected fields only.
func (r *Request) SelectRecords(records [][]byte) ([][]byte, error) {
	if r.Selected == nil {
		return records, nil
	}
	selected := make([][]byte, len(records))
	for i, record := range records {
		var err error
		if selected[i], err = r.AppendSelected(nil, record); err != nil {
			return nil, err
		}
	}
	return selected, nil
}

// SelectStream returns the stream with the selected fields only.
func (r *Request) SelectStream(s Stream) Stream {
	if r.Selected == nil {
		return s
	}
	return Stream{Total: s.Total, Records: func(yield func([]byte, error) bool) {
		var buf []byte
		for record, err := range s.Records {
			if err == nil {
				buf, err = r.AppendSelected(buf[:0], record)
			}
			if !yield(buf, err) || err != nil {
				return
			}
		}
	}}
}
