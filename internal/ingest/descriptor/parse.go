package descriptor

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
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

func marshal(value any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(value)
	return bytes.TrimSpace(b.Bytes()), err
}

// parseYAML parses a document into the values of JSON. Decoding into Go values would change numbers
// and dates.
func parseYAML(data []byte) (any, error) {
	var root yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(&root); err != nil && err != io.EOF {
		return nil, herb.Invalidf("not YAML: %s",
			strings.Join(strings.Fields(strings.TrimPrefix(err.Error(), "yaml: ")), " "))
	}
	if err := d.Decode(new(yaml.Node)); err != io.EOF {
		return nil, herb.Invalidf("the descriptor has more than one YAML document; keep one")
	}
	return new(yamlReader).value(&root, 0)
}

// Limits of a YAML document. Only aliases can exceed the number of values, because each takes two
// bytes or more.
const (
	maxYAMLValues = maxYAMLSize / 2
	maxYAMLDepth  = 1_000
)

// yamlReader converts nodes of YAML to values of JSON. Decoding by the library takes quadratic time
// for large objects.
type yamlReader struct {
	values int // that have been read; once for each alias
}

func (r *yamlReader) value(n *yaml.Node, depth int) (value any, err error) {
	switch r.values++; {
	case r.values > maxYAMLValues:
		return nil, invalidYAML(n, "document contains excessive aliasing")
	case depth > maxYAMLDepth:
		return nil, invalidYAML(n, "values are nested more than %d levels deep, or contain themselves", maxYAMLDepth)
	}
	switch n.Kind {
	case yaml.DocumentNode:
		return r.value(n.Content[0], depth)
	case yaml.AliasNode:
		return r.value(n.Alias, depth+1)
	case yaml.MappingNode:
		return r.object(n, depth)
	case yaml.SequenceNode:
		list := make([]any, len(n.Content))
		for i := 0; i < len(list) && err == nil; i++ {
			list[i], err = r.value(n.Content[i], depth+1)
		}
		return list, err
	case yaml.ScalarNode:
		return scalarValue(n), nil
	}
	return nil, nil // an empty document
}

// object returns the members of a mapping, and those of merged mappings that it does not have.
func (r *yamlReader) object(n *yaml.Node, depth int) (o object, err error) {
	o = object{}
	var merged []*yaml.Node
	for i := 0; i+1 < len(n.Content) && err == nil; i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		_, known := o[key.Value]
		switch {
		case key.Kind != yaml.ScalarNode:
			err = invalidYAML(key, "a key is not text")
		case known:
			err = invalidYAML(key, "the member %q occurs twice in one object; remove one", rows.Clip(key.Value))
		case key.ShortTag() == "!!merge" && value.Kind == yaml.SequenceNode:
			merged = append(merged, value.Content...)
		case key.ShortTag() == "!!merge":
			merged = append(merged, value)
		default:
			o[key.Value], err = r.value(value, depth+1)
		}
	}
	for i := 0; i < len(merged) && err == nil; i++ {
		var value any
		value, err = r.value(merged[i], depth+1)
		if other, ok := value.(object); ok && err == nil {
			maps.Copy(other, o) // members that were there before take precedence
			o = other
		} else if err == nil {
			err = invalidYAML(merged[i], "only an object can be merged")
		}
	}
	return o, err
}

func invalidYAML(n *yaml.Node, format string, args ...any) error {
	return herb.Invalidf("not YAML: line %d: %s", n.Line, fmt.Sprintf(format, args...))
}

func scalarValue(n *yaml.Node) any {
	switch n.ShortTag() {
	case "!!null":
		return nil
	case "!!bool":
		return strings.EqualFold(n.Value, "true")
	case "!!int", "!!float":
		if isNumber(n.Value) {
			return json.Number(n.Value)
		}
	}
	return n.Value
}

func isNumber(s string) bool {
	return s != "" && (s[0] == '-' || s[0] >= '0' && s[0] <= '9') && json.Valid([]byte(s))
}
