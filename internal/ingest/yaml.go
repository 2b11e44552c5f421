package ingest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"

	"herbarium/internal/herb"
)

// parseYAML reads a descriptor in YAML as if it had been written in JSON. Numbers keep their digits and dates stay text,
// which decoding into Go values would not grant.
func parseYAML(data []byte) (any, error) {
	notYAML := func(err error) error {
		return herb.Invalidf("not YAML: %s", strings.Join(strings.Fields(strings.TrimPrefix(err.Error(), "yaml: ")), " "))
	}
	// Decoding refuses members that occur twice, and references that would unfold to much more than was written.
	d := yaml.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(new(any)); err != nil && err != io.EOF {
		return nil, notYAML(err)
	}
	if err := d.Decode(new(any)); err != io.EOF {
		return nil, herb.Invalidf("the descriptor has more than one YAML document; keep one")
	}
	var root yaml.Node
	if err := yaml.Unmarshal(data, &root); err != nil {
		return nil, notYAML(err)
	}
	return unfold(&root)
}

// unfold makes plain values of a YAML document, with what references stand for in their place.
func unfold(n *yaml.Node) (any, error) {
	switch n.Kind {
	case yaml.DocumentNode:
		return unfold(n.Content[0])
	case yaml.AliasNode:
		return unfold(n.Alias)
	case yaml.MappingNode:
		o := newObject()
		if err := unfoldMembers(o, n); err != nil {
			return nil, err
		}
		return o, nil
	case yaml.SequenceNode:
		list := make([]any, len(n.Content))
		for i, c := range n.Content {
			var err error
			if list[i], err = unfold(c); err != nil {
				return nil, err
			}
		}
		return list, nil
	case yaml.ScalarNode:
		return scalarOf(n)
	}
	return nil, nil // an empty document
}

// unfoldMembers takes the members of a mapping into an object, and then those that it merges and that the object lacks.
func unfoldMembers(o *object, n *yaml.Node) error {
	var merged []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		switch {
		case key.Kind != yaml.ScalarNode:
			return herb.Invalidf("line %d: the name of a member must be text", key.Line)
		case key.ShortTag() == "!!merge":
			merged = append(merged, value)
			continue
		}
		if _, known := o.values[key.Value]; known {
			continue
		}
		v, err := unfold(value)
		if err != nil {
			return err
		}
		o.set(key.Value, v)
	}
	for _, m := range merged {
		if m.Kind == yaml.AliasNode {
			m = m.Alias
		}
		sources := []*yaml.Node{m}
		if m.Kind == yaml.SequenceNode {
			sources = m.Content
		}
		for _, s := range sources {
			if s.Kind == yaml.AliasNode {
				s = s.Alias
			}
			if err := unfoldMembers(o, s); err != nil {
				return err
			}
		}
	}
	return nil
}

func scalarOf(n *yaml.Node) (any, error) {
	switch n.ShortTag() {
	case "!!null":
		return nil, nil
	case "!!bool":
		var b bool
		err := n.Decode(&b)
		return b, err
	case "!!int", "!!float":
		if json.Valid([]byte(n.Value)) {
			return json.Number(n.Value), nil
		}
		var v any // a notation of YAML alone, such as 0x1F or 1_000
		if err := n.Decode(&v); err != nil {
			return nil, err
		}
		if s := fmt.Sprint(v); json.Valid([]byte(s)) {
			return json.Number(s), nil
		}
	}
	return n.Value, nil
}
