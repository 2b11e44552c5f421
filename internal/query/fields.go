package query

import (
	"bytes"
	"errors"
	"io"
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

// Selector selects the fields of a request from records. It copies no values, so that large records
// need no memory. It is used by one goroutine at a time.
type Selector struct {
	request *Request
	members [][]byte // of the last record; "name":"value"
}

// NewSelector returns a selector of the fields of the request, or nil, which selects all fields.
func (r *Request) NewSelector() *Selector {
	if r.Selected == nil {
		return nil
	}
	return &Selector{request: r}
}

// Size returns the size of a record with the selected fields only.
func (s *Selector) Size(record []byte) (int, error) {
	if s == nil {
		return len(record), nil
	}
	if err := s.split(record); err != nil {
		return 0, err
	}
	size := len("{}") + max(0, len(s.request.Selected)-1)
	for _, position := range s.request.Selected {
		size += len(s.members[position])
	}
	return size, nil
}

// Write writes a record with the selected fields only. Members are written unchanged.
func (s *Selector) Write(out io.Writer, record []byte) error {
	if s == nil {
		_, err := out.Write(record)
		return err
	}
	err := s.split(record)
	separator := []byte{'{'}
	for _, position := range s.request.Selected {
		if err == nil {
			_, err = out.Write(separator)
		}
		if err == nil {
			_, err = out.Write(s.members[position])
		}
		separator[0] = ','
	}
	if err == nil {
		separator[0] = '}'
		_, err = out.Write(separator)
	}
	return err
}

// split sets the members of a record.
func (s *Selector) split(record []byte) error {
	s.members = s.members[:0]
	for rest := record; len(rest) > 1; {
		end := herb.JSONStringEnd(rest, herb.JSONStringEnd(rest, 1)+1) // the name after { or , and the value after :
		if end <= 0 {
			return errors.New("record is not a flat object of strings")
		}
		s.members = append(s.members, rest[1:end])
		rest = rest[end:]
	}
	if len(s.members) != len(s.request.fields) {
		return errors.New("members of a record differ from its fields")
	}
	return nil
}

// SelectStream returns the stream with the selected fields only.
func (r *Request) SelectStream(s Stream) Stream {
	if r.Selected == nil {
		return s
	}
	return Stream{Total: s.Total, Longest: s.Longest, Records: func(yield func([]byte, error) bool) {
		var buf bytes.Buffer
		selector := r.NewSelector()
		for record, err := range s.Records {
			if buf.Reset(); err == nil {
				err = selector.Write(&buf, record)
			}
			if !yield(buf.Bytes(), err) || err != nil {
				return
			}
		}
	}}
}
