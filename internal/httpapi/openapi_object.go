package httpapi

import (
	"bytes"
	"encoding/json"
)

// object is a JSON object whose members keep their order, so that a document reads as it was meant to be read.
type object []member

type member struct {
	name  string
	value any
}

// with returns the object with more members at its end.
func (o object) with(members ...member) object {
	return append(o[:len(o):len(o)], members...)
}

// MarshalJSON writes the object.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(m.name)
		if err != nil {
			return nil, err
		}
		value, err := encodeJSON(m.value)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// ref points to a component of the document.
func ref(kind, name string) object {
	return object{{"$ref", "#/components/" + kind + "/" + name}}
}

// schema points to a schema of the document.
func schema(name string) object { return ref("schemas", name) }

// str is the schema of a string.
func str(description string, more ...member) object {
	return object{{"type", "string"}, {"description", description}}.with(more...)
}

// whole is the schema of a whole number.
func whole(description string, more ...member) object {
	return object{{"type", "integer"}, {"description", description}}.with(more...)
}

// array is the schema of a list.
func array(items any) object {
	return object{{"type", "array"}, {"items", items}}
}

// record is the schema of an object that has all of its required members.
func record(description string, required []string, properties object) object {
	return object{
		{"type", "object"}, {"description", description}, {"required", required}, {"properties", properties},
	}
}
