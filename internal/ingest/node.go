package ingest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/charset"
	"herbarium/internal/ingest/file"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/text"
)

// The number of bytes that a descriptor may have. YAML takes many times its size to read.
const (
	maxDescriptor     = 4 << 20
	maxYAMLDescriptor = 1 << 20
)

// object is an object of a descriptor with its members in the order in which they were written. Values are nil, bool,
// string, json.Number, []any and *object.
type object struct {
	names  []string
	values map[string]any
}

func newObject() *object { return &object{values: map[string]any{}} }

// set gives a member a value; a new one comes last.
func (o *object) set(name string, value any) {
	if _, known := o.values[name]; !known {
		o.names = append(o.names, name)
	}
	o.values[name] = value
}

// without returns a copy that lacks some members.
func (o *object) without(names ...string) *object {
	out := newObject()
	for _, n := range o.names {
		if !slices.Contains(names, n) {
			out.set(n, o.values[n])
		}
	}
	return out
}

// appendJSON writes a value of a descriptor as JSON, members in their order.
func appendJSON(b []byte, value any) []byte {
	switch v := value.(type) {
	case *object:
		b = append(b, '{')
		for i, n := range v.names {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(herb.AppendJSONString(b, n), ':')
			b = appendJSON(b, v.values[n])
		}
		return append(b, '}')
	case []any:
		b = append(b, '[')
		for i, item := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendJSON(b, item)
		}
		return append(b, ']')
	case string:
		return herb.AppendJSONString(b, v)
	case json.Number:
		return append(b, v...)
	case bool:
		return strconv.AppendBool(b, v)
	default:
		return append(b, "null"...)
	}
}

// node is a value in a descriptor, with the place where it stands for messages. An absent value is nil, as null is.
type node struct {
	where string // empty: the whole
	value any
}

// parseDescriptor reads a JSON or YAML file, by its extension.
func parseDescriptor(from file.Dir, path string) (node, error) {
	var root node
	info, err := from.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = file.CannotRead(path, file.ErrNotRegular)
	}
	if err != nil {
		return root, err
	}
	f, err := from.Open(path)
	if err != nil {
		return root, err
	}
	defer f.Close()
	limit := int64(maxDescriptor)
	if isYAML(path) {
		limit = maxYAMLDescriptor
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return root, err
	}
	if int64(len(data)) > limit {
		return root, herb.Invalidf("the descriptor is larger than %d bytes; put what is long in it into files beside it", limit)
	}
	data = bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF"))
	if isYAML(path) {
		root.value, err = parseYAML(data)
	} else {
		root.value, err = parseJSON(data)
	}
	return root, err
}

func isYAML(path string) bool {
	ext := strings.ToLower(filepath.Ext(path))
	return ext == ".yaml" || ext == ".yml"
}

// parseJSON refuses what encoding/json lets pass: a member that occurs twice.
func parseJSON(data []byte) (any, error) {
	if err := json.Unmarshal(data, new(json.RawMessage)); err != nil {
		line := 1
		if e, ok := err.(*json.SyntaxError); ok {
			line += charset.CountLines(data[:min(int(e.Offset), len(data))])
		}
		return nil, herb.Invalidf("line %d: not JSON: %v", line, err)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	return decodeJSON(d)
}

// decodeJSON reads the next value of a document that was found valid before.
func decodeJSON(d *json.Decoder) (any, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t {
	case json.Delim('{'):
		o := newObject()
		for d.More() {
			name, err := d.Token()
			if err != nil {
				return nil, err
			}
			if _, twice := o.values[name.(string)]; twice {
				return nil, herb.Invalidf("the member %q occurs twice in one object; give it once", rows.Clip(name.(string)))
			}
			value, err := decodeJSON(d)
			if err != nil {
				return nil, err
			}
			o.set(name.(string), value)
		}
		_, err := d.Token()
		return o, err
	case json.Delim('['):
		list := []any{}
		for d.More() {
			v, err := decodeJSON(d)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err := d.Token()
		return list, err
	}
	return t, nil
}

// wrong makes an error about the value.
func (n node) wrong(format string, args ...any) error {
	return herb.Invalidf("%s %s", cmp.Or(n.where, "the descriptor"), fmt.Sprintf(format, args...))
}

// object returns the value if it is an object, else an empty one.
func (n node) object() *object {
	if o, ok := n.value.(*object); ok && o != nil {
		return o
	}
	return newObject()
}

// member returns a member of an object.
func (n node) member(name string) node {
	where := name
	if n.where != "" {
		where = n.where + "." + name
	}
	return node{where, n.object().values[name]}
}

func (n node) isObject() error {
	if _, ok := n.value.(*object); !ok {
		return n.wrong("must be an object")
	}
	return nil
}

// scalar returns a value that is text, a number, true or false as it was written.
func (n node) scalar() (string, bool) {
	switch v := n.value.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case bool:
		return strconv.FormatBool(v), true
	}
	return "", false
}

// text reads a member that is text; an absent one is empty. A number is taken as it was written.
func (n node) text(name string) (string, error) {
	m := n.member(name)
	switch v := m.value.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	case json.Number:
		return v.String(), nil
	default:
		return "", m.wrong("must be text; put it in quotes")
	}
}

