package ingest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// YAML returns the description as datapackage.yaml, with comments that help to edit it.
func (d *Description) YAML() ([]byte, error) {
	root := d.yaml(d.root)
	root.HeadComment = "A Data Package (https://datapackage.org). Edit it and publish it: herbarium publish datapackage.yaml"
	resources, _ := d.root.values["resources"].([]any)
	for i, r := range resources {
		d.comment(valueOf(root, "resources").Content[i], r.(*object))
	}
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(root); err != nil {
		return nil, err
	}
	return b.Bytes(), e.Close()
}

// comment explains what stands in a resource.
func (d *Description) comment(n *yaml.Node, r *object) {
	if fields := valueOf(valueOf(n, "schema"), "fields"); fields != nil {
		keyOf(valueOf(n, "schema"), "fields").HeadComment = "Only these are listed, in this order. Remove one to hide it, rename one with\n" +
			"herbarium: {from: its column}. Types: string, number, date, list."
		described, _ := r.values["schema"].(*object).values["fields"].([]any)
		for i, f := range described {
			valueOf(fields.Content[i], "herbarium").Style = yaml.FlowStyle
			if samples := d.samples[f.(*object)]; len(samples) > 0 {
				fields.Content[i].HeadComment = "such as " + plainLine(strings.Join(samples, " | "))
			}
		}
	}
	own := valueOf(n, "herbarium")
	valueOf(own, "access").LineComment = "or key: then only holders of a key can list the records"
	var more []string
	for _, m := range []struct{ name, example string }{
		{"order", `order: -date  # of a listing without sort: the latest first`},
		{"include", `include: {status: [published]}  # rows with other values stay out`},
		{"goldens", `goldens: [{query: "category=tree", total: 12}]  # must hold before a new version goes live`},
	} {
		if _, set := r.values["herbarium"].(*object).values[m.name]; !set {
			more = append(more, m.example)
		}
	}
	if len(more) > 0 {
		keyOf(own, "access").HeadComment = "More settings, if they are wanted:\n" + strings.Join(more, "\n")
	}
}

// yaml turns a value of a descriptor into YAML.
func (d *Description) yaml(value any) *yaml.Node {
	n := &yaml.Node{}
	switch v := value.(type) {
	case *object:
		n.Kind = yaml.MappingNode
		for _, name := range v.names {
			key := &yaml.Node{}
			key.SetString(name)
			n.Content = append(n.Content, key, d.yaml(v.values[name]))
		}
	case []any:
		n.Kind = yaml.SequenceNode
		for _, item := range v {
			n.Content = append(n.Content, d.yaml(item))
			if _, nested := item.(*object); !nested {
				n.Style = yaml.FlowStyle
			}
		}
	case string:
		n.SetString(v)
	case json.Number:
		n.Kind, n.Tag, n.Value = yaml.ScalarNode, "!!float", v.String()
		if _, err := strconv.ParseInt(v.String(), 10, 64); err == nil {
			n.Tag = "!!int"
		}
	case bool:
		n.Kind, n.Tag, n.Value = yaml.ScalarNode, "!!bool", fmt.Sprint(v)
	default:
		n.Kind, n.Tag, n.Value = yaml.ScalarNode, "!!null", "null"
	}
	return n
}

// keyOf and valueOf find a member of a mapping.
func keyOf(n *yaml.Node, name string) *yaml.Node {
	for i := 0; n != nil && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return n.Content[i]
		}
	}
	return nil
}

func valueOf(n *yaml.Node, name string) *yaml.Node {
	for i := 0; n != nil && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return n.Content[i+1]
		}
	}
	return nil
}

// plainLine makes a text fit for a comment.
func plainLine(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s)
}
