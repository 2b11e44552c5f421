package query

import (
	"bytes"
	"errors"
	"io"
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/typed"
)

// ParseTyped returns the value of ParamTyped, which is false if it is not given.
func ParseTyped(ps Params) (bool, error) {
	p := Param{ParamTyped, ps.Get(ParamTyped)}
	if p.Value == "" {
		return false, nil
	}
	return p.Value == "true", checkChoice(p, "true", "false")
}

// ErrTyped returns the error of a request with ParamTyped for a format that has no values with
// types.
func ErrTyped(format string) error {
	return herb.Invalidf("%q applies to records in JSON, NDJSON, GeoJSON and CSV and to groups in JSON; leave it out "+
		"for %s", ParamTyped, format)
}

// Types returns the types of the values that the request returns; nil if they are texts as written.
func (r *Request) Types(source interface {
	Types() ([]typed.Column, error)
}) ([]typed.Column, error) {
	if !r.Typed {
		return nil, nil
	}
	types, err := source.Types()
	if err == nil && len(types) != len(r.fields) {
		err = errors.New("types of a dataset differ from its fields")
	}
	return types, err
}

// Selector renders records with the selected fields of a request, as texts or as typed JSON. It
// copies no texts, so that large records need no memory. It is used by one goroutine at a time.
type Selector struct {
	request   *Request
	types     []typed.Column // nil: values are texts as written
	texts     bool           // typed values are texts
	positions []int          // of the fields to return
	labels    []labelMember  // by field; nil: none
	members   [][]byte       // of the last record; "name":"value"
	literal   []byte         // of the last typed value
}

// NewSelector returns a selector for the request, or nil, which returns records unchanged. types is
// the result of Types.
func (r *Request) NewSelector(types []typed.Column) *Selector {
	if r.Selected == nil && types == nil && !r.Labels {
		return nil
	}
	return &Selector{request: r, types: types, positions: r.positions(), labels: r.labelMembers()}
}

// Size returns the size of a record as Write writes it.
func (s *Selector) Size(record []byte) (int, error) {
	if s == nil {
		return len(record), nil
	}
	var size byteCounter
	err := s.Write(&size, record)
	return int(size), err
}

// byteCounter is an io.Writer that counts bytes.
type byteCounter int

// Write implements io.Writer.
func (c *byteCounter) Write(p []byte) (int, error) {
	*c += byteCounter(len(p))
	return len(p), nil
}

// Write writes a record with the selected fields only, and their category labels if the request
// asks for them. Members whose values are texts are written unchanged.
func (s *Selector) Write(out io.Writer, record []byte) (err error) {
	if s == nil {
		_, err := out.Write(record)
		return err
	}
	s.members, err = herb.AppendMembers(s.members[:0], record, len(s.request.fields))
	if err != nil {
		return err
	}
	separator := []byte{'{'}
	for _, position := range s.positions {
		if _, err := out.Write(separator); err != nil {
			return err
		}
		if err := s.writeMember(out, position); err != nil {
			return err
		}
		if err := s.writeLabel(out, position); err != nil {
			return err
		}
		separator[0] = ','
	}
	separator[0] = '}'
	_, err = out.Write(separator)
	return err
}

func (s *Selector) writeMember(out io.Writer, position int) error {
	member := s.members[position]
	value := member
	if s.types != nil {
		value = herb.MemberValue(member)
		if _, err := out.Write(member[:len(member)-len(value)]); err != nil {
			return err
		}
		var err error
		value, err = s.typedValue(position, member)
		if err != nil {
			return err
		}
	}
	_, err := out.Write(value)
	return err
}

// writeLabel writes the member with the category label of a value, which is empty if it has none.
func (s *Selector) writeLabel(out io.Writer, position int) error {
	if s.labels == nil || !s.labels[position].categories.HasLabels() {
		return nil
	}
	value, err := herb.MemberText(s.members[position])
	if err != nil {
		return err
	}
	member := &s.labels[position]
	_, err = out.Write(herb.AppendJSONString(slices.Clone(member.start), member.categories.Label(value)))
	return err
}

// typedValue returns the value of a member as typed JSON. The result is valid until the next call.
func (s *Selector) typedValue(position int, member []byte) ([]byte, error) {
	field, column := &s.request.fields[position], s.types[position]
	if encoded := herb.MemberValue(member); column.Kind == typed.Text && !field.Type.IsScalar() &&
		len(encoded) > len(`""`) {
		return encoded, nil // may be large
	}
	value, err := herb.MemberText(member)
	if err != nil {
		return nil, err
	}
	s.literal = column.AppendJSON(s.literal[:0], field, value)
	switch {
	case !s.texts || s.literal[0] == '"':
		return s.literal, nil
	case string(s.literal) == "null":
		return []byte(`""`), nil
	}
	return herb.AppendJSONString(nil, string(s.literal)), nil
}

// SelectStream returns the stream as a selector for the request renders it. types is the result of
// Types.
func (r *Request) SelectStream(s Stream, types []typed.Column) Stream {
	return r.selectStream(s, types, false)
}

// SelectTexts returns a stream like SelectStream whose typed values are texts in the notation of
// their literals: 1.5, true, an array, and an empty text for a missing value.
func (r *Request) SelectTexts(s Stream, types []typed.Column) Stream {
	return r.selectStream(s, types, true)
}

func (r *Request) selectStream(s Stream, types []typed.Column, texts bool) Stream {
	if r.Selected == nil && types == nil && !r.Labels {
		return s
	}
	if types != nil {
		s.Longest = 0 // lists are longer as arrays
	} else if s.Longest > 0 {
		s.Longest += r.LabelBytes()
	}
	return Stream{Total: s.Total, Longest: s.Longest, Records: func(yield func([]byte, error) bool) {
		var buf bytes.Buffer
		selector := r.NewSelector(types)
		selector.texts = texts
		for record, err := range s.Records {
			buf.Reset()
			if err == nil {
				err = selector.Write(&buf, record)
			}
			if !yield(buf.Bytes(), err) || err != nil {
				return
			}
		}
	}}
}
