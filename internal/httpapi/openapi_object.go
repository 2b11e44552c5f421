package httpapi

import (
	"bytes"
	"errors"
)

// object is a JSON object whose members keep their order, for readability of the document.
type object []member

type member struct {
	name  string
	value any
}

// with returns the object with additional members at its end.
func (o object) with(members ...member) object {
	return append(o[:len(o):len(o)], members...)
}

// MarshalJSON implements json.Marshaler.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	err := writeJSON(&b, o)
	return b.Bytes(), err
}

// writeJSON encodes a value in one pass: encoding/json would copy and validate an object again for each enclosing
// object.
func writeJSON(b *bytes.Buffer, v any) (err error) {
	switch v := v.(type) {
	case object:
		b.WriteByte('{')
		for i, m := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := errors.Join(writeJSON(b, m.name), b.WriteByte(':'), writeJSON(b, m.value)); err != nil {
				return err
			}
		}
		return b.WriteByte('}')
	case []any:
		return writeList(b, v)
	case []object:
		return writeList(b, v)
	case []string:
		return writeList(b, v)
	}
	encoded, err := encodeJSON(v)
	b.Write(encoded)
	return err
}

func writeList[E any](b *bytes.Buffer, list []E) error {
	b.WriteByte('[')
	for i, e := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := writeJSON(b, e); err != nil {
			return err
		}
	}
	return b.WriteByte(']')
}

// ref returns a reference to a component of the document.
func ref(kind, name string) object {
	return object{{"$ref", "#/components/" + kind + "/" + name}}
}

// schema returns a reference to a schema of the document.
func schema(name string) object { return ref("schemas", name) }

// str returns the schema of a string.
func str(description string, more ...member) object {
	return object{{"type", "string"}, {"description", description}}.with(more...)
}

// whole returns the schema of an integer.
func whole(description string, more ...member) object {
	return object{{"type", "integer"}, {"description", description}}.with(more...)
}

// array returns the schema of an array.
func array(items any) object {
	return object{{"type", "array"}, {"items", items}}
}

// record returns the schema of an object with its required members.
func record(description string, required []string, properties object) object {
	return object{
		{"type", "object"}, {"description", description}, {"required", required}, {"properties", properties},
	}
}
