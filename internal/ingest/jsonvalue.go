package ingest

import (
	"bytes"
	"strconv"
)

// object reads the object at the current position into the columns of the record. Objects in it are flattened: their
// members are columns named after the way to them. prefix is the length of that way in path.
func (j *jsonReader) object(prefix, depth int) error {
	if depth > maxDepth {
		return j.errorf("values are nested more than %d deep; write the inner ones as text", maxDepth)
	}
	j.pos++
	if c, ok := j.peekToken(); ok && c == '}' {
		j.pos++
		return nil
	}
	for {
		s, err := j.name()
		if err != nil {
			return err
		}
		j.path = j.path[:prefix]
		if depth > 1 {
			j.path = append(j.path, pathSeparator)
		}
		j.path = append(j.path, j.rec[s.start:s.end]...)
		if err := j.member(depth); err != nil {
			return err
		}
		if more, err := j.behindMember(); err != nil || !more {
			return err
		}
	}
}

// member reads the colon and the value of the member at path.
func (j *jsonReader) member(depth int) error {
	if err := j.colon(); err != nil {
		return err
	}
	node, repeated := j.cols.node(j.path)
	if repeated {
		return j.errorf("the member %q occurs twice; give each member once", j.shown())
	}
	if err := j.checkNames(); err != nil {
		return err
	}
	if c, ok := j.peekToken(); ok && c == '{' {
		size, filled := len(j.path), j.pos
		if err := j.object(size, depth+1); err != nil {
			return err
		}
		j.path = j.path[:size]
		if !emptyObject(j.rec[filled:j.pos]) {
			return nil
		}
		return j.set(node, span{})
	}
	s, err := j.value(depth)
	if err != nil {
		return err
	}
	return j.set(node, s)
}

// checkNames refuses names that are too long to stand in every record.
func (j *jsonReader) checkNames() error {
	switch {
	case len(j.path) > MaxName:
		return j.errorf("the name of the member %q has %d bytes; at most %d are possible", j.shown(), len(j.path), MaxName)
	case j.cols.bytes > MaxNames:
		return j.errorf("the names of the members of all records have more than %d bytes together; that is the most that is possible", MaxNames)
	}
	return nil
}

func emptyObject(b []byte) bool { return len(bytes.TrimLeft(b[1:], " \t\r\n")) == 1 }

// set gives the record a value.
func (j *jsonReader) set(node int, s span) error {
	if !j.cols.set(node, j.path, s) {
		return j.errorf("the member %q is one too many; the records together can have %d different ones", j.shown(), MaxColumns)
	}
	return nil
}

// value reads a value that is no object to be flattened. That of null is empty.
func (j *jsonReader) value(depth int) (span, error) {
	c, ok := j.peekToken()
	switch {
	case !ok:
		return span{}, j.cutShort("the member %q has no value", j.shown())
	case c == '"':
		return j.str()
	case c == '[' || c == '{':
		return j.nested(depth)
	}
	s, err := j.literal()
	if string(j.rec[s.start:s.end]) == "null" {
		s = span{}
	}
	return s, err
}

// literal reads a number, true, false or null.
func (j *jsonReader) literal() (span, error) {
	s := span{start: j.pos}
	for {
		c, ok := j.peek()
		if !ok || !isLiteral(c) {
			break
		}
		j.pos++
	}
	s.end = j.pos
	switch literal := j.rec[s.start:s.end]; string(literal) {
	case "null", "true", "false":
		return s, nil
	case "":
		c, _ := j.peek()
		return s, j.cutShort("there is %s where the value of %q should be", describe(c), j.shown())
	default:
		if !isJSONNumber(literal) {
			return s, j.errorf("%q, the value of %q, is no JSON value; put text in quotes and write numbers like -3 or 12.50",
				clip(string(literal)), j.shown())
		}
		return s, nil
	}
}

// nested reads an array, or an object that is not flattened, and returns the text that it becomes. That is written over
// it, for it is never longer: a list of the elements if they are plain values and each keeps its meaning in one, else the
// JSON itself without blanks.
func (j *jsonReader) nested(depth int) (span, error) {
	start := j.pos
	if err := j.passOver(depth+1, false); err != nil {
		return span{}, err
	}
	raw := j.rec[start:j.pos]
	out, ok, err := j.plainList(raw)
	switch {
	case err != nil:
		return span{}, err
	case !ok:
		out = compactJSON(j.list[:0], raw)
	}
	j.list = out
	return span{start: start, end: start + copy(raw, out)}, nil
}

// plainList writes the elements of an array with commas between them. It returns false if that cannot be done without
// losing what the elements are: one with a comma would be two, one that is empty or null would be either.
func (j *jsonReader) plainList(raw []byte) (out []byte, ok bool, err error) {
	if raw[0] != '[' {
		return nil, false, nil
	}
	out = j.list[:0]
	for i, first := 1, true; ; {
		for isJSONBlank(raw[i]) || raw[i] == ',' {
			i++
		}
		if raw[i] == ']' {
			return out, true, nil
		}
		if !first {
			out = append(out, ',')
		}
		first = false
		from := len(out)
		end := i
		switch raw[i] {
		case '{', '[':
			return nil, false, nil
		case '"':
			end = stringEnd(raw, i)
			if out, err = j.appendText(out, raw[i+1:end-1]); err != nil {
				return nil, false, err
			}
		default:
			for isLiteral(raw[end]) {
				end++
			}
			if string(raw[i:end]) != "null" {
				out = append(out, raw[i:end]...)
			}
		}
		if !standsInList(out[from:]) {
			return nil, false, nil
		}
		i = end
	}
}

