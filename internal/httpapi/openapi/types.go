package openapi

import (
	"encoding/json"
	"fmt"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/typed"
)

// useTypes makes the document describe responses to requests with query.ParamTyped, which is
// required then: clients that are generated from the document send it.
func (doc *document) useTypes() error {
	p := doc.Components.Parameters["typed"]
	p.Required = true
	p.Description = "Numbers, booleans, arrays and null, as this document describes. `/openapi.json` without `" +
		query.ParamTyped + "` describes texts as written."
	p.Schema = map[string]any{"type": "boolean", "enum": []bool{true}}
	doc.Components.Parameters["typed"] = p
	doc.Info.Description += "\n\nThis document describes typed JSON: numbers have their digits as written, missing " +
		"values are null. Types follow from all values of a version, " +
		"so that another version can have others."
	schemas := doc.Components.Schemas
	schemas["DataRecord"] = map[string]any{
		"type": "object", "description": "A flat record, in typed JSON.", "additionalProperties": anyValue(),
	}
	raw, _ := schemas["Aggregate"].(json.RawMessage)
	aggregate := map[string]any{}
	if err := json.Unmarshal(raw, &aggregate); err != nil {
		return fmt.Errorf("schema Aggregate: %w", err)
	}
	member := func(parent map[string]any, name string) map[string]any {
		child, _ := parent[name].(map[string]any)
		return child
	}
	group := member(member(member(member(aggregate, "properties"), "data"), "items"), "properties")
	by, values := member(group, "by"), member(group, "values")
	if by == nil || values == nil {
		return fmt.Errorf("schema Aggregate has no labels and values")
	}
	by["description"] = "Labels in the order of `_by`; null for missing values. Intervals, cycles and elements of " +
		"lists are texts."
	by["items"] = map[string]any{"type": []string{"string", "number", "boolean", "null"}}
	values["description"] = "Values in the order of `_measure`; null if a measure has none. Durations are seconds."
	values["items"] = map[string]any{"type": []string{"string", "number", "null"}}
	schemas["Aggregate"] = aggregate
	return nil
}

// anyValue returns the schema of any value in typed JSON.
func anyValue() map[string]any {
	return map[string]any{"type": []string{"string", "number", "boolean", "array", "null"},
		"items": map[string]any{"type": "string"}}
}

// valueSchema is the schema of the values of a field.
type valueSchema struct {
	Type   any            `json:"type"` // a string, or a list of them
	Format string         `json:"format,omitempty"`
	Items  map[string]any `json:"items,omitempty"`
	About  string         `json:"-"` // follows the description of the field
}

// schemaOf returns the schema of the values of a field in typed JSON.
func schemaOf(c typed.Column) valueSchema {
	switch c.Kind {
	case typed.Int64:
		return valueSchema{Type: orNull("integer"), Format: "int64"}
	case typed.Decimal, typed.Double:
		return valueSchema{Type: orNull("number")}
	case typed.Boolean:
		return valueSchema{Type: orNull("boolean")}
	case typed.List:
		return valueSchema{Type: orNull("array"), Items: map[string]any{"type": "string"}}
	case typed.Date:
		return valueSchema{Type: orNull("string"), Format: "date"}
	case typed.Timestamp:
		if c.Zoned {
			return valueSchema{Type: orNull("string"), Format: "date-time"}
		}
	case typed.Text:
		if c.Reason != "" {
			return valueSchema{Type: orNull("string"), About: " Text, because " + c.Reason + "."}
		}
	}
	return valueSchema{Type: orNull("string")}
}

// anySchemaOf returns the schema of the values of a field in typed JSON, whatever its values are.
func anySchemaOf(t herb.Type) valueSchema {
	switch t {
	case herb.TypeNumber, herb.TypeDuration:
		return valueSchema{Type: orNull("number", "string")}
	case herb.TypeBoolean:
		return valueSchema{Type: orNull("boolean", "string")}
	case herb.TypeList:
		return schemaOf(typed.Column{Kind: typed.List})
	}
	return valueSchema{Type: orNull("string")}
}

func orNull(types ...string) []string { return append(types, "null") }
