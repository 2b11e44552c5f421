package httpapi

import (
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

const facetsDescription = "Returns, for each `field`, its most frequent values, the number of distinct values and of records without one; " +
	"for numbers and dates also minimum, maximum and a histogram. Only records that match the " +
	"filters and the search are counted, which are the same as in the listing. All counts are exact. " +
	"Unknown parameters are rejected, not ignored."

func facetsDoc() operation {
	return operation{
		description: facetsDescription + " This is the generic operation; each dataset also has its own with specific parameters.",
		parameters: []any{
			ref("parameters", "namespace"), ref("parameters", "dataset"), fieldParameter(object{{"type", "string"}}),
			ref("parameters", "top"), ref("parameters", "buckets"), ref("parameters", "search"), ref("parameters", "api_key"),
			filtersParameter(),
			ref("parameters", "If-None-Match"), ref("parameters", "X-Request-Id"),
		},
		responses: facetsResponses(),
	}
}

// fieldParameter returns the parameter for the fields; name is the schema of a field name.
func fieldParameter(name object) object {
	return inQuery(query.ParamField, "Field whose values are counted. Repeat it for several fields.",
		array(name).with(member{"minItems", 1}, member{"maxItems", query.MaxFacetFields}, member{"uniqueItems", true})).
		with(member{"required", true})
}

func facetsResponses() object {
	return object{
		{"200", jsonResponse("The distribution of the values.", schema("Facets"), "ETag", "Cache-Control", "Vary")},
		{"304", ref("responses", "NotModified")},
		{"400", ref("responses", "BadRequest")},
		{"401", ref("responses", "Unauthorized")},
		{"403", ref("responses", "Forbidden")},
		{"404", ref("responses", "NotFound")},
	}
}

// describeFacets returns the operation object of the facets of one dataset; ok is false if it has no filterable field.
func describeFacets(d herb.Dataset, name string) (op object, ok bool) {
	var filterable []string
	for _, f := range d.Fields {
		if f.Filterable {
			filterable = append(filterable, f.Name)
		}
	}
	if len(filterable) == 0 {
		return nil, false
	}
	params := []any{
		fieldParameter(object{{"type", "string"}, {"enum", filterable}}),
		ref("parameters", "top"), ref("parameters", "buckets"), ref("parameters", "search"), ref("parameters", "api_key"),
		ref("parameters", "If-None-Match"), ref("parameters", "X-Request-Id"),
	}
	params = append(params, filtersOf(d, name, slices.Concat(query.Reserved(), query.FacetParams()))...)
	return object{
		{"operationId", "facets_" + name},
		{"tags", []string{tagData}},
		{"summary", "Count the values of " + titleOf(d)},
		{"description", facetsDescription},
		{"security", accessTo(d).security()},
		{"parameters", params},
		{"responses", withErrorResponses(facetsResponses())},
	}, true
}

// facetSchemas returns the schemas of facets.
func facetSchemas() object {
	count := func(description string) object { return whole(description, member{"minimum", 0}) }
	return object{
		{"Facets", record("Distributions of the values of fields.", []string{"data", "meta"}, object{
			{"data", array(schema("Facet"))},
			{"meta", record("Metadata of the counts.", []string{"total"}, object{
				{"total", count("Records that match the filters and the search.")},
			})},
		})},
		{"Facet", record("Distribution of the values of one field.", []string{"field", "type", "empty", "distinct", "values"}, object{
			{"field", str("Name of the field.")},
			{"type", str("Type of the field; determines how values compare.", member{"enum", herb.Types()})},
			{"empty", count("Records without a value.")},
			{"distinct", count("Distinct values; for lists, distinct elements.")},
			{"values", array(record("A value.", []string{"value", "count"}, object{
				{"value", str("The value, as written in the first record that has it.")},
				{"count", whole("Records that have it.", member{"minimum", 1})},
			})).with(member{"maxItems", query.MaxTop}, member{"description", "By descending count; ties in the order of the values."})},
			{"min", str("Numbers and dates: minimum; empty if there are no values.")},
			{"max", str("Numbers and dates: maximum; empty if there are no values.")},
			{"histogram", array(record("Records with from <= value < to; the last bucket includes value = to.",
				[]string{"from", "to", "count"}, object{
					{"from", str("Lower bound, inclusive.")},
					{"to", str("Upper bound.")},
					{"count", count("Records in the bucket.")},
				})).with(member{"maxItems", query.MaxBuckets}, member{"description", "Numbers and dates: adjacent buckets in ascending order."})},
		})},
	}
}
