package datapackage

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
)

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

// decodeValue decodes the next value of a valid document, whose tokens have no errors.
func decodeValue(d *json.Decoder) (value any, err error) {
	token, _ := d.Token()
	switch token {
	case json.Delim('{'):
		o := object{}
		for d.More() && err == nil {
			key, _ := d.Token()
			name, _ := key.(string)
			if _, ok := o[name]; ok {
				return nil, herb.Invalidf("the member %q occurs twice in one object; remove one", rows.Clip(name))
			}
			o[name], err = decodeValue(d)
		}
		_, _ = d.Token()
		return o, err
	case json.Delim('['):
		list := []any{}
		for d.More() && err == nil {
			value, err = decodeValue(d)
			list = append(list, value)
		}
		_, _ = d.Token()
		return list, err
	}
	return token, nil
}

// marshal returns a value as JSON.
func marshal(value any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(value)
	return bytes.TrimSpace(b.Bytes()), err
}

// parseYAML parses a document into the values of JSON. Numbers keep their digits and dates remain text, which decoding
// into Go values would change.
func parseYAML(data []byte) (any, error) {
	var root yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(data))
	err := d.Decode(&root)
	if err == nil {
		err = root.Decode(new(any)) // rejects members that occur twice, and aliases that expand excessively
	}
	if err != nil && err != io.EOF {
		return nil, herb.Invalidf("not YAML: %s", strings.Join(strings.Fields(strings.TrimPrefix(err.Error(), "yaml: ")), " "))
	}
	if err := d.Decode(new(yaml.Node)); err != io.EOF {
		return nil, herb.Invalidf("the descriptor has more than one YAML document; keep one")
	}
	return valueOf(&root)
}

// valueOf returns the value of a YAML node, with aliases resolved.
func valueOf(n *yaml.Node) (any, error) {
	switch n = resolve(n); n.Kind {
	case yaml.DocumentNode:
		return valueOf(n.Content[0])
	case yaml.MappingNode:
		o := object{}
		return o, addMembers(o, n)
	case yaml.SequenceNode:
		list := make([]any, len(n.Content))
		for i, c := range n.Content {
			var err error
			if list[i], err = valueOf(c); err != nil {
				return nil, err
			}
		}
		return list, nil
	case yaml.ScalarNode:
		return scalarValue(n)
	}
	return nil, nil // an empty document
}

// addMembers adds the members of a mapping, and then those of merged mappings, that the object does not have.
func addMembers(o object, n *yaml.Node) (err error) {
	n = resolve(n)
	var merged []*yaml.Node
	for i := 0; i+1 < len(n.Content) && err == nil; i += 2 {
		key, value := resolve(n.Content[i]), n.Content[i+1]
		_, known := o[key.Value]
		switch {
		case key.ShortTag() == "!!merge" && value.Kind == yaml.SequenceNode:
			merged = append(merged, value.Content...)
		case key.ShortTag() == "!!merge":
			merged = append(merged, value)
		case !known:
			o[key.Value], err = valueOf(value)
		}
	}
	for _, m := range merged {
		err = cmp.Or(err, addMembers(o, m))
	}
	return err
}

// resolve returns the node that an alias refers to.
func resolve(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

func scalarValue(n *yaml.Node) (any, error) {
	switch n.ShortTag() {
	case "!!null":
		return nil, nil
	case "!!bool":
		var b bool
		err := n.Decode(&b)
		return b, err
	case "!!int", "!!float":
		if isNumber(n.Value) {
			return json.Number(n.Value), nil
		}
	}
	return n.Value, nil
}

// isNumber reports whether s is a number of JSON.
func isNumber(s string) bool {
	return s != "" && (s[0] == '-' || s[0] >= '0' && s[0] <= '9') && json.Valid([]byte(s))
}