// prose reads a member that is for people. What is not text is kept with the descriptor and says nothing here.
func (n node) prose(name string) string {
	s, _ := n.member(name).value.(string)
	return s
}

// flag reads a member that is true or false; an absent one is nil.
func (n node) flag(name string) (*bool, error) {
	m := n.member(name)
	switch v := m.value.(type) {
	case nil:
		return nil, nil
	case bool:
		return &v, nil
	default:
		return nil, m.wrong("must be true or false")
	}
}

// number reads a member that is a whole number; an absent one is nil.
func (n node) number(name string, least, most int) (*int, error) {
	m := n.member(name)
	if m.value == nil {
		return nil, nil
	}
	written, _ := m.value.(json.Number)
	i, err := strconv.Atoi(written.String())
	if err != nil || i < least || i > most {
		return nil, m.wrong("must be a whole number from %d to %d", least, most)
	}
	return &i, nil
}

// list reads a member that is a list; an absent one is empty.
func (n node) list(name string) ([]node, error) {
	m := n.member(name)
	if m.value == nil {
		return nil, nil
	}
	if _, ok := m.value.([]any); !ok {
		return nil, m.wrong("must be a list")
	}
	return m.items(), nil
}

// items returns the elements of a list; anything else is a list of itself, and nothing is an empty one.
func (n node) items() []node {
	values, ok := n.value.([]any)
	switch {
	case n.value == nil:
		return nil
	case !ok:
		return []node{n}
	}
	out := make([]node, len(values))
	for i, v := range values {
		out[i] = node{n.where + "[" + strconv.Itoa(i) + "]", v}
	}
	return out
}

// texts reads a value that is text or a list of text.
func (n node) texts() ([]string, error) {
	var out []string
	for _, item := range n.items() {
		s, ok := item.scalar()
		if !ok {
			return nil, item.wrong("must be text; put it in quotes")
		}
		out = append(out, s)
	}
	return out, nil
}

// misplaced refuses settings of ours that stand beside the member "herbarium" instead of in it: they would have no effect,
// and a dataset that should be protected would be open. belongs says where they belong.
func (n node) misplaced(belongs string) error {
	for _, name := range []string{"access", "goldens"} {
		if m := n.member(name); m.value != nil {
			return m.wrong("is in the wrong place, where it has no effect; write it as %s.%s", belongs, name)
		}
	}
	return nil
}

// settings reads the member that holds Herbarium's own settings.
func (n node) settings(known []string) (node, error) {
	m := n.member("herbarium")
	if m.value == nil {
		return m, nil
	}
	return m, m.hasOnly(known)
}

// hasOnly refuses members that are not known. It is for objects that are ours alone, where one we do not know is a slip
// of the pen.
func (n node) hasOnly(known []string) error {
	if err := n.isObject(); err != nil {
		return err
	}
	for _, name := range slices.Sorted(slices.Values(n.object().names)) {
		if slices.Contains(known, name) {
			continue
		}
		hint := ";"
		if c, ok := text.Closest(rows.Clip(name), known); ok {
			hint = fmt.Sprintf("; did you mean %q?", c)
		}
		return n.wrong("has an unknown member %q%s known here: %s", rows.Clip(name), hint, strings.Join(known, ", "))
	}
	return nil
}
