package datapackage

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/text"
)

// object is an object of a descriptor. Values are nil, bool, string, json.Number, []any and object.
type object = map[string]any

// node is a value of a descriptor with its location. An absent value is nil, as null is.
type node struct {
	where string // such as resources[0].path; empty: the descriptor itself
	value any
}

// parseJSON parses a document. Unlike encoding/json, it rejects a member that occurs twice.
func parseJSON(data []byte) (any, error) {
	if err := json.Unmarshal(data, new(json.RawMessage)); err != nil {
		line := 1
		if e, ok := err.(*json.SyntaxError); ok {
			line += bytes.Count(data[:min(int(e.Offset), len(data))], []byte("\n"))
		}
		return nil, herb.Invalidf("line %d: not JSON: %v", line, err)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	return decodeValue(d)
}

// decodeValue decodes the next value of a valid document.
func decodeValue(d *json.Decoder) (any, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t {
	case json.Delim('{'):
		o := object{}
		for d.More() {
			key, err := d.Token()
			if err != nil {
				return nil, err
			}
			name := key.(string)
			if _, ok := o[name]; ok {
				return nil, herb.Invalidf("the member %q occurs twice in one object; remove one", rows.Clip(name))
			}
			if o[name], err = decodeValue(d); err != nil {
				return nil, err
			}
		}
		_, err := d.Token()
		return o, err
	case json.Delim('['):
		list := []any{}
		for d.More() {
			v, err := decodeValue(d)
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

// marshal returns a value as JSON.
func marshal(value any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(value)
	return bytes.TrimSpace(b.Bytes()), err
}

// errorf returns an error about the value.
func (n node) errorf(format string, args ...any) error {
	return herb.Invalidf("%s %s", cmp.Or(n.where, "the descriptor"), fmt.Sprintf(format, args...))
}

// member returns a member of an object.
func (n node) member(name string) node {
	where := name
	if n.where != "" {
		where = n.where + "." + name
	}
	o, _ := n.value.(object)
	return node{where, o[name]}
}

// names returns the names of the members of an object, sorted.
func (n node) names() []string {
	o, _ := n.value.(object)
	names := make([]string, 0, len(o))
	for name := range o {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (n node) checkObject() error {
	if _, ok := n.value.(object); !ok {
		return n.errorf("must be an object")
	}
	return nil
}

// scalar returns text, a number or a boolean as it was written.
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

// annotation returns a member that is text, or "" if it is anything else.
func (n node) annotation(name string) string {
	s, _ := n.member(name).value.(string)
	return s
}

// integer returns a member that is an integer, or nil if it is absent.
func (n node) integer(name string, least, most int) (*int, error) {
	m := n.member(name)
	if m.value == nil {
		return nil, nil
	}
	number, _ := m.value.(json.Number)
	i, err := strconv.Atoi(number.String())
	if err != nil || i < least || i > most {
		return nil, m.errorf("must be an integer from %d to %d", least, most)
	}
	return &i, nil
}

// list returns the elements of a member that is a list.
func (n node) list(name string) ([]node, error) {
	m := n.member(name)
	if _, ok := m.value.([]any); !ok && m.value != nil {
		return nil, m.errorf("must be a list")
	}
	return m.items(), nil
}

// items returns the elements of a list. Any other value is a list of itself, an absent one an empty list.
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
		out[i] = node{fmt.Sprintf("%s[%d]", n.where, i), v}
	}
	return out
}

// binding assigns the value of a member to a variable: text to a *string, true or false to a *bool or **bool, one ASCII
// character to a *byte, text or a list of text to a *[]string, a line number or a list of them to a *[]int.
type binding struct {
	name string
	to   any
}

// bind assigns the members that lookup returns. It leaves the variables of absent members alone.
func bind(lookup func(name string) node, bindings ...binding) error {
	for _, b := range bindings {
		n := lookup(b.name)
		if n.value == nil {
			continue
		}
		if err := n.assign(b.to); err != nil {
			return err
		}
	}
	return nil
}

// assign assigns the value to a variable.
func (n node) assign(to any) (err error) {
	s, isScalar := n.scalar()
	flag, isBool := n.value.(bool)
	switch to := to.(type) {
	case *string:
		if *to = s; !isScalar || isBool {
			return n.errorf("must be text; put it in quotes")
		}
	case *bool:
		if *to = flag; !isBool {
			return n.errorf("must be true or false")
		}
	case **bool:
		if *to = &flag; !isBool {
			return n.errorf("must be true or false")
		}
	case *byte:
		*to, err = n.char()
	case *[]string:
		*to, err = n.texts()
	case *[]int:
		for _, item := range n.items() {
			line, err := item.ordinal("line")
			if err != nil {
				return err
			}
			*to = append(*to, line)
		}
	default:
		err = fmt.Errorf("cannot assign %s to a %T", n.where, to)
	}
	return err
}

// char returns a value that is one ASCII character, or 0 for an empty one.
func (n node) char() (byte, error) {
	s, ok := n.value.(string)
	switch {
	case ok && s == "":
		return 0, nil
	case strings.EqualFold(s, "tab") || s == `\t`:
		return '\t', nil
	case len(s) != 1 || s[0] >= 0x80 || s[0] == '\n' || s[0] == '\r' || s[0] == 0:
		return 0, n.errorf("is %s; it must be one ASCII character", rows.Clip(fmt.Sprintf("%#v", n.value)))
	}
	return s[0], nil
}

// ordinal returns a value that is the number of something, from 1.
func (n node) ordinal(what string) (int, error) {
	number, _ := n.value.(json.Number)
	i, err := strconv.Atoi(number.String())
	if err != nil || i < 1 {
		return 0, n.errorf("must be the number of a %s, from 1", what)
	}
	return i, nil
}

// texts returns a value that is text or a list of text.
func (n node) texts() ([]string, error) {
	var out []string
	for _, item := range n.items() {
		s, ok := item.scalar()
		if !ok {
			return nil, item.errorf("must be text; put it in quotes")
		}
		out = append(out, s)
	}
	return out, nil
}

// checkPlacement rejects settings that are beside the member "herbarium" instead of in it: without effect, they would
// leave a dataset open that should require a key. right is the member that they belong to.
func (n node) checkPlacement(right string) error {
	for _, name := range []string{"access", "goldens"} {
		if m := n.member(name); m.value != nil {
			return m.errorf("is in the wrong place, where it has no effect; write it as %s.%s", right, name)
		}
	}
	return nil
}

// settings returns the member "herbarium", which has only known members.
func (n node) settings(known []string) (node, error) {
	m := n.member("herbarium")
	if m.value == nil {
		return m, nil
	}
	return m, m.checkMembers(known)
}

// checkMembers rejects unknown members of an object that only Herbarium defines.
func (n node) checkMembers(known []string) error {
	if err := n.checkObject(); err != nil {
		return err
	}
	for _, name := range n.names() {
		if !slices.Contains(known, name) {
			return n.errorf("has an unknown member %s", suggestion(name, known))
		}
	}
	return nil
}

// suggestion quotes an unknown name, followed by the most similar known one and all known ones.
func suggestion(name string, known []string) string {
	hint := ";"
	if c, ok := text.Closest(rows.Clip(name), known); ok {
		hint = fmt.Sprintf("; did you mean %q?", c)
	}
	return fmt.Sprintf("%q%s known: %s", rows.Clip(name), hint, strings.Join(known, ", "))
}
