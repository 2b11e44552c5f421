package openapi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"

	"herbarium/internal/export"
	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// addOwnOperations adds the operations that only the document of one dataset has: its single
// records, its exports and the types of its facets. Documents of several datasets would be three
// times as large with them.
func (doc *document) addOwnOperations(d *herb.Dataset, name string) error {
	url, title := "/api/v1/"+d.Ref.String(), cmp.Or(d.Title, d.Ref.String())
	for _, f := range export.FormatsOf(d) {
		format := string(f)
		op := doc.Paths[listPath+"."+format]["get"].forDataset(d, format+"_"+name, "Export "+title+" as "+f.Label())
		switch f {
		case export.NDJSON:
			op.Description = "Each line is an object of the schema `Record_" + name + "`. " + op.Description
		case export.GeoJSON:
			op.Description = "The properties are objects of the schema `Record_" + name + "`. " + op.Description
		}
		doc.restrictFields(&op, d)
		if len(d.Fields) <= maxListed {
			doc.restrictItems(&op, "sort", sortKeys(d))
		}
		doc.addFilters(&op, d, query.KindListing)
		doc.Paths[url+"/data."+format] = map[string]operation{"get": op}
	}
	if keyPath, ok := keyPathOf(d); ok {
		doc.Paths[url+"/data"+keyPath] = map[string]operation{"get": doc.recordOperation(d, name, title)}
	}
	facets, ok := doc.Paths[url+"/facets"]
	if !ok {
		return nil
	}
	if err := doc.addFacetSchemas(d, name); err != nil {
		return err
	}
	facets["get"].setSchema(schemaRef("Facets_" + name))
	return nil
}

// keyPathOf returns the part of a record's path with the values of its primary key. ok is false if
// records have no path.
func keyPathOf(d *herb.Dataset) (keyPath string, ok bool) {
	for i, field := range d.PrimaryKey {
		if at := herb.FieldIndex(d.Fields, field); at < 0 || !d.Fields[at].Filterable {
			return "", false
		}
		keyPath += "/{" + keyName(d, i) + "}"
	}
	return keyPath, len(d.PrimaryKey) > 0
}

// keyName returns the parameter of a value of the primary key. It is not the name of the field,
// which may have characters that paths cannot have.
func keyName(d *herb.Dataset, i int) string {
	if len(d.PrimaryKey) == 1 {
		return "key"
	}
	return "key" + strconv.Itoa(i+1)
}

// recordOperation returns the operation that gets one record.
func (doc *document) recordOperation(d *herb.Dataset, name, title string) operation {
	get := doc.Paths[recordPath]["get"].forDataset(d, "get_"+name, "Get a record of "+title)
	get.Description = "The record with the values of the primary key."
	i := slices.IndexFunc(get.Parameters, func(p parameter) bool { return p.Name == "key" })
	var keys []parameter
	for k, field := range d.PrimaryKey {
		key := get.Parameters[i]
		key.Name, key.Description = keyName(d, k), fmt.Sprintf("Value of %s, a field of the primary key.", field)
		if len(d.PrimaryKey) > 1 {
			key.Schema = map[string]any{"type": "string"} // some values of a composite key may be empty
		}
		keys = append(keys, key)
	}
	get.Parameters = slices.Concat(get.Parameters[:i], keys, get.Parameters[i+1:])
	doc.restrictFields(&get, d)
	get.setSchema(schemaRef("Record_" + name))
	return get
}

// addFacetSchemas adds the schemas of the dataset's facets: copies of the general ones whose fields
// are those of the dataset.
func (doc *document) addFacetSchemas(d *herb.Dataset, name string) error {
	copies := map[string]map[string]any{}
	for _, schema := range []string{"Facets", "Facet"} {
		raw, ok := doc.Components.Schemas[schema].(json.RawMessage)
		if !ok {
			return fmt.Errorf("openapi.json has no schema %s", schema)
		}
		own := map[string]any{}
		if err := json.Unmarshal(raw, &own); err != nil {
			return err
		}
		copies[schema] = own
		doc.Components.Schemas[schema+"_"+name] = own
	}
	properties := func(schema string) map[string]any { return copies[schema]["properties"].(map[string]any) }
	properties("Facets")["data"] = map[string]any{"type": "array", "items": schemaRef("Facet_" + name)}
	if names := fieldNames(d, func(f herb.Field) bool { return f.Filterable }); len(names) <= maxListed {
		properties("Facet")["field"] = withEnum(names, "Name of the field.")
	}
	return nil
}

// setSchema sets the schema of a successful response, in a copy of its content.
func (op operation) setSchema(schema map[string]any) {
	ok := op.Responses["200"]
	ok.Content = map[string]map[string]any{"application/json": {"schema": schema}}
	op.Responses["200"] = ok
}

// restrictFields restricts the fields to return to those of a dataset, unless they are many.
func (doc *document) restrictFields(op *operation, d *herb.Dataset) {
	if len(d.Fields) > maxListed {
		return
	}
	doc.restrictItems(op, "fields", fieldNames(d, func(herb.Field) bool { return true }))
}

// restrictItems replaces the reference of an operation to a shared parameter by a copy whose items
// are restricted to values. Without values, it removes the reference.
func (doc *document) restrictItems(op *operation, key string, values []string) {
	i := slices.IndexFunc(op.Parameters, func(p parameter) bool { return path.Base(p.Ref) == key })
	if len(values) == 0 {
		op.Parameters = slices.Delete(op.Parameters, i, i+1)
		return
	}
	p := doc.Components.Parameters[key]
	p.Schema = maps.Clone(p.Schema)
	p.Schema["items"] = withEnum(values, "")
	op.Parameters[i] = p
}

// withEnum returns the schema of a string that is one of some values, if client generators support
// all of them.
func withEnum(values []string, description string) map[string]any {
	schema := map[string]any{"type": "string"}
	if description != "" {
		schema["description"] = description
	}
	if !slices.ContainsFunc(values, func(value string) bool { return !isPortable(value) }) {
		schema["enum"] = values
	}
	return schema
}
