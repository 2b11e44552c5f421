package describe

import (
	"bytes"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// YAML returns the description as datapackage.yaml, with comments for editing.
func (d *Description) YAML() ([]byte, error) {
	var root yaml.Node
	if err := root.Encode(d.root); err != nil {
		return nil, err
	}
	root.HeadComment = "A Data Package (https://datapackage.org). Edit it and publish it: herbarium publish datapackage.yaml"
	_, resources := member(&root, "resources")
	for i, r := range d.root.Resources {
		r.addComments(resources.Content[i])
	}
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(&root); err != nil {
		return nil, err
	}
	return b.Bytes(), e.Close()
}

// addComments adds comments to a resource.
func (r *resource) addComments(n *yaml.Node) {
	_, schema := member(n, "schema")
	if key, fields := member(schema, "fields"); fields != nil {
		key.HeadComment = "Only these fields are listed, in this order. Remove one to hide it, rename one with\n" +
			"herbarium: {from: its column}. Types: string, number, date, datetime, boolean, list."
		for i, f := range r.Schema.Fields {
			if len(f.samples) > 0 {
				fields.Content[i].HeadComment = "such as " + singleLine(strings.Join(f.samples, " | "))
			}
		}
	}
	_, own := member(n, "herbarium")
	key, access := member(own, "access")
	access.LineComment = "or key: listing the records requires a key"
	comments := []string{"More settings:"}
	for _, m := range []struct{ name, example string }{
		{"order", `order: -date  # of a listing without sort: latest first`},
		{"include", `include: {status: [published]}  # rows with other values are excluded`},
		{"goldens", `goldens: [{query: "category=tree", total: 12}]  # must hold before a new version goes live`},
	} {
		if _, set := member(own, m.name); set == nil {
			comments = append(comments, m.example)
		}
	}
	if len(comments) > 1 {
		key.HeadComment = strings.Join(comments, "\n")
	}
}

// member returns the key and the value of a member of a mapping, or nil.
func member(n *yaml.Node, name string) (key, value *yaml.Node) {
	for i := 0; n != nil && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return n.Content[i], n.Content[i+1]
		}
	}
	return nil, nil
}

// singleLine replaces characters that cannot be in a comment.
func singleLine(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s)
}
