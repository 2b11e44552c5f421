// Package openapi generates the OpenAPI document of the service. openapi.json describes the operations and schemas that
// do not depend on datasets; this package adds the operations and the record schema of each dataset.
package openapi

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

//go:embed openapi.json
var base []byte

// document is an OpenAPI document. Parts that are copied unchanged are raw.
type document struct {
	OpenAPI    string                          `json:"openapi"`
	Info       json.RawMessage                 `json:"info"`
	Servers    []server                        `json:"servers"`
	Tags       json.RawMessage                 `json:"tags"`
	Paths      map[string]map[string]operation `json:"paths"` // by path and method
	Components struct {
		Schemas         map[string]any  `json:"schemas"`
		Responses       json.RawMessage `json:"responses"`
		Headers         json.RawMessage `json:"headers"`
		Parameters      json.RawMessage `json:"parameters"`
		SecuritySchemes json.RawMessage `json:"securitySchemes"`
	} `json:"components"`
}

type server struct {
	URL         string `json:"url"`
	Description string `json:"description"`
}

type operation struct {
	ID          string                `json:"operationId"`
	Tags        []string              `json:"tags"`
	Summary     string                `json:"summary"`
	Description string                `json:"description"`
	Security    []map[string][]string `json:"security"`
	Parameters  []parameter           `json:"parameters,omitempty"`
	RequestBody json.RawMessage       `json:"requestBody,omitempty"`
	Responses   map[string]response   `json:"responses"` // by status
}

type parameter struct {
	Ref         string         `json:"$ref,omitempty"`
	Name        string         `json:"name,omitempty"`
	In          string         `json:"in,omitempty"`
	Description string         `json:"description,omitempty"`
	Style       string         `json:"style,omitempty"`
	Explode     bool           `json:"explode,omitempty"`
	Required    bool           `json:"required,omitempty"`
	Schema      map[string]any `json:"schema,omitempty"`
}

type response struct {
	Ref         string                    `json:"$ref,omitempty"`
	Description string                    `json:"description,omitempty"`
	Headers     json.RawMessage           `json:"headers,omitempty"`
	Content     map[string]map[string]any `json:"content,omitempty"` // schema and example by media type
}

// schemaRef returns a reference to a schema of the document.
func schemaRef(name string) map[string]any {
	return map[string]any{"$ref": "#/components/schemas/" + name}
}

// Generate returns the document for datasets. publicURL is the base URL of the service; empty means that of the document.
func Generate(publicURL string, datasets []herb.Dataset) ([]byte, error) {
	var doc document
	var raw struct {
		Components struct{ Schemas map[string]json.RawMessage } // keep the order of their members
	}
	if err := errors.Join(json.Unmarshal(base, &doc), json.Unmarshal(base, &raw)); err != nil {
		return nil, fmt.Errorf("openapi.json: %w", err)
	}
	schemas := doc.Components.Schemas
	for name, schema := range raw.Components.Schemas {
		schemas[name] = schema
	}
	schemas["FieldType"] = map[string]any{
		"type": "string", "description": "Type of a field; determines how values compare.", "enum": herb.Types(),
	}
	schemas["Operator"] = map[string]any{
		"type": "string", "description": "Operator of a filter, as in name[operator]=value.", "enum": query.Ops(),
	}
	doc.Servers = []server{{cmp.Or(strings.TrimRight(publicURL, "/"), "/"), "The server of this document."}}
	names := uniqueNames{}
	for i := range datasets {
		doc.addDataset(&datasets[i], names.identifier(datasets[i].Ref))
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(doc)
	return bytes.TrimSpace(b.Bytes()), err
}
