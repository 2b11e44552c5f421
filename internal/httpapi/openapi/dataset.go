package openapi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/text"
)

// Paths of the operations that apply to any dataset. Those of a dataset are derived from them.
const (
	listPath   = "/api/v1/{namespace}/{dataset}/data"
	facetsPath = "/api/v1/{namespace}/{dataset}/facets"
	recordPath = "/api/v1/{namespace}/{dataset}/data/{key}"
)

// addDataset adds the operations and the schema of the records of a dataset. name is its unique
// identifier.
func (doc *document) addDataset(d *herb.Dataset, name string, opts Options) {
	title, url := cmp.Or(d.Title, d.Ref.String()), "/api/v1/"+d.Ref.String()
	doc.Components.Schemas["Record_"+name] = recordSchema(d, opts)
	list := doc.Paths[listPath]["get"].forDataset(d, "list_"+name, "List "+title)
	list.setSchema(map[string]any{
		"type": "object", "description": "A page of records.", "required": []string{"data", "meta"},
		"properties": map[string]any{
			"data": map[string]any{"type": "array", "items": schemaRef("Record_" + name)},
			"meta": schemaRef("Meta"),
		},
	})
	facets := doc.Paths[facetsPath]["get"].forDataset(d, "facets_"+name, "Count the values of "+title)
	filterable := fieldNames(d, func(f herb.Field) bool { return f.Filterable })
	doc.restrictItems(&facets, "countedField", filterable)
	doc.restrictItems(&list, "sort", sortKeys(d))
	doc.restrictFields(&list, d)
	doc.addFilters(&list, d, query.KindListing)
	doc.addFilters(&facets, d, query.KindListing|query.KindFacets)
	list.Description = strings.TrimSpace(d.Description + "\n\n" + list.Description)
	doc.Paths[url+"/data"] = map[string]operation{"get": list}
	if len(filterable) > 0 {
		doc.Paths[url+"/facets"] = map[string]operation{"get": facets}
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
	if d.HasCoordinates() {
		keys = append(keys, query.SortDistance, "-"+query.SortDistance)
	}
	return keys
}

// forDataset returns the operation for one dataset, without the parameters for its path.
func (op operation) forDataset(d *herb.Dataset, id, summary string) operation {
	op.ID, op.Summary = id, summary
	if d.Access.NeedsKey() {
		op.Security = op.Security[1:] // the first alternative is no key
	}
	op.Responses = maps.Clone(op.Responses)
	omitted := []string{"namespace", "datasetName"}
	if d.Ref == herb.PlantsRef { // has no versions
		omitted = append(omitted, "version")
		delete(op.Responses, "410")
	}
	op.Parameters = slices.DeleteFunc(slices.Clone(op.Parameters), func(p parameter) bool {
		return slices.Contains(omitted, path.Base(p.Ref))
	})
	return op
}

// recordSchema returns the schema of the records of a dataset. Members whose names client
// generators do not support are additional ones, so that clients can read them.
func recordSchema(d *herb.Dataset, opts Options) map[string]any {
	members, required := properties{}, []string{}
	missing, other := "an empty string", map[string]any{"type": "string"}
	if opts.Typed {
		missing, other = "null", anyValue()
	}
	var additional any = false
	for i, f := range d.Fields {
		if isPortable(f.Name) {
			schema := valueSchema{Type: "string"}
			switch {
			case opts.Typed && opts.Types != nil:
				schema = schemaOf(opts.Types[i])
			case opts.Typed:
				schema = anySchemaOf(f.Type)
			}
			members, required = append(members, property{f, schema}), append(required, f.Name)
			if name := f.Name + query.LabelSuffix; f.HasCategoryLabels() && herb.FieldIndex(d.Fields, name) < 0 {
				label := herb.Field{Name: name, Type: herb.TypeText}
				label.Description = "Category label of " + f.Name + ", with `" + query.ParamLabels + "=true`"
				members = append(members, property{label, valueSchema{Type: "string"}})
			}
		} else {
			additional = other
		}
	}
	return map[string]any{
		"type": "object", "description": "A record of " + d.Ref.String() + ". A missing value is " + missing + ".",
		"properties": members, "required": required, "additionalProperties": additional,
	}
}

// property is a field with the schema of its values.
type property struct {
	herb.Field
	schema valueSchema
}

// properties encodes fields as the properties of a schema, in the order of the fields.
type properties []property

// MarshalJSON implements json.Marshaler.
func (p properties) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	goNames := uniqueNames{"AdditionalProperties": true, "Get": true, "Set": true} // of records with additional members
	for i, f := range p {
		encoded, err := json.Marshal(struct {
			valueSchema
			Title       string `json:"title,omitempty"`
			Description string `json:"description"`
			GoName      string `json:"x-go-name,omitempty"`
		}{f.schema, f.Title, f.describe(), goNames.goName(f.Name)})
		if err != nil {
			return nil, err
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(herb.AppendJSONString(b, f.Name), ':'), encoded...)
	}
	return append(b, '}'), nil
}

