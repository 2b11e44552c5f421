package ingest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// maxDescriptor is the number of bytes that a descriptor may have.
const maxDescriptor = 4 << 20

// node is a value in a descriptor, with the place where it stands for messages. An absent value is nil, as null is.
type node struct {
	where string // empty: the whole
	value any
}

// parseDescriptor reads a JSON or YAML file, by its extension.
func parseDescriptor(path string) (node, error) {
	var root node
	f, err := os.Open(path)
	if err != nil {
		return root, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxDescriptor+1))
	if err != nil {
		return root, err
	}
	if len(data) > maxDescriptor {
		return root, herb.Invalidf("the descriptor is larger than %d bytes", maxDescriptor)
	}
	data = bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF"))
	if filepath.Ext(path) == ".json" {
		root.value, err = parseJSON(data)
	} else {
		root.value, err = parseYAML(data)
	}
	return root, err
}

func parseYAML(data []byte) (any, error) {
	var value any
	d := yaml.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(&value); err != nil && err != io.EOF {
		return nil, herb.Invalidf("not YAML: %s", strings.Join(strings.Fields(strings.TrimPrefix(err.Error(), "yaml: ")), " "))
	}
	if err := d.Decode(new(any)); err != io.EOF {
		return nil, herb.Invalidf("the descriptor has more than one YAML document; keep one")
	}
	return value, nil
}

// parseJSON refuses what encoding/json lets pass: a member that occurs twice.
func parseJSON(data []byte) (any, error) {
	if err := json.Unmarshal(data, new(json.RawMessage)); err != nil {
		line := 1
		if e, ok := errors.AsType[*json.SyntaxError](err); ok {
			line += countLines(data[:min(int(e.Offset), len(data))])
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
		object := map[string]any{}
		for d.More() {
			name, err := d.Token()
			if err != nil {
				return nil, err
			}
			if _, twice := object[name.(string)]; twice {
				return nil, herb.Invalidf("the member %q occurs twice in one object; give it once", name)
			}
			if object[name.(string)], err = decodeJSON(d); err != nil {
				return nil, err
			}
		}
		_, err := d.Token()
		return object, err
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

// member returns a member of an object.
func (n node) member(name string) node {
	object, _ := n.value.(map[string]any)
	where := name
	if n.where != "" {
		where = n.where + "." + name
	}
	return node{where, object[name]}
}

func (n node) isObject() error {
	if _, ok := n.value.(map[string]any); !ok {
		return n.wrong("must be an object")
	}
	return nil
}

// text reads a member that is text; an absent one is empty.
func (n node) text(name string) (string, error) {
	m := n.member(name)
	switch v := m.value.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	default:
		return "", m.wrong("must be text; put it in quotes")
	}
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

// list reads a member that is a list; an absent one is empty.
func (n node) list(name string) ([]node, error) {
	m := n.member(name)
	if m.value == nil {
		return nil, nil
	}
	values, ok := m.value.([]any)
	if !ok {
		return nil, m.wrong("must be a list")
	}
	out := make([]node, len(values))
	for i, v := range values {
		out[i] = node{m.where + "[" + strconv.Itoa(i) + "]", v}
	}
	return out, nil
}

// settings reads the member that holds Herbarium's own settings. They are ours alone, so that one we do not know is a
// slip of the pen.
func (n node) settings(known ...string) (node, error) {
	m := n.member("herbarium")
	if m.value == nil {
		return m, nil
	}
	if err := m.isObject(); err != nil {
		return m, err
	}
	for _, name := range slices.Sorted(maps.Keys(m.value.(map[string]any))) {
		if slices.Contains(known, name) {
			continue
		}
		hint := ";"
		if c, ok := text.Closest(name, known); ok {
			hint = fmt.Sprintf("; did you mean %q?", c)
		}
		return m, m.wrong("has an unknown member %q%s known here: %s", clip(name), hint, strings.Join(known, ", "))
	}
	return m, nil
}
