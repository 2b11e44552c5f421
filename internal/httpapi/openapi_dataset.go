package httpapi

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// uniqueNames generates unique names.
type uniqueNames map[string]bool

// identifier returns a name for a dataset that all client generators accept: letters, digits and underscores.
func (d uniqueNames) identifier(r herb.Ref) string {
	base := strings.NewReplacer("-", "_", ".", "_").Replace(r.Namespace + "_" + r.Name)
	name := base
	for n := 2; d[name]; n++ {
		name = base + "_" + strconv.Itoa(n)
	}
	d[name] = true
	return name
}

func recordSchema(name string) string { return "Record_" + name }

// describeRecord returns the schema of the records of a dataset.
func describeRecord(d herb.Dataset) object {
	names := make([]string, len(d.Fields))
	properties := make(object, len(d.Fields))
	for i, f := range d.Fields {
		names[i] = f.Name
		p := object{{"type", "string"}}
		if f.Title != "" {
			p = append(p, member{"title", f.Title})
		}
		properties[i] = member{f.Name, append(p, member{"description", describeField(f)})}
	}
	return record("A record of "+d.Ref.String()+". A missing value is an empty string.", names, properties).
		with(member{"additionalProperties", false})
}

// describeField returns the description of a field.
func describeField(f herb.Field) string {
	kinds := map[herb.Type]string{
		herb.TypeText:   "Text.",
		herb.TypeNumber: "A number in plain decimal notation, as written in the source.",
		herb.TypeDate:   "A date, YYYY-MM-DD.",
		herb.TypeList:   "A list of comma-separated elements.",
	}
	if f.Description == "" {
		return kinds[f.Type]
	}
	return strings.TrimRight(f.Description, ". ") + ". " + kinds[f.Type]
}

// describeListing returns the operation object of the listing of one dataset.
func describeListing(d herb.Dataset, name string) object {
	about := listDescription
	if d.Description != "" {
		about = d.Description + "\n\n" + about
	}
	page := record("A page of records.", []string{"data", "meta"}, object{
		{"data", array(schema(recordSchema(name)))},
		{"meta", schema("Meta")},
	})
	return object{
		{"operationId", "list_" + name},
		{"tags", []string{tagData}},
		{"summary", "List " + titleOf(d)},
		{"description", about},
		{"security", accessTo(d).security()},
		{"parameters", datasetParameters(d, name)},
		{"responses", withErrorResponses(listResponses(page))},
	}
}

// titleOf returns the title of a dataset, or its ref if it has none.
func titleOf(d herb.Dataset) string { return cmp.Or(d.Title, d.Ref.String()) }

// accessTo returns the authentication for the records of a dataset.
func accessTo(d herb.Dataset) auth {
	if d.Access == herb.AccessKey {
		return authKey
	}
	return authOptional
}

// datasetParameters returns the parameters of the listing of a dataset.
func datasetParameters(d herb.Dataset, name string) []any {
	var sortable []string
	for _, f := range d.Fields {
		if f.Sortable {
			sortable = append(sortable, f.Name)
		}
	}
	params := []any{ref("parameters", "page"), ref("parameters", "per_page")}
	if len(sortable) > 0 {
		params = append(params, inQuery(query.ParamSort, "Field to sort by. Empty values are last in both directions.",
			object{{"type", "string"}, {"enum", sortable}}))
	}
	params = append(params, ref("parameters", "order"), ref("parameters", "search"), ref("parameters", "api_key"),
		ref("parameters", "If-None-Match"), ref("parameters", "X-Request-Id"))
	return append(params, filtersOf(d, name, query.Reserved())...)
}

// maxListed is the maximum number of filterable fields with one parameter per field and operator. With more, one
// dataset would dominate the document and exceed what viewers and client generators support.
const maxListed = 50

func filtersSchema(name string) string { return "Filters_" + name }

// isWide reports whether a dataset has too many fields for individual parameters.
func isWide(d herb.Dataset) bool {
	n := 0
	for _, f := range d.Fields {
		if f.Filterable {
			n++
		}
	}
	return n > maxListed
}

// filtersOf returns the filter parameters of a dataset, except for reserved names: one for each field and operator or,
// for a wide dataset, a single one for all.
func filtersOf(d herb.Dataset, name string, reserved []string) (params []any) {
	if isWide(d) {
		return []any{inQuery("filters", "Any field in the schema, as `field=value` or `field[operator]=value`; may be "+
			"repeated. For the operators of a field, see `/api/v1/"+d.Ref.String()+"`.", schema(filtersSchema(name)))}
	}
	for _, f := range d.Fields {
		params = append(params, filterParameters(f, reserved)...)
	}
	return params
}

// describeFilters returns the schema of the filters of a wide dataset.
func describeFilters(d herb.Dataset) object {
	var fields object
	for _, f := range d.Fields {
		if f.Filterable && !slices.Contains(query.Reserved(), f.Name) {
			fields = append(fields, member{f.Name, schema("FilterValues")})
		}
	}
	return object{
		{"type", "object"}, {"description", "Filters of " + d.Ref.String() + ". All must match."},
		{"properties", fields},
		{"patternProperties", object{
			{`\[(eq|ne|gt|gte|lt|lte|in|prefix)\]$`, schema("FilterValues")},
			{`\[empty\]$`, object{{"type", "string"}, {"enum", []string{"true", "false"}}}},
		}},
	}
}

// filterValuesSchema returns the schema of a filter value of a wide dataset.
func filterValuesSchema() object {
	return object{
		{"type", []string{"string", "array"}}, {"items", object{{"type", "string"}}},
		{"description", "A value. If repeated, any of the values. If empty, records without a value."},
	}
}

// filterParameters returns the filter parameters of a field, except for reserved names.
func filterParameters(f herb.Field, reserved []string) []any {
	var params []any
	values := array(object{{"type", "string"}})
	if f.Filterable && !slices.Contains(reserved, f.Name) {
		const about = "Records whose %s is this value. If repeated, any of the values. If empty, records without a value."
		params = append(params, inQuery(f.Name, fmt.Sprintf(about, f.Name), values))
	}
	for _, op := range operators(f) {
		s := values
		if op == "empty" {
			s = object{{"type", "string"}, {"enum", []string{"true", "false"}}}
		}
		params = append(params, inQuery(fmt.Sprintf("%s[%s]", f.Name, op), fmt.Sprintf(operatorText[op], f.Name), s))
	}
	return params
}

// operatorText describes the records that each operator selects.
var operatorText = map[query.Op]string{
	query.OpEq:     "Records whose %s is this value. If repeated, any of the values.",
	query.OpNe:     "Records whose %s is not this value. If repeated, none of the values.",
	query.OpGt:     "Records whose %s is greater than this value.",
	query.OpGte:    "Records whose %s is greater than or equal to this value.",
	query.OpLt:     "Records whose %s is less than this value.",
	query.OpLte:    "Records whose %s is less than or equal to this value.",
	query.OpPrefix: "Records whose %s begins with this value.",
	"in":           "Records whose %s is one of these comma-separated values.",
	"empty":        "true: records without a value for %s; false: those with one.",
}

// inQuery returns a query parameter. Lists are given by repeating it.
func inQuery(name, description string, schema any) object {
	return object{
		{"name", name}, {"in", "query"}, {"description", description},
		{"style", "form"}, {"explode", true}, {"schema", schema},
	}
}
