package httpapi

import (
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

const facetsDescription = "Of each `field`: its most frequent values, how many different ones there are, how many records have none; " +
	"of numbers and dates the least and the greatest value and a histogram, too. Counted are the records that meet the " +
	"filters and the search, which are those of the listing; all counts are exact. " +
	"A parameter that is not known is refused, never ignored."

func facetsDoc() operation {
	return operation{
		description: facetsDescription + " This is the general form; each dataset is described with its own parameters, too.",
		parameters: []any{
			ref("parameters", "namespace"), ref("parameters", "dataset"), fieldParameter(object{{"type", "string"}}),
			ref("parameters", "top"), ref("parameters", "buckets"), ref("parameters", "search"), ref("parameters", "api_key"),
			filtersParameter(),
			ref("parameters", "If-None-Match"), ref("parameters", "X-Request-Id"),
		},
		responses: facetsResponses(),
	}
}

// fieldParameter returns the parameter that names the fields, each as the schema says.
func fieldParameter(name object) object {
	return inQuery(query.ParamField, "Field whose values are counted; repeated: several of them.",
		array(name).with(member{"minItems", 1}, member{"maxItems", query.MaxFacetFields}, member{"uniqueItems", true})).
		with(member{"required", true})
}

func facetsResponses() object {
	return object{
		{"200", answer("How the values are distributed.", schema("Facets"), "ETag", "Cache-Control", "Vary")},
		{"304", ref("responses", "NotModified")},
		{"400", ref("responses", "BadRequest")},
		{"401", ref("responses", "Unauthorized")},
		{"403", ref("responses", "Forbidden")},
		{"404", ref("responses", "NotFound")},
	}
}

// describeFacets returns the facets of one dataset as an operation object; ok is false if none of its fields has any.
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
		{"responses", withFaults(facetsResponses())},
	}, true
}

// facetSchemas are the shapes of facets.
func facetSchemas() object {
	count := func(description string) object { return whole(description, member{"minimum", 0}) }
	return object{
		{"Facets", record("How the values of fields are distributed.", []string{"data", "meta"}, object{
			{"data", array(schema("Facet"))},
			{"meta", record("What was counted.", []string{"total"}, object{
				{"total", count("Records that meet the filters and the search.")},
			})},
		})},
		{"Facet", record("How the values of one field are distributed.", []string{"field", "type", "empty", "distinct", "values"}, object{
			{"field", str("Its name.")},
			{"type", str("How its values compare.", member{"enum", herb.Types()})},
			{"empty", count("Records without a value.")},
			{"distinct", count("Different values; of a list, different elements.")},
			{"values", array(record("A value.", []string{"value", "count"}, object{
				{"value", str("As the first record that has it writes it.")},
				{"count", whole("Records that have it.", member{"minimum", 1})},
			})).with(member{"maxItems", query.MaxTop}, member{"description", "The most frequent first, equally frequent ones in their order."})},
			{"min", str("Numbers and dates: the least value; empty if there is none.")},
			{"max", str("Numbers and dates: the greatest value; empty if there is none.")},
			{"histogram", array(record("Records with from <= value < to; in the last bucket, those with value = to, too.",
				[]string{"from", "to", "count"}, object{
					{"from", str("Lower border.")},
					{"to", str("Upper border.")},
					{"count", count("Records between them.")},
				})).with(member{"maxItems", query.MaxBuckets}, member{"description", "Numbers and dates: buckets side by side, in ascending order."})},
		})},
	}
}
