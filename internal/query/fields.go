package query

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// parseFields parses the value of ParamFields. Positions are nil if all fields are selected in their order.
func parseFields(value string, fields []herb.Field) (selected []int, err error) {
	all := func(herb.Field) bool { return true }
	for _, name := range splitNames(value, fields) {
		i := herb.FieldIndex(fields, name)
		if i < 0 {
			return nil, herb.Invalidf("unknown field %q in %q%s fields: %s", clip(name), ParamFields,
				text.Suggestion(clip(name), names(fields, all)), list(names(fields, all)))
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

// splitNames splits a comma-separated list of field names. A field whose name contains a comma can only be given alone.
func splitNames(value string, fields []herb.Field) []string {
	if herb.FieldIndex(fields, value) >= 0 {
		return []string{value}
	}
	return strings.Split(value, ",")
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
		n := memberLen(rest[1:]) // after { or ,
		if n < 0 {
			return nil, errors.New("a record is not a flat object of strings")
		}
		members = append(members, rest[1:1+n])
		rest = rest[1+n:]
	}
	if len(members) != len(r.fields) {
		return nil, errors.New("a record has other members than its fields")
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

// memberLen returns the length of the member of strings at the start of b, or -1.
func memberLen(b []byte) int {
	name := stringLen(b)
	if name < 0 || name >= len(b) || b[name] != ':' {
		return -1
	}
	value := stringLen(b[name+1:])
	if value < 0 {
		return -1
	}
	return name + 1 + value
}

// stringLen returns the length of the JSON string at the start of b, or -1.
func stringLen(b []byte) int {
	for at := 1; at < len(b); {
		i := bytes.IndexAny(b[at:], `"\`)
		if i < 0 {
			return -1
		}
		if at += i; b[at] == '"' {
			return at + 1
		}
		at += 2
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
