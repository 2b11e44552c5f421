package jsonrows

import (
	"bytes"
	"strconv"

	"herbarium/internal/ingest/rows"
)

// readObject reads the object at the current position into the columns of the record. Objects in it are flattened: the
// names of their columns are paths. prefix is the length of the path of the object in r.path, -1 for the record itself.
func (r *reader) readObject(prefix, depth int) error {
	if err := r.checkDepth(depth); err != nil || r.open('}') {
		return err
	}
	for {
		s, err := r.name(r.text)
		if err != nil {
			return err
		}
		r.path = r.path[:max(prefix, 0)]
		switch {
		case prefix >= 0:
			r.path = append(r.path, pathSeparator)
		case r.feature && depth == 1:
			r.path = append(r.path, featureMember)
		}
		r.path = append(r.path, r.rec[s.start:s.end]...)
		if err := r.readMember(depth); err != nil {
			return err
		}
		if more, err := r.next('}'); err != nil || !more {
			return err
		}
	}
}

// readMember reads the value of the member at r.path.
func (r *reader) readMember(depth int) error {
	n, repeated := r.columns.node(r.path)
	switch {
	case repeated:
		return r.errorf("the member %q occurs twice; give each member once", r.member())
	case len(r.path) > rows.MaxName:
		return r.errorf("the name of the member %q has %d bytes; at most %d are possible", r.member(), len(r.path), rows.MaxName)
	case r.columns.bytes > rows.MaxNames:
		return r.errorf("the names of the members of all records have more than %d bytes, the maximum", rows.MaxNames)
	}
	c, _ := r.peekToken()
	structure := ""
	if r.feature && depth == 1 {
		structure = string(r.path[1:])
	}
	if c == '{' && structure != "geometry" {
		size, start := len(r.path), r.pos
		prefix := size
		if structure == "properties" {
			prefix = -1
		}
		if err := r.readObject(prefix, depth+1); err != nil {
			return err
		}
		r.path = r.path[:size]
		if prefix < 0 || len(bytes.TrimSpace(r.rec[start+1:r.pos-1])) > 0 {
			return nil
		}
		return r.set(n, span{}, 0)
	}
	s, k, err := r.readValue(depth)
	if err != nil || structure == "type" && string(r.rec[s.start:s.end]) == "Feature" || structure == "properties" && s == (span{}) {
		return err
	}
	return r.set(n, s, k)
}

// set sets the value of a member, whose path is r.path, in the record.
func (r *reader) set(n int, s span, k kinds) error {
	node := &r.columns.nodes[n]
	if node.column == 0 {
		if err := r.addColumn(dotted(r.path)); err != nil {
			return err
		}
		node.column = len(r.columns.list)
	}
	r.columns.set(node.column-1, s, k)
	return nil
}

func (r *reader) addColumn(name string) error {
	r.columns.add(name)
	if err := r.budget.Columns(len(r.columns.list)); err != nil {
		return r.errorf("%s; the member %q is one too many", err, rows.Clip(name))
	}
	return nil
}

// readValue reads a value that is not flattened. null is empty and has no kind.
func (r *reader) readValue(depth int) (span, kinds, error) {
	c, ok := r.peekToken()
	switch {
	case !ok:
		return span{}, 0, r.truncated("the member %q has no value", r.member())
	case c == '"':
		s, err := r.text()
		if err != nil || countDigits(r.rec[s.start:s.end]) == s.end-s.start {
			return s, kindText, err
		}
		return s, kindText | kindWord, nil
	case c == '[' || c == '{':
		return r.readNested(depth)
	}
	s, err := r.literal()
	switch {
	case err != nil:
		return s, 0, err
	case c == 'n':
		return span{}, 0, nil
	case c == 't' || c == 'f':
		return s, kindBoolean, nil
	}
	return s, kindNumber, nil
}

// readNested reads an array, or an object that is not flattened, and writes over it the text that it becomes, which is
// never longer: a list of plain values if none of them would change its meaning, else JSON without white space.
func (r *reader) readNested(depth int) (span, kinds, error) {
	start := r.pos
	if err := r.skip(depth+1, false); err != nil {
		return span{}, 0, err
	}
	raw := r.rec[start:r.pos]
	out, ok, err := r.appendList(r.buf[:0], raw)
	k := kindList
	switch {
	case err != nil:
		return span{}, 0, err
	case !ok:
		out, k = appendCompact(r.buf[:0], raw), kindJSON
	case len(out) == 0:
		k = 0
	}
	r.buf = out
	return span{start, start + copy(raw, out)}, k, nil
}

// readPlain reads a record that is a plain value into a column called value.
func (r *reader) readPlain() error {
	r.path = append(r.path[:0], "value"...)
	s, k, err := r.readValue(1)
	if err != nil {
		return err
	}
	if len(r.columns.list) == 0 {
		r.columns.add("value")
	}
	r.columns.set(0, s, k)
	return nil
}

// readArray reads a record that is an array. The first one names the columns if Options.ItemKeys does not and all its
// elements are text; then header is true.
func (r *reader) readArray() (header bool, err error) {
	if r.record == 1 && r.names != nil {
		r.named = true
		for _, name := range r.names {
			if err := r.addColumn(name); err != nil {
				return false, err
			}
		}
	}
	all, more := kindText, !r.open(']')
	for i := 0; more; i++ {
		r.path = strconv.AppendInt(append(r.path[:0], "element "...), int64(i+1), 10)
		s, k, err := r.readValue(1)
		if err == nil {
			err = r.setElement(i, s, k)
		}
		if err == nil {
			more, err = r.next(']')
		}
		if err != nil {
			return false, err
		}
		all &= k
	}
	if r.record > 1 || r.named || all != kindText || len(r.columns.list) == 0 {
		return false, nil
	}
	r.named = true
	for i := range r.columns.list {
		v := &r.columns.values[i]
		r.columns.list[i].Name = string(r.rec[v.start:v.end])
		*v = value{}
	}
	return true, nil
}

// setElement sets the value of an element of a record that is an array.
func (r *reader) setElement(i int, s span, k kinds) error {
	if width := len(r.columns.list); i >= width && r.named {
		if s.start < s.end {
			return r.errorf("the array has more than the %d elements that have names", width)
		}
		return nil
	} else if i >= width {
		if err := r.addColumn("column_" + strconv.Itoa(i+1)); err != nil {
			return err
		}
	}
	r.columns.set(i, s, k)
	return nil
}
