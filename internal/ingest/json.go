package ingest

import (
	"fmt"
	"io"
	"strconv"

	"herbarium/internal/herb"
)

// jsonReader reads flat objects from an array or from lines. It is stricter than encoding/json, which lets a repeated
// member, invalid UTF-8 and half a surrogate pair pass, and it keeps numbers as they are written.
type jsonReader struct {
	win    *window
	array  bool
	ended  bool
	rec    []byte // what is in the window
	pos    int    // in rec
	record int    // number of the record being read, from 1
	line   int

	names  []string       // of the members seen so far, in order of appearance
	index  map[string]int // of those names
	spans  []span         // value of each member in this record
	seenIn []int          // the record in which each member was seen last
	cells  [][]byte
}

// newJSONReader reads up to the first record.
func newJSONReader(src io.Reader, limit int) (*jsonReader, error) {
	j := &jsonReader{win: newWindow(src, limit), line: 1, index: map[string]int{}}
	if err := j.win.skipBOM(); err != nil {
		return nil, err
	}
	j.rec = j.win.bytes()
	c, ok := j.peekToken()
	switch {
	case j.win.failed != nil:
		return nil, j.failure()
	case !ok:
		return nil, herb.Invalidf("the file is empty; write an array of objects, or one object per line")
	case c == '[':
		j.array = true
		j.pos++
	case c != '{':
		return nil, herb.Invalidf("line %d: the file starts with %s; "+
			"write an array of objects ([…]), or one object per line ({…})", j.line, describe(c))
	}
	return j, nil
}

// columns implements rowReader.
func (j *jsonReader) columns() []string { return j.names }

// position implements rowReader.
func (j *jsonReader) position() string { return fmt.Sprintf("record %d, line %d", j.record, j.line) }

// next implements rowReader.
func (j *jsonReader) next() ([][]byte, error) {
	if j.ended {
		return nil, io.EOF
	}
	j.begin()
	more, err := j.separator()
	switch {
	case err != nil:
		return nil, err
	case !more:
		j.ended = true
		return nil, io.EOF
	}
	j.begin()
	if err := j.object(); err != nil {
		return nil, err
	}
	j.cells = j.cells[:0]
	for i, s := range j.spans {
		if j.seenIn[i] != j.record {
			s = span{}
		}
		j.cells = append(j.cells, j.rec[s.start:s.end])
	}
	return j.cells, nil
}

// separator reads what stands between two records. It returns false behind the last one.
func (j *jsonReader) separator() (more bool, err error) {
	if !j.array {
		return j.newLine()
	}
	c, ok := j.peekToken()
	switch {
	case ok && c == ']':
		j.pos++
		if _, trailing := j.peekToken(); trailing {
			return false, herb.Invalidf("line %d: text follows the end of the array; remove it", j.line)
		}
		return false, j.failureOrNil()
	case ok && j.record > 0 && c == ',':
		j.pos++
		c, ok = j.peekToken()
	case ok && j.record > 0:
		return false, j.errorf("%s follows the object; write a comma between objects and ] after the last", describe(c))
	}
	if !ok {
		return false, j.cutShort("the array is not closed; end it with ]")
	}
	j.record++
	if c != '{' {
		return false, j.errorf("there is %s where an object should be; each record must be an object of plain values", describe(c))
	}
	return true, nil
}

// newLine is separator for a file with one object per line.
func (j *jsonReader) newLine() (more bool, err error) {
	before := j.line
	c, ok := j.peekToken()
	if !ok {
		return false, j.failureOrNil()
	}
	if j.record > 0 && j.line == before {
		return false, j.errorf("%s follows the object; write each object on a line of its own", describe(c))
	}
	j.record++
	if c != '{' {
		return false, j.errorf("there is %s where an object should be; write one object per line", describe(c))
	}
	return true, nil
}

// begin lets the window start at the current position.
func (j *jsonReader) begin() {
	j.win.advance(j.pos)
	j.rec, j.pos = j.win.bytes(), 0
}

