package ingest

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"herbarium/internal/herb"
)

// wrapperDepth is how many objects deep records are looked for.
const wrapperDepth = 3

// findRecords tells where the records of a JSON text are: at is the way to the array that holds them, empty if the text
// is that array, or if its objects are the records. property is the way that a dialect names, with dots. With lines, a
// text of objects is taken for records without a look.
//
// An object that stands alone may be a wrapper. It is one if an array of objects is in it, up to three objects deep; else
// it is a record. Of several arrays one must have a name that records go by. To tell, all of it is read once, and kept
// nowhere.
func findRecords(src io.Reader, property string, lines bool, limit int) (at []string, note string, err error) {
	j := &jsonReader{win: newWindow(src, limit), line: 1, cols: newJSONColumns()}
	c, ok := j.peekToken()
	switch {
	case property != "" && ok && c != '{':
		return nil, "", herb.Invalidf("line %d: the records are to be in the member %q, but the file starts with %s; "+
			"leave out the property", j.line, property, describe(c))
	case !ok || c != '{' || property == "" && lines:
		return nil, "", nil // or an error that the reader will find
	}
	l := layout{j: j, property: property != ""}
	err = l.object(nil, property)
	switch {
	case errors.Is(err, errFound):
		return l.arrays[0].at, "", nil
	case err != nil:
		return nil, "", err
	case l.property:
		return nil, "", herb.Invalidf("there is no member %q that could hold the records; there are: %s", property, someNames(l.members))
	}
	if _, more := j.peekToken(); more || j.win.failed != nil {
		return nil, "", j.failureOrNil() // objects follow each other
	}
	return l.choose()
}

// layout is what is found in an object that may be a wrapper.
type layout struct {
	j        *jsonReader
	property bool // the way is known
	arrays   []foundArray
	members  []string // those that are no objects to look into
}

// foundArray is an array that may hold the records.
type foundArray struct {
	at    []string
	first byte // of its first element; ']' if there is none
}

// errFound ends a search.
var errFound = errors.New("found")

// object looks into the object at the current position. rest is what is left of the property.
func (l *layout) object(at []string, rest string) error {
	j := l.j
	j.pos++
	if c, ok := j.peekToken(); ok && c == '}' {
		j.pos++
		return nil
	}
	for {
		name, err := j.memberName()
		if err != nil {
			return err
		}
		if err := l.member(append(slices.Clone(at), name), rest); err != nil {
			return err
		}
		if more, err := j.behindMember(); err != nil || !more {
			return err
		}
	}
}

// member looks at the value of a member.
func (l *layout) member(at []string, rest string) error {
	j := l.j
	name := at[len(at)-1]
	inner, leads := strings.CutPrefix(rest, name+".")
	c, ok := j.peekToken()
	switch {
	case l.property && rest == name && ok && c == '[':
		l.arrays = []foundArray{{at: at}}
		return errFound
	case l.property && rest == name:
		return j.cutShort("the member %q, which is to hold the records, holds %s; it must be an array", strings.Join(at, "."), describe(c))
	case ok && c == '{' && (l.property && leads || !l.property && len(at) < wrapperDepth):
		return l.object(at, inner)
	case ok && c == '[' && !l.property && len(at) <= wrapperDepth:
		j.pos++
		first, _ := j.peekToken()
		l.arrays = append(l.arrays, foundArray{at, first})
		if first != '{' && first != '[' {
			l.members = append(l.members, strings.Join(at, "."))
		}
		return l.elements()
	}
	if len(l.members) < 100 {
		l.members = append(l.members, strings.Join(at, "."))
	}
	return j.pass(1)
}

// elements passes over the array whose bracket was read.
func (l *layout) elements() error {
	if c, ok := l.j.peekToken(); ok && c == ']' {
		l.j.pos++
		return nil
	}
	for {
		if err := l.j.pass(2); err != nil {
			return err
		}
		if more, err := l.j.behindElement(); err != nil || !more {
			return err
		}
	}
}

// choose decides which of the arrays holds the records.
func (l *layout) choose() (at []string, note string, err error) {
	var tables []foundArray
	objects := false
	for _, a := range l.arrays {
		if a.first == '{' || a.first == '[' || a.first == ']' && a.usual() {
			tables = append(tables, a)
		}
		objects = objects || a.first == '{'
	}
	switch {
	case !objects && len(l.arrays) == 1 && l.arrays[0].first == ']' && len(l.members) == 1:
		return l.arrays[0].at, "", nil // a wrapper of no records
	case !objects:
		return nil, "", nil
	}
	chosen, ok := tables[0], true
	if len(tables) > 1 {
		chosen, ok = onlyUsual(tables)
	}
	var beside []string
	for _, a := range tables {
		if !ok || !slices.Equal(a.at, chosen.at) {
			beside = append(beside, strings.Join(a.at, "."))
		}
	}
	if !ok {
		return nil, "", herb.Invalidf("the records can be in any of %s; name one of them as the property of the dialect", someNames(beside))
	}
	for _, m := range l.members {
		if m != strings.Join(chosen.at, ".") && !slices.Contains(beside, m) {
			beside = append(beside, m)
		}
	}
	if len(beside) > 0 {
		note = fmt.Sprintf("the records are in %q; what is beside them is not published: %s", strings.Join(chosen.at, "."), someNames(beside))
	}
	return chosen.at, note, nil
}

// usual reports whether the array has a name that records go by.
func (a foundArray) usual() bool {
	switch strings.ToLower(a.at[len(a.at)-1]) {
	case "records", "data", "items", "results", "rows", "features", "values", "value", "entries", "list":
		return true
	}
	return false
}

// onlyUsual returns the only one of several arrays that has a name that records go by. One of arrays will not do: what
// its columns are called stands in another, in a way that everybody has of their own.
func onlyUsual(arrays []foundArray) (a foundArray, ok bool) {
	i := slices.IndexFunc(arrays, foundArray.usual)
	if i < 0 || arrays[i].first == '[' || slices.ContainsFunc(arrays[i+1:], foundArray.usual) {
		return foundArray{}, false
	}
	return arrays[i], true
}

// someNames lists names for a message.
func someNames(names []string) string {
	const most = 10
	var quoted []string
	for _, n := range names[:min(len(names), most)] {
		quoted = append(quoted, strconv.Quote(clip(n)))
	}
	if len(names) > most {
		quoted = append(quoted, "…")
	}
	return strings.Join(quoted, ", ")
}
