package datapackage

import (
	"bytes"
	"encoding/json"
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
