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
)

//go:embed openapi.json
var base []byte

// withoutPlants removes the plant store from the descriptions of openapi.json.
var withoutPlants = strings.NewReplacer(
	`"A plant store, and listings of datasets."`, `"Listings of datasets."`,
	` and filters, and create plants.`, ` and filters.`,
	`{"name": "Plants", "description": "The plant store."},`, ``,
	` Created plants are listed as store/plants.`, ``,
	" Creating plants requires the scope `plants:write`.", ``,
)

// withoutPublishing removes publishing over HTTP from the descriptions of openapi.json.
var withoutPublishing = strings.NewReplacer(
	`{"name": "Publishing", "description": "Publishing of files, with a key."},`, ``,
	" Publishing requires `publish`, `publish:<namespace>/*` or `publish:<namespace>/<dataset>`.", ``,
)

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
	Tags       json.RawMessage                 `json:"tags"`
	Paths      map[string]map[string]operation `json:"paths"` // by path and method
	Components struct {
		Schemas         map[string]any       `json:"schemas"`
		Responses       json.RawMessage      `json:"responses"`
		Headers         json.RawMessage      `json:"headers"`
		Parameters      map[string]parameter `json:"parameters"`
		SecuritySchemes json.RawMessage      `json:"securitySchemes"`
	} `json:"components"`
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

// schemaPath is the start of a reference to a schema of the document.
const schemaPath = "#/components/schemas/"

func schemaRef(name string) map[string]any { return map[string]any{"$ref": schemaPath + name} }

// Limits of a document with the operations of all datasets. Viewers and client generators do not
// support larger ones.
const (
	MaxDatasets = 200
	maxSize     = 1 << 20 // bytes
)

// detail is how much of each dataset a document describes.
type detail int

const (
	allOperators detail = iota // a parameter for each field and operator
	compact                    // one parameter for all filters, and schemas shared by datasets
	generic                    // no dataset; refers to the documents of datasets
)

// Generate returns the document for datasets, with as much detail as the limits permit. total is
// the number of datasets of the service; datasets may be omitted if there are more than
// MaxDatasets. publicURL is the base URL of the service; empty means that of the document.
func Generate(publicURL string, datasets []herb.Dataset, total int, has Features) (body []byte, err error) {
	level := allOperators
	if len(datasets) < total {
		level = generic
	}
	for ; level <= generic; level++ {
		body, err = generate(publicURL, datasets, total, has, level)
		if err != nil || len(body) <= maxSize || total == 1 {
			break
		}
	}
	return body, err
}

// removeTag removes the operations with a tag.
func (doc *document) removeTag(tag string) {
	for path, operations := range doc.Paths {
		maps.DeleteFunc(operations, func(_ string, o operation) bool { return slices.Contains(o.Tags, tag) })
		if len(operations) == 0 {
			delete(doc.Paths, path)
		}
	}
}

func generate(publicURL string, datasets []herb.Dataset, total int, has Features, level detail) ([]byte, error) {
	var doc document
	base := base
	if !has.Plants {
		base = []byte(withoutPlants.Replace(string(base)))
	}
	if !has.Publishing {
		base = []byte(withoutPublishing.Replace(string(base)))
	}
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
	if !has.Plants {
		doc.removeTag("Plants")
		delete(schemas, "Plant")
		delete(schemas, "NewPlant")
	}
	if !has.Publishing {
		doc.removeTag("Publishing")
		for _, name := range []string{"Publish", "Published", "PublishedField", "Change"} {
			delete(schemas, name)
		}
	}
	schemas["FieldType"] = map[string]any{
		"type": "string", "description": "Type of a field; determines how values compare.", "enum": herb.Types(),
	}
	schemas["Operator"] = map[string]any{
		"type": "string", "description": "Operator of a filter, as in name[operator]=value.", "enum": query.Ops(),
	}
	doc.Servers = []server{{cmp.Or(strings.TrimRight(publicURL, "/"), "/"), "The server of this document."}}
	names := uniqueNames{}
	if level == generic {
		doc.Info.Description += fmt.Sprintf("\n\nThis server has %s datasets. `/openapi.json?dataset=<namespace>/<dataset>` is the document with "+
			"the parameters and records of one of them, and `/api/v1` lists them.", herb.Count(total))
		datasets = nil
	}
	for i := range datasets {
		d, name := &datasets[i], names.identifier(datasets[i].Ref)
		doc.addDataset(d, name, level)
		if total == 1 {
			if err := doc.addOwnOperations(d, name); err != nil {
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
