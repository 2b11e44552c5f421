package openapi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/text"
)

// Paths of the operations that apply to any dataset. Those of a dataset are derived from them.
const (
	listPath   = "/api/v1/{namespace}/{dataset}/data"
	facetsPath = "/api/v1/{namespace}/{dataset}/facets"
)

// uniqueNames generates unique names.
type uniqueNames map[string]bool

// identifier returns a name for a dataset that all client generators accept: letters, digits and underscores.
func (u uniqueNames) identifier(r herb.Ref) string {
	base := strings.NewReplacer("-", "_", ".", "_").Replace(r.Namespace + "_" + r.Name)
	name := base
	for n := 2; u[name]; n++ {
		name = base + "_" + strconv.Itoa(n)
	}
	u[name] = true
	return name
}

// addDataset adds the operations and the schemas of a dataset. name is its unique identifier.
func (doc *document) addDataset(d *herb.Dataset, name string) {
	title, path := cmp.Or(d.Title, d.Ref.String()), "/api/v1/"+d.Ref.String()
	filterable := fieldNames(d, func(f herb.Field) bool { return f.Filterable })
	wide := len(filterable) > maxListed
	doc.Components.Schemas["Record_"+name] = newRecordSchema(d)
	if wide {
		doc.Components.Schemas["Filters_"+name] = newFiltersSchema(d, filterable)
	}
	filters := func(reserved []string) []parameter {
		if wide {
			return []parameter{queryParameter("filters", "Any field in the schema, as `field=value` or `field[operator]=value`; may be "+
				"repeated. For the operators of a field, see `"+path+"`.", schemaRef("Filters_"+name))}
		}
		return filterParameters(d, reserved)
	}

	list := doc.Paths[listPath]["get"].forDataset(d, "list_"+name, "List "+title)
	if d.Description != "" {
		list.Description = d.Description + "\n\n" + list.Description
	}
	list.replaceParameter("sort", sortKeys(d))
	list.Parameters = append(list.Parameters, filters(query.Reserved())...)
	ok := list.Responses["200"]
	ok.Content = maps.Clone(ok.Content)
	ok.Content["application/json"] = map[string]any{"schema": map[string]any{
		"type": "object", "description": "A page of records.", "required": []string{"data", "meta"},
		"properties": map[string]any{
			"data": map[string]any{"type": "array", "items": schemaRef("Record_" + name)},
			"meta": schemaRef("Meta"),
		},
	}}
	list.Responses = maps.Clone(list.Responses)
	list.Responses["200"] = ok
	doc.Paths[path+"/data"] = map[string]operation{"get": list}

	if len(filterable) > 0 {
		facets := doc.Paths[facetsPath]["get"].forDataset(d, "facets_"+name, "Count the values of "+title)
		facets.replaceParameter("field", filterable)
		facets.Parameters = append(facets.Parameters, filters(slices.Concat(query.Reserved(), query.FacetParams()))...)
		doc.Paths[path+"/facets"] = map[string]operation{"get": facets}
	}
}

// fieldNames returns the names of the fields that meet a condition.
func fieldNames(d *herb.Dataset, meets func(herb.Field) bool) (names []string) {
	for _, f := range d.Fields {
		if meets(f) {
			names = append(names, f.Name)
		}
	}
	return names
}

// sortKeys returns the values of the sort parameter: the sortable fields, ascending and descending.
func sortKeys(d *herb.Dataset) (keys []string) {
	for _, name := range fieldNames(d, func(f herb.Field) bool { return f.Sortable }) {
		keys = append(keys, name, "-"+name)
	}
	return keys
}

// forDataset returns the operation for one dataset, without the parameters for its path and its filters.
func (op operation) forDataset(d *herb.Dataset, id, summary string) operation {
	op.ID, op.Summary = id, summary
	if d.Access == herb.AccessKey {
		op.Security = op.Security[1:] // the first alternative is no key
	}
	op.Parameters = slices.DeleteFunc(slices.Clone(op.Parameters), func(p parameter) bool {
		return p.Name == "filters" || strings.HasSuffix(p.Ref, "/namespace") || strings.HasSuffix(p.Ref, "/dataset")
	})
	return op
}

// replaceParameter restricts a parameter, or its items, to names of fields, and removes it if there are none.
func (op *operation) replaceParameter(name string, fields []string) {
	i := slices.IndexFunc(op.Parameters, func(p parameter) bool { return p.Name == name })
	if len(fields) == 0 {
		op.Parameters = slices.Delete(op.Parameters, i, i+1)
		return
	}
	p := &op.Parameters[i]
	p.Schema = maps.Clone(p.Schema)
	if _, ok := p.Schema["items"]; ok {
		p.Schema["items"] = map[string]any{"type": "string", "enum": fields}
	} else {
		p.Schema["enum"] = fields
	}
}

// newRecordSchema returns the schema of the records of a dataset.
func newRecordSchema(d *herb.Dataset) map[string]any {
	return map[string]any{
		"type": "object", "description": "A record of " + d.Ref.String() + ". A missing value is an empty string.",
		"required":   append([]string{}, fieldNames(d, func(herb.Field) bool { return true })...),
		"properties": properties{d.Fields, ownSchema}, "additionalProperties": false,
	}
}

// properties encodes fields as the properties of a schema, in the order of the fields.
type properties struct {
	fields []herb.Field
	schema func(herb.Field) any
}

