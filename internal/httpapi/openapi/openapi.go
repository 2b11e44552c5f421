// Package openapi generates the OpenAPI document of the service. openapi.json describes the
// operations and schemas that do not depend on datasets; this package adds the operations and the
// record schema of each dataset.
package openapi

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/typed"
)

//go:embed openapi.json
var base []byte

// Features are the optional parts of a service.
type Features struct {
	Plants     bool // the plant store
	Publishing bool // over HTTP
}

// document is an OpenAPI document. Parts that are copied unchanged are raw.
type document struct {
	OpenAPI    string                          `json:"openapi"`
	Info       info                            `json:"info"`
	Servers    []server                        `json:"servers"`
	Tags       []tag                           `json:"tags"`
	Paths      map[string]map[string]operation `json:"paths"` // by path and method
	Components struct {
		Schemas         map[string]any       `json:"schemas"`
		Responses       json.RawMessage      `json:"responses"`
		Headers         json.RawMessage      `json:"headers"`
		Parameters      map[string]parameter `json:"parameters"`
		SecuritySchemes json.RawMessage      `json:"securitySchemes"`
	} `json:"components"`
	opts Options
}

type info struct {
	Title       string          `json:"title"`
	Version     string          `json:"version"`
	Summary     string          `json:"summary"`
	Description string          `json:"description"`
	License     json.RawMessage `json:"license"`
}

type server struct {
	URL         string `json:"url"`
	Description string `json:"description"`
}

type tag struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

type operation struct {
	ID          string                `json:"operationId"`
	Tags        []string              `json:"tags"`
	Summary     string                `json:"summary"`
	Description string                `json:"description,omitempty"`
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
	Explode     *bool          `json:"explode,omitempty"`
	Required    bool           `json:"required,omitempty"`
	Reserved    bool           `json:"allowReserved,omitempty"` // values are not percent-encoded
	Schema      map[string]any `json:"schema,omitempty"`
	GoName      string         `json:"x-go-name,omitempty"`
}

type response struct {
	Ref         string                    `json:"$ref,omitempty"`
	Description string                    `json:"description,omitempty"`
	Headers     json.RawMessage           `json:"headers,omitempty"`
	Content     map[string]map[string]any `json:"content,omitempty"` // schema and example by media type
}

func schemaRef(name string) map[string]any {
	return map[string]any{"$ref": "#/components/schemas/" + name}
}

// Limits of a document with the operations of all datasets. Viewers and client generators do not
// support larger ones.
const (
	MaxDatasets = 200
	maxSize     = 1 << 20 // bytes
)

// Options configures Generate.
type Options struct {
	// Single makes the document of the only dataset describe what reads it, and nothing else. Each
	// field then has one parameter with all its operators.
	Single    bool
	PublicURL string // base URL of the service; empty means that of the document
	Features  Features
	Typed     bool // responses are typed JSON
	// Types are the types of the fields of the only dataset. nil: they are not known, or must not
	// be, because they follow from the values. The schemas then allow all that a field can have.
	Types []typed.Column
}

// Generate returns the document for datasets. If it exceeds the limits, the document describes no
// dataset and refers to the documents of single datasets. total is the number of datasets of the
// service; datasets may be omitted if there are more than MaxDatasets.
func Generate(datasets []herb.Dataset, total int, opts Options) ([]byte, error) {
	body, err := generate(datasets, total, opts)
	if err == nil && len(body) > maxSize && total > 1 {
		return generate(nil, total, opts)
	}
	return body, err
}

// removeTag removes a tag and its operations.
func (doc *document) removeTag(name string) {
	doc.Tags = slices.DeleteFunc(doc.Tags, func(t tag) bool { return t.Name == name })
	for path, operations := range doc.Paths {
		maps.DeleteFunc(operations, func(_ string, o operation) bool { return slices.Contains(o.Tags, name) })
		if len(operations) == 0 {
			delete(doc.Paths, path)
		}
	}
}

func generate(datasets []herb.Dataset, total int, opts Options) ([]byte, error) {
	var doc document
	var raw struct {
		Components struct{ Schemas map[string]json.RawMessage } // keep the order of their members
	}
	if err := errors.Join(json.Unmarshal(base, &doc), json.Unmarshal(base, &raw)); err != nil {
		return nil, fmt.Errorf("openapi.json: %w", err)
	}
	doc.opts = opts
	schemas := doc.Components.Schemas
	for name, schema := range raw.Components.Schemas {
		schemas[name] = schema
	}
	if opts.Typed {
		if err := doc.useTypes(); err != nil {
			return nil, err
		}
	}
	if !opts.Features.Plants {
		doc.removeTag("Plants")
		delete(schemas, "Plant")
		delete(schemas, "NewPlant")
	}
	if !opts.Features.Publishing {
		doc.removeTag("Publishing")
		for _, name := range []string{"Publish", "Published", "PublishedField"} {
			delete(schemas, name)
		}
	}
	schemas["FieldType"] = map[string]any{
		"type": "string", "description": "Type of a field; determines how values compare.", "enum": herb.Types(),
	}
	schemas["Operator"] = map[string]any{
		"type": "string", "description": "Operator of a filter, as in name[operator]=value.", "enum": query.Ops(),
	}
	doc.Servers = []server{{cmp.Or(strings.TrimRight(opts.PublicURL, "/"), "/"), "The server of this document."}}
	names := uniqueNames{}
	if len(datasets) < total {
		doc.Info.Description += fmt.Sprintf(
			"\n\nThis server has %s datasets. `/openapi.json?dataset=<namespace>/<dataset>` is the document with "+
				"the parameters and records of one of them, and `/api/v1` lists them.", herb.Count(total))
		datasets = nil
	}
	for i := range datasets {
		d, name := &datasets[i], names.identifier(datasets[i].Ref)
		doc.addDataset(d, name, opts)
		if total == 1 {
			if err := doc.addOwnOperations(d, name); err != nil {
				return nil, err
			}
		}
		if opts.Single {
			if err := doc.keepReading(d, name); err != nil {
				return nil, err
			}
		}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(doc)
	return bytes.TrimSpace(b.Bytes()), err
}