// describe returns the description of a field. In typed JSON, its values have no notation.
func (p property) describe() string {
	if p.schema.Type == "string" || p.schema.About != "" {
		return describeField(p.Field) + p.schema.About
	}
	plain := describeField(herb.Field{Type: p.Field.Type, Description: p.Description})
	switch p.Field.Type {
	case herb.TypeList:
		return strings.Replace(plain, "A list of comma-separated elements.", "A list.", 1)
	case herb.TypeDuration:
		return strings.Replace(plain, ", as written in the source", " in seconds", 1)
	}
	return strings.Replace(plain, ", as written in the source", "", 1)
}

// describeField returns the description of a field, followed by that of its type and its notation.
func describeField(f herb.Field) string {
	about := map[herb.Type]string{
		herb.TypeText:     "Text.",
		herb.TypeNumber:   "A number, as written in the source.",
		herb.TypeDate:     "A date, as written in the source.",
		herb.TypeDateTime: "A date and time, as written in the source. Without a zone it is in UTC.",
		herb.TypeTime:     "A time of day, as written in the source.",
		herb.TypeDuration: "A length of time, as written in the source.",
		herb.TypeBoolean:  "True or false, as written in the source.",
		herb.TypeList:     "A list of comma-separated elements.",
	}[f.Type]
	if precision := text.PrecisionOf(&f); precision != text.PrecisionDay {
		about = fmt.Sprintf("A %s, as written in the source.", precision)
	}
	if f.Description != "" {
		about = strings.TrimRight(f.Description, ". ") + ". " + about
	}
	n := f.Notation
	if n.JSON {
		about = strings.TrimSuffix(about, "comma-separated elements.") + "elements in a JSON array."
	}
	for _, part := range []struct{ format, value string }{
		{" Decimal separator: `%s`.", n.Decimal}, {" Thousands separator: `%s`.", n.Group},
		{" Written with `%s`.", n.Affix},
		{" Date format: `%s`.", n.DateFormat}, {" True is written `%s`.", strings.Join(n.True, "` or `")},
		{" False is written `%s`.", strings.Join(n.False, "` or `")},
		{" Missing values are empty or `%s`.", strings.Join(n.Missing, "`, `")},
		{" Values: %s.", herb.ListCategories(f.Categories)},
	} {
		if part.value != "" {
			about += fmt.Sprintf(part.format, part.value)
		}
	}
	return about
}

// maxListed is the maximum number of filterable fields with one parameter per field and operator.
// With more, one dataset would dominate the document and exceed what viewers and client generators
// support.
const maxListed = 50

// addFilters adds the filter parameters of a dataset: one for each field and operator, and one for
// each field whose name is no parameter of these kinds of requests. In the document of a single
// dataset, a field has one parameter with all its operators. A field without any is filtered with
// query.ParamFilter.
func (doc *document) addFilters(op *operation, d *herb.Dataset, kinds query.Kind) {
	if len(fieldNames(d, func(f herb.Field) bool { return f.Filterable })) > maxListed {
		return
	}
	reserved, goNames := kinds.Parameters(), uniqueNames{}
	for _, p := range op.Parameters {
		goNames[camelCase(p.Name+path.Base(p.Ref))] = true
	}
	values := map[string]any{"type": "array", "items": map[string]any{"type": "string"}}
	for i, f := range d.Fields {
		if !isPortable(f.Name) {
			continue
		}
		if doc.opts.Single {
			if !slices.Contains(reserved, f.Name) && hasOperators(d, i) {
				op.Parameters = append(op.Parameters, parameter{
					Name: f.Name, In: "query", Style: "deepObject", Explode: new(true),
					Schema: schemaRef(doc.addFilterSchema(f)), GoName: goNames.goName(f.Name),
				})
			}
			continue
		}
		add := func(name string, operator query.Op, description string, schema map[string]any) {
			// A field may be called price[gte].
			field, resolved, ok := query.ResolveFilter(name, d.Fields)
			if ok && field == i && resolved == operator && !slices.Contains(reserved, name) {
				op.Parameters = append(op.Parameters, parameter{
					Name: name, In: "query", Description: description, Style: "form", Explode: new(true),
					Schema: schema, GoName: goNames.goName(name),
				})
			}
		}
		about := fmt.Sprintf("Records whose %s is this value. If repeated, any of the values. If empty, records "+
			"without a value.", f.Name)
		if f.Type.IsScalar() {
			about += fmt.Sprintf(" Write a %s %s, or as in the records.", f.Type, text.Example(&f))
		}
		if f.Type == herb.TypeDateTime {
			about += " A day finds all its datetimes, in UTC."
		}
		if f.Filterable {
			add(f.Name, query.OpEq, about, values)
		}
		for _, operator := range query.FieldOps(f) {
			schema := values
			if operator == query.OpEmpty {
				schema = map[string]any{"type": "boolean"}
			}
			add(query.FilterParam(f.Name, operator), operator, operator.Describe(f.Name), schema)
		}
	}
}
