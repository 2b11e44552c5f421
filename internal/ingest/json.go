package ingest

import (
	"fmt"
	"io"
	"strconv"

	"herbarium/internal/herb"
)

// maxDepth is how deep values may be nested.
const maxDepth = 100

// jsonReader reads records from an array, from an array within objects, or from objects that follow each other. It is
// stricter than encoding/json, which lets a repeated member, invalid UTF-8 and half a surrogate pair pass, and it keeps
// numbers as they are written.
type jsonReader struct {
	win    *window
	array  bool     // the records are the elements of an array
	inside int      // the objects that array is in
	kind   byte     // how a record begins: '{', '[', or 0 for one that is a plain value; known from the first
	keys   []string // of records that are arrays
	nodes  []int    // the members that those are
	ended  bool
	rec    []byte // what is in the window
	pos    int    // in rec
	record int    // number of the record being read, from 1
	line   int
	path   []byte // of the member being read
	list   []byte // what an array becomes
	cols   *jsonColumns
	cells  [][]byte
}

// newJSONReader reads up to the first record. at is where the array of records is: the names of the members that lead to
// it, none for a text that is an array or a sequence of objects. keys name the columns of records that are arrays. cols
// are the columns so far, and are added to.
func newJSONReader(src io.Reader, at, keys []string, cols *jsonColumns, limit int) (*jsonReader, error) {
	j := &jsonReader{win: newWindow(src, limit), line: 1, keys: keys, cols: cols}
	c, ok := j.peekToken()
	switch {
	case j.win.failed != nil:
		return nil, j.failure()
	case !ok:
		return nil, herb.Invalidf("the file is empty; write an array of objects, or one object per line")
	case len(at) > 0 && c == '{':
		return j, j.enter(at)
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
func (j *jsonReader) columns() []string { return j.cols.names }

// position implements rowReader.
func (j *jsonReader) position() string {
	if j.record == 0 {
		return fmt.Sprintf("line %d", j.line)
	}
	return fmt.Sprintf("record %d, line %d", j.record, j.line)
}

// next implements rowReader.
func (j *jsonReader) next() ([][]byte, error) {
	for {
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
		j.cols.record++
		switch {
		case j.kind == '{':
			err = j.object(0, 1)
		case j.kind == 0:
			err = j.plainRecord()
		case j.keys == nil:
			if err := j.keyRecord(); err != nil {
				return nil, err
			}
			continue
		default:
			err = j.arrayRecord()
		}
		if err != nil {
			return nil, err
		}
		j.cells = j.cols.appendCells(j.cells[:0], j.rec)
		return j.cells, nil
	}
}

// separator reads what stands between two records. It returns false behind the last one.
func (j *jsonReader) separator() (more bool, err error) {
	if !j.array {
		return j.nextObject()
	}
	c, ok := j.peekToken()
	switch {
	case ok && c == ']':
		j.pos++
		return false, j.leave()
	case ok && j.record > 0 && c == ',':
		j.pos++
		c, ok = j.peekToken()
	case ok && j.record > 0:
		return false, j.errorf("%s follows the record; write a comma between records and ] after the last", describe(c))
	}
	if !ok {
		return false, j.cutShort("the array is not closed; end it with ]")
	}
	j.record++
	kind := byte(0)
	if c == '{' || c == '[' {
		kind = c
	}
	if j.record == 1 && c != ',' {
		j.kind = kind
	} else if c == ',' || c == ']' || kind != j.kind {
		return false, j.errorf("there is %s where %s should be; all records must be written alike", describe(c), describeKind(j.kind))
	}
	return true, nil
}

// nextObject is separator for objects that follow each other.
func (j *jsonReader) nextObject() (more bool, err error) {
	c, ok := j.peekToken()
	if !ok {
		return false, j.failureOrNil()
	}
	if c != '{' {
		if j.record > 0 {
			return false, j.errorf("%s follows the object; write one object per line and nothing between them", describe(c))
		}
		return false, j.errorf("there is %s where an object should be; write one object per line", describe(c))
	}
	j.record++
	j.kind = '{'
	return true, nil
}

// enter reads up to the first element of the array that the members named lead to.
func (j *jsonReader) enter(at []string) error {
	for i, name := range at {
		j.pos++ // the brace
		for {
			got, err := j.memberName()
			if err != nil {
				return err
			}
			if got == name {
				break
			}
			if err := j.pass(1); err != nil {
				return err
			}
			if more, err := j.behindMember(); err != nil {
				return err
			} else if !more {
				return j.errorf("there is no member %q", clip(name))
			}
		}
		j.inside++
		want := byte('{')
		if i == len(at)-1 {
			want = '['
		}
		if c, ok := j.peekToken(); !ok || c != want {
			return j.cutShort("the member %q does not hold %s", clip(name), describe(want))
		}
		j.begin()
	}
	j.array = true
	j.pos++ // the bracket
	return nil
}

// leave reads what follows the array of records.
func (j *jsonReader) leave() error {
	for ; j.inside > 0; j.inside-- {
		for {
			more, err := j.behindMember()
			if err != nil {
				return err
			}
			if !more {
				break
			}
			if _, err := j.memberName(); err != nil {
				return err
			}
			if err := j.pass(1); err != nil {
				return err
			}
		}
	}
	if _, trailing := j.peekToken(); trailing {
		return herb.Invalidf("line %d: text follows the end of the records; remove it", j.line)
	}
	return j.failureOrNil()
}

// begin lets the window start at the current position.
func (j *jsonReader) begin() {
	j.win.advance(j.pos)
	j.rec, j.pos = j.win.bytes(), 0
}

// memberName reads the name of a member and the colon behind it.
func (j *jsonReader) memberName() (string, error) {
	s, err := j.name()
	if err != nil {
		return "", err
	}
	j.path = append(j.path[:0], j.rec[s.start:s.end]...)
	return string(j.path), j.colon()
}

// name reads the name of a member.
func (j *jsonReader) name() (span, error) {
	c, ok := j.peekToken()
	switch {
	case !ok:
		return span{}, j.cutShort("the object is not closed; end it with }")
	case c != '"':
		return span{}, j.errorf(`there is %s where the name of a member should be; write it in quotes`, describe(c))
	}
	return j.str()
}

// colon reads what follows the name of the member at path.
func (j *jsonReader) colon() error {
	if c, ok := j.peekToken(); !ok || c != ':' {
		return j.cutShort("a colon is missing after the name %q", j.shown())
	}
	j.pos++
	return nil
}

// behindMember reads what follows the value of the member at path: a comma, or the end of the object, after which it
// returns false.
func (j *jsonReader) behindMember() (more bool, err error) {
	c, ok := j.peekToken()
	switch {
	case ok && c == ',':
		j.pos++
		return true, nil
	case ok && c == '}':
		j.pos++
		return false, nil
	case ok:
		return false, j.errorf("%s follows the value of %q; write a comma between members and } after the last", describe(c), j.shown())
	default:
		return false, j.cutShort("the object is not closed; end it with }")
	}
}

// shown is the name of the member at path, for messages.
func (j *jsonReader) shown() string { return clip(shownPath(j.path)) }

// peekToken passes over blanks and returns the next byte, false at the end of the text.
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

// peek returns the next byte, false at the end of the text.
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

// describeKind names what records are, by their first byte.
func describeKind(kind byte) string {
	if kind == 0 {
		return "a plain value"
	}
	return describe(kind)
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
