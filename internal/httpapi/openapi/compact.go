package openapi

import (
	"cmp"
	"strings"

	"herbarium/internal/herb"
)

// typeSchema returns the name of the schema of a type's values, such as Text.
func typeSchema(t herb.Type) string { return strings.ToUpper(string(t[:1])) + string(t[1:]) }

// sharedSchema returns the schema of a field's type. The document of its dataset has its title, description and notation.
func sharedSchema(f herb.Field, goName string) any {
	schema := schemaRef(typeSchema(f.Type))
	if goName != "" {
		schema["x-go-name"] = goName
	}
	return schema
}

// addCompact adds the operations and the schemas of a dataset in few bytes. Each name of a field occurs once as a member of
// the records and once as a field whose values can be counted.
func (doc *document) addCompact(d *herb.Dataset, name string) {
	title, path := cmp.Or(d.Title, d.Ref.String()), "/api/v1/"+d.Ref.String()
	filterable := fieldNames(d, func(f herb.Field) bool { return f.Filterable })
	schemas := doc.Components.Schemas
	for _, f := range d.Fields {
		schemas[typeSchema(f.Type)] = map[string]any{"type": "string", "description": describeField(herb.Field{Type: f.Type})}
	}
	record := recordSchema(d, "A record of "+d.Ref.String()+".", sharedSchema)
	record["minProperties"] = len(d.Fields)
	schemas["Record_"+name] = record

	list := doc.Paths[listPath]["get"].forCompact(d, "list_"+name, "List "+title)
	list.Description = d.Description
	list.Responses["200"] = jsonResponse("A page of records.", map[string]any{
		"type": "object", "required": []string{"data", "meta"},
		"properties": map[string]any{
			"data": map[string]any{"type": "array", "items": schemaRef("Record_" + name)},
			"meta": schemaRef("Meta"),
		},
	})
	doc.Paths[path+"/data"] = map[string]operation{"get": list}
	if len(filterable) == 0 {
		return
	}
	facets := doc.Paths[facetsPath]["get"].forCompact(d, "facets_"+name, "Count the values of "+title)
	doc.restrictItems(&facets, "countedField", filterable)
	facets.Responses["200"] = jsonResponse("The distribution of the values.", schemaRef("Facets"))
	doc.Paths[path+"/facets"] = map[string]operation{"get": facets}
}

// forCompact is forDataset without parameters and responses that the generic operation documents.
func (op operation) forCompact(d *herb.Dataset, id, summary string) operation {
	op = op.forDataset(d, id, summary)
	op.Description = ""
	var kept []parameter
	for _, p := range op.Parameters {
		if p.Ref != "" && !strings.HasSuffix(p.Ref, "/api_key") && !strings.Contains(p.Ref, "-") { // no headers
			kept = append(kept, p)
		}
	}
	op.Parameters = kept
	all := op.Responses
	op.Responses = map[string]response{"400": all["400"], "503": all["503"]}
	if d.Access == herb.AccessKey {
		op.Responses["401"], op.Responses["403"] = all["401"], all["403"]
	}
	return op
}

func jsonResponse(description string, schema map[string]any) response {
	return response{Description: description, Content: map[string]map[string]any{"application/json": {"schema": schema}}}
}