// MarshalJSON implements json.Marshaler.
func (p properties) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, f := range p.fields {
		schema, err := json.Marshal(p.schema(f))
		if err != nil {
			return nil, err
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = append(herb.AppendJSONString(b, f.Name), ':')
		b = append(b, schema...)
	}
	return append(b, '}'), nil
}

// ownSchema returns the schema of a field with its title and description.
func ownSchema(f herb.Field) any {
	return struct {
		Type        string `json:"type"`
		Title       string `json:"title,omitempty"`
		Description string `json:"description"`
	}{"string", f.Title, describeField(f)}
}

// describeField returns the description of a field, followed by that of its type and its notation.
func describeField(f herb.Field) string {
	about := map[herb.Type]string{
		herb.TypeText:     "Text.",
		herb.TypeNumber:   "A number, as written in the source.",
		herb.TypeDate:     "A date, as written in the source.",
		herb.TypeDateTime: "A date and time, as written in the source. Without a zone it is in UTC.",
		herb.TypeBoolean:  "True or false, as written in the source.",
		herb.TypeList:     "A list of comma-separated elements.",
	}[f.Type]
	if f.Description != "" {
		about = strings.TrimRight(f.Description, ". ") + ". " + about
	}
	n := f.Notation
	for _, part := range []struct{ format, value string }{
		{" Decimal separator: `%s`.", n.Decimal}, {" Thousands separator: `%s`.", n.Group}, {" Written with `%s`.", n.Affix},
		{" Layout: `%s`.", n.Layout}, {" True is written `%s`.", strings.Join(n.True, "` or `")}, {" False is written `%s`.", strings.Join(n.False, "` or `")},
		{" Missing values are empty or `%s`.", strings.Join(n.Missing, "`, `")},
	} {
		if part.value != "" {
			about += fmt.Sprintf(part.format, part.value)
		}
	}
	return about
}

// maxListed is the maximum number of filterable fields with one parameter per field and operator. With more, one
// dataset would dominate the document and exceed what viewers and client generators support.
const maxListed = 50

// newFiltersSchema returns the schema of the filters of a dataset with more than maxListed filterable fields.
func newFiltersSchema(d *herb.Dataset, filterable []string) map[string]any {
	fields := map[string]any{}
	for _, name := range filterable {
		if !slices.Contains(query.Reserved(), name) {
			fields[name] = schemaRef("FilterValues")
		}
	}
	return map[string]any{
		"type": "object", "description": "Filters of " + d.Ref.String() + ". All must match.", "properties": fields,
		"patternProperties": map[string]any{`\[empty\]$`: booleanSchema(), `\[(eq|ne|gt|gte|lt|lte|in|prefix)\]$`: schemaRef("FilterValues")},
	}
}

func booleanSchema() map[string]any {
	return map[string]any{"type": "string", "enum": []string{"true", "false"}}
}

// filterParameters returns the filter parameters of a dataset: one for each field and operator, and one for each field
// whose name is not reserved.
func filterParameters(d *herb.Dataset, reserved []string) (params []parameter) {
	values := map[string]any{"type": "array", "items": map[string]any{"type": "string"}}
	for _, f := range d.Fields {
		if f.Filterable && !slices.Contains(reserved, f.Name) {
			about := fmt.Sprintf("Records whose %s is this value. If repeated, any of the values. If empty, records without a value.", f.Name)
			if f.Type.IsScalar() {
				about += fmt.Sprintf(" Write a %s %s, or as in the records.", f.Type, text.Example(f.Type))
			}
			params = append(params, queryParameter(f.Name, about, values))
		}
		for _, op := range Operators(f) {
			schema := values
			if op == query.OpEmpty {
				schema = booleanSchema()
			}
			params = append(params, queryParameter(fmt.Sprintf("%s[%s]", f.Name, op), describeOperator(op, f.Name), schema))
		}
	}
	return params
}

// queryParameter returns a query parameter. Lists are given by repeating it.
func queryParameter(name, description string, schema map[string]any) parameter {
	return parameter{Name: name, In: "query", Description: description, Style: "form", Explode: new(true), Schema: schema}
}

// describeOperator describes the records that an operator selects.
func describeOperator(op query.Op, field string) string {
	about := map[query.Op]string{
		query.OpEq:     "Records whose %s is this value. If repeated, any of the values.",
		query.OpNe:     "Records whose %s is not this value. If repeated, none of the values.",
		query.OpGt:     "Records whose %s is greater than this value.",
		query.OpGte:    "Records whose %s is greater than or equal to this value.",
		query.OpLt:     "Records whose %s is less than this value.",
		query.OpLte:    "Records whose %s is less than or equal to this value.",
		query.OpPrefix: "Records whose %s begins with this value.",
		query.OpIn:     "Records whose %s is one of these comma-separated values.",
		query.OpEmpty:  "true: records whose %s is missing; false: those with a value.",
	}
	return fmt.Sprintf(about[op], field)
}

// Operators returns the operators of a field.
func Operators(f herb.Field) []query.Op {
	ops := []query.Op{}
	if f.Filterable {
		ops = query.Ops()
	}
	if f.Type == herb.TypeNumber || f.Type == herb.TypeBoolean {
		ops = slices.DeleteFunc(ops, func(o query.Op) bool { return o == query.OpPrefix })
	}
	return ops
}