// object reads the record at the current position.
func (j *jsonReader) object() error {
	j.pos++
	if c, ok := j.peekToken(); ok && c == '}' {
		j.pos++
		return nil
	}
	for {
		c, ok := j.peekToken()
		switch {
		case !ok:
			return j.cutShort("the object is not closed; end it with }")
		case c != '"':
			return j.errorf(`there is %s where the name of a member should be; write it in quotes`, describe(c))
		}
		column, err := j.member()
		if err != nil {
			return err
		}
		if c, ok = j.peekToken(); !ok || c != ':' {
			return j.cutShort("a colon is missing after the name %q", clip(j.names[column]))
		}
		j.pos++
		if j.spans[column], err = j.value(column); err != nil {
			return err
		}
		c, ok = j.peekToken()
		switch {
		case ok && c == ',':
			j.pos++
		case ok && c == '}':
			j.pos++
			return nil
		case ok:
			return j.errorf("%s follows the value of %q; write a comma between members and } after the last",
				describe(c), clip(j.names[column]))
		default:
			return j.cutShort("the object is not closed; end it with }")
		}
	}
}

// member reads the name of a member and returns its column.
func (j *jsonReader) member() (int, error) {
	s, err := j.str()
	if err != nil {
		return 0, err
	}
	name := j.rec[s.start:s.end]
	column, known := j.index[string(name)]
	if !known {
		if len(j.names) == MaxColumns {
			return 0, j.errorf("the member %q is one too many; the records together can have %d different ones",
				clip(string(name)), MaxColumns)
		}
		column = len(j.names)
		j.index[string(name)] = column
		j.names = append(j.names, string(name))
		j.spans = append(j.spans, span{})
		j.seenIn = append(j.seenIn, 0)
	}
	if j.seenIn[column] == j.record {
		return 0, j.errorf("the member %q occurs twice; give each member once", clip(string(name)))
	}
	j.seenIn[column] = j.record
	return column, nil
}

// value reads the value of a member. That of null is empty.
func (j *jsonReader) value(column int) (span, error) {
	c, ok := j.peekToken()
	switch {
	case !ok:
		return span{}, j.cutShort("the member %q has no value", clip(j.names[column]))
	case c == '"':
		return j.str()
	case c == '{' || c == '[':
		return span{}, j.errorf("the member %q holds %s; only text, numbers, true, false and null can be published, "+
			"so write its parts as members of their own", clip(j.names[column]), describe(c))
	}
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
	case "null":
		return span{}, nil
	case "true", "false":
		return s, nil
	case "":
		return s, j.errorf("there is %s where the value of %q should be", describe(c), clip(j.names[column]))
	default:
		if !isJSONNumber(literal) {
			return s, j.errorf("%q, the value of %q, is no JSON value; put text in quotes and write numbers like -3 or 12.50",
				clip(string(literal)), clip(j.names[column]))
		}
		return s, nil
	}
}

// peekToken passes over blanks and returns the next byte, false at the end of the file.
func (j *jsonReader) peekToken() (byte, bool) {
	for {
		c, ok := j.peek()
		switch {
		case ok && c == '\n':
			j.line++
		case ok && (c == ' ' || c == '\t' || c == '\r'):
		default:
			return c, ok
		}
		j.pos++
	}
}

// peek returns the next byte, false at the end of the file.
func (j *jsonReader) peek() (byte, bool) {
	if j.pos == len(j.rec) {
		ok := j.win.more()
		j.rec = j.win.bytes()
		if !ok {
			return 0, false
		}
	}
	return j.rec[j.pos], true
}

func (j *jsonReader) errorf(format string, args ...any) error {
	return herb.Invalidf("%s: %s", j.position(), fmt.Sprintf(format, args...))
}

// cutShort is for what the end of the file may have interrupted; if the file could not be read on, that is the error.
func (j *jsonReader) cutShort(format string, args ...any) error {
	if err := j.failureOrNil(); err != nil {
		return err
	}
	return j.errorf(format, args...)
}

func (j *jsonReader) failureOrNil() error {
	if j.win.failed != nil {
		return j.failure()
	}
	return nil
}

// failure says why the window did not grow.
func (j *jsonReader) failure() error {
	if j.win.failed == errRecordTooLong {
		return j.errorf("the record is longer than %d bytes, which is the most that one may have", j.win.max)
	}
	return j.win.failed
}

// describe names what begins with a byte, for messages.
func describe(c byte) string {
	switch {
	case c == '{':
		return "an object"
	case c == '[':
		return "an array"
	case c == '"':
		return "text in quotes"
	case c < 0x80:
		return strconv.QuoteRune(rune(c))
	default:
		return fmt.Sprintf("the byte 0x%02X", c)
	}
}

// clip shortens a value for a message.
func clip(s string) string {
	const limit = 60
	n := 0
	for i := range s {
		if n++; n > limit {
			return s[:i] + "…"
		}
	}
	return s
}
