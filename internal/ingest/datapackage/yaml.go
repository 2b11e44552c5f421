package datapackage

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"

	"herbarium/internal/herb"
)

// parseYAML parses a document into the values of JSON. Numbers keep their digits and dates remain text, which decoding
// into Go values would change.
func parseYAML(data []byte) (any, error) {
	// Decoding rejects members that occur twice, and aliases that expand excessively.
	d := yaml.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(new(any)); err != nil && err != io.EOF {
		return nil, herb.Invalidf("not YAML: %s", strings.Join(strings.Fields(strings.TrimPrefix(err.Error(), "yaml: ")), " "))
	}
	if err := d.Decode(new(any)); err != io.EOF {
		return nil, herb.Invalidf("the descriptor has more than one YAML document; keep one")
	}
	var root yaml.Node
	if err := yaml.Unmarshal(data, &root); err != nil {
		return nil, err
	}
	return valueOf(&root)
}

// valueOf returns the value of a YAML node, with aliases resolved.
func valueOf(n *yaml.Node) (any, error) {
	switch n.Kind {
	case yaml.DocumentNode:
		return valueOf(n.Content[0])
	case yaml.AliasNode:
		return valueOf(n.Alias)
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
func addMembers(o object, n *yaml.Node) error {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	var merged []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		switch {
		case key.ShortTag() == "!!merge" && value.Kind == yaml.SequenceNode:
			merged = append(merged, value.Content...)
			continue
		case key.ShortTag() == "!!merge":
			merged = append(merged, value)
			continue
		}
		if _, ok := o[key.Value]; ok {
			continue
		}
		var err error
		if o[key.Value], err = valueOf(value); err != nil {
			return err
		}
	}
	for _, m := range merged {
		if err := addMembers(o, m); err != nil {
			return err
		}
	}
	return nil
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
		var v any // a notation of YAML, such as 0x1F or 1_000
		if err := n.Decode(&v); err != nil {
			return nil, err
		}
		if s := fmt.Sprint(v); isNumber(s) {
			return json.Number(s), nil
		}
	}
	return n.Value, nil
}

// isNumber reports whether s is a number of JSON.
func isNumber(s string) bool {
	return s != "" && (s[0] == '-' || s[0] >= '0' && s[0] <= '9') && json.Valid([]byte(s))
}
