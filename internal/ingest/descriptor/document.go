package descriptor

import (
	"bytes"
	"encoding/json"

	"herbarium/internal/ingest/rows"
)

const (
	// Own is the name of the member with Herbarium's own settings.
	Own = "herbarium"

	standard = "https://datapackage.org/profiles/2.0/datapackage.json"
)

// Document is a descriptor with one resource, to be edited member by member. Members that Herbarium
// does not know stay as they are.
type Document struct {
	Root     map[string]any
	Resource map[string]any // in Root; nil: the descriptor has none, or several
}

// NewDocument returns the descriptor of a dataset without settings.
func NewDocument(namespace, name string) Document {
	resource := object{"name": name}
	return Document{object{"$schema": standard, "name": namespace, "resources": []any{resource}}, resource}
}

// ParseDocument parses a descriptor that was written as JSON.
func ParseDocument(content []byte) (d Document, err error) {
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.UseNumber()
	if err := decoder.Decode(&d.Root); err != nil {
		return d, err
	}
	if list, _ := d.Root["resources"].([]any); len(list) == 1 {
		d.Resource, _ = list[0].(object)
	}
	return d, nil
}

// Dialect returns how the file of the resource is written.
func (d Document) Dialect() (o rows.Options, err error) {
	n := node{where: "resources[0]", value: d.Resource, err: &err}
	n.member("encoding").assign(&o.Encoding)
	bindDialect(&o, "", n.member("layout"), n.member("dialect"))
	return o, err
}

// SetDialect states how the file of the resource is written, instead of what the descriptor says.
// Members that Herbarium does not know stay as they are.
func (d Document) SetDialect(o rows.Options) error {
	bindings := dialectMembers(&o, "")
	dialect, _ := d.Resource["dialect"].(object)
	if dialect == nil {
		dialect = object{}
	}
	remove := func(from object, name string) {
		o, _ := from[name].(object)
		for _, b := range bindings {
			delete(o, b.name)
		}
		if o != nil && len(o) == 0 {
			delete(from, name)
		}
	}
	remove(d.Resource, "layout")
	remove(d.Resource, "dialect")
	for _, name := range dialectFormats() {
		remove(dialect, name)
	}
	stated := written(bindings)
	if o.Header == rows.HeaderPresent {
		stated = append(stated, member{"header", true})
	}
	for _, m := range stated {
		value, err := decoded(m.value)
		if err != nil {
			return err
		}
		dialect[m.name] = value
	}
	if o.Encoding != "" {
		d.Resource["encoding"] = o.Encoding
	}
	delete(d.Resource, "dialect")
	if len(dialect) > 0 {
		d.Resource["dialect"] = dialect
	}
	return nil
}

// decoded returns a value as the decoder of descriptors returns it.
func decoded(value any) (out any, err error) {
	content, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.UseNumber()
	err = decoder.Decode(&out)
	return out, err
}