// standsInList reports whether an element keeps its meaning in a comma-separated list.
func standsInList(element []byte) bool {
	return len(element) > 0 && bytes.IndexByte(element, ',') < 0
}

// compactJSON appends JSON without the blanks between its tokens.
func compactJSON(out, raw []byte) []byte {
	for i := 0; i < len(raw); {
		switch {
		case raw[i] == '"':
			end := stringEnd(raw, i)
			out = append(out, raw[i:end]...)
			i = end
		case isJSONBlank(raw[i]):
			i++
		default:
			out = append(out, raw[i])
			i++
		}
	}
	return out
}

// stringEnd returns the position behind the text in quotes that begins at i.
func stringEnd(raw []byte, i int) int {
	for i++; raw[i] != '"'; i++ {
		if raw[i] == '\\' {
			i++
		}
	}
	return i + 1
}

func isJSONBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// pass passes over the value at the current position, whatever its size, and checks it.
func (j *jsonReader) pass(depth int) error { return j.passOver(depth, true) }

// passOver checks the value at the current position. With forget the window does not keep it.
func (j *jsonReader) passOver(depth int, forget bool) error {
	if depth > maxDepth {
		return j.errorf("values are nested more than %d deep; write the inner ones as text", maxDepth)
	}
	if forget {
		j.begin()
	}
	c, ok := j.peekToken()
	switch {
	case !ok:
		return j.cutShort("a value of %q is missing", j.shown())
	case ok && c == '"':
		return j.checkText()
	case ok && c == '{':
		j.pos++
		if c, ok := j.peekToken(); ok && c == '}' {
			j.pos++
			return nil
		}
		for {
			if c, ok := j.peekToken(); !ok || c != '"' {
				_, err := j.name()
				return err
			}
			if err := j.checkText(); err != nil {
				return err
			}
			if c, ok := j.peekToken(); !ok || c != ':' {
				return j.cutShort("a colon is missing after the name of a member within %q", j.shown())
			}
			j.pos++
			if err := j.passOver(depth+1, forget); err != nil {
				return err
			}
			if more, err := j.behindMember(); err != nil || !more {
				return err
			}
		}
	case ok && c == '[':
		j.pos++
		if c, ok := j.peekToken(); ok && c == ']' {
			j.pos++
			return nil
		}
		for {
			if err := j.passOver(depth+1, forget); err != nil {
				return err
			}
			if more, err := j.behindElement(); err != nil || !more {
				return err
			}
		}
	default:
		_, err := j.literal()
		return err
	}
}

// behindElement reads what follows an element: a comma, or the end of the array, after which it returns false.
func (j *jsonReader) behindElement() (more bool, err error) {
	c, ok := j.peekToken()
	switch {
	case ok && c == ',':
		j.pos++
		return true, nil
	case ok && c == ']':
		j.pos++
		return false, nil
	case ok:
		return false, j.errorf("%s follows an element of an array; write a comma between elements and ] after the last", describe(c))
	default:
		return false, j.cutShort("an array is not closed; end it with ]")
	}
}

// plainRecord reads a record that is a plain value: the only column is called value.
func (j *jsonReader) plainRecord() error {
	j.path = append(j.path[:0], "value"...)
	s, err := j.value(1)
	if err != nil {
		return err
	}
	node, _ := j.cols.node(j.path)
	return j.set(node, s)
}

// keyRecord reads the array that names the columns of those behind it.
func (j *jsonReader) keyRecord() error {
	j.keys = []string{}
	err := j.elements(func(i int, s span) error {
		j.keys = append(j.keys, string(j.rec[s.start:s.end]))
		if len(j.keys) > MaxColumns {
			return j.errorf("there are too many columns; at most %d are possible", MaxColumns)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := checkNames(j.keys); err != nil {
		return err
	}
	j.nameKeys()
	return nil
}

// nameKeys takes up the columns of records that are arrays.
func (j *jsonReader) nameKeys() {
	for _, name := range nameColumns(j.keys) {
		node, _ := j.cols.node([]byte(name))
		j.cols.set(node, []byte(name), span{})
		j.nodes = append(j.nodes, node)
	}
	j.cols.record++
}

// arrayRecord reads a record that is an array.
func (j *jsonReader) arrayRecord() error {
	if j.nodes == nil {
		j.nameKeys()
	}
	return j.elements(func(i int, s span) error {
		if i < len(j.nodes) {
			return j.set(j.nodes[i], s)
		}
		if s.start < s.end {
			return j.errorf("the array has more than the %d elements that have names", len(j.keys))
		}
		return nil
	})
}

// elements reads the array at the current position and hands over its values.
func (j *jsonReader) elements(take func(i int, s span) error) error {
	j.pos++
	if c, ok := j.peekToken(); ok && c == ']' {
		j.pos++
		return nil
	}
	for i := 0; ; i++ {
		j.path = strconv.AppendInt(append(j.path[:0], "element "...), int64(i+1), 10)
		s, err := j.value(1)
		if err != nil {
			return err
		}
		if err := take(i, s); err != nil {
			return err
		}
		if more, err := j.behindElement(); err != nil || !more {
			return err
		}
	}
}
