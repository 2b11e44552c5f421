package httpapi

import (
	"herbarium/internal/export"
	"herbarium/internal/query"
)

const listDescription = "Records are in the order of the dataset (its `order`, or that of the source), or by relevance if there is a `search`, " +
	"unless `sort` is given. " +
	"A filter is `field=value`, which matches the whole value (an element of a list), or `field[operator]=value`. Filters on different " +
	"fields must all match; of a repeated filter, one value must match. Unknown parameters are rejected, not ignored. " +
	"A page past the end is empty.\n\n" +
	"With `Accept: text/csv` or `application/x-ndjson`, the response is the complete result as a file, in the same order; `page` and " +
	"`per_page` are then rejected. It ends with the trailer fields `Content-Digest`, `Unencoded-Digest` and " +
	"`X-Content-Rows`; if they are missing, it is incomplete."

func listDoc() operation {
	return operation{
		description: listDescription + " This is the generic operation; each dataset also has its own with specific parameters.",
		parameters: []any{
			ref("parameters", "namespace"), ref("parameters", "dataset"),
			ref("parameters", "page"), ref("parameters", "per_page"),
			inQuery(query.ParamSort, "Field to sort by. Empty values are last in both directions.", object{{"type", "string"}}),
			ref("parameters", "order"), ref("parameters", "search"), ref("parameters", "api_key"),
			filtersParameter(),
			ref("parameters", "If-None-Match"), ref("parameters", "X-Request-Id"),
		},
		responses: listResponses(schema("Listing")),
	}
}

// filtersParameter returns the parameter for the filters of an arbitrary dataset.
func filtersParameter() object {
	return inQuery("filters", "Any filterable field, as `field=value` or `field[operator]=value`, may be repeated.", object{
		{"type", "object"},
		{"additionalProperties", array(object{{"type", "string"}})},
	})
}

// listResponses returns the responses of a listing; success is the schema of its body.
func listResponses(success object) object {
	return object{
		{"200", object{
			{"description", "A page of records, or all records as a file."},
			{"headers", headers("ETag", "Cache-Control", "Vary", "Link", "X-Total-Count", "Content-Disposition")},
			{"content", object{
				{contentJSON, object{{"schema", success}}},
				{export.CSV.MediaType(), object{{"schema", str("All records. The first line contains the field names; lines end with CR LF.")}}},
				{export.NDJSON.MediaType(), object{{"schema", str("All records, one JSON object per line.")}}},
			}},
		}},
		{"304", ref("responses", "NotModified")},
		{"400", ref("responses", "BadRequest")},
		{"401", ref("responses", "Unauthorized")},
		{"403", ref("responses", "Forbidden")},
		{"404", ref("responses", "NotFound")},
	}
}

func createPlantDoc() operation {
	return operation{
		description: "200 means that the plant is on disk. It is immediately listed in `store/plants`. Unknown members are ignored.",
		parameters: []any{
			ref("parameters", "X-Request-Id"),
			object{
				{"name", "Idempotency-Key"}, {"in", "header"},
				{"description", "Makes retries safe: a request with the same key and body gets the same response, for at least 24 hours. " +
					"The same key with a different body is rejected. Visible ASCII characters, bare or in double quotes, which are not part of the key."},
				{"schema", object{{"type", "string"}, {"minLength", 1}, {"maxLength", maxIdempotencyKey}}},
			},
		},
		body: object{
			{"required", true},
			{"content", object{{"application/json", object{
				{"schema", schema("NewPlant")},
				{"example", object{{"id", 1}, {"name", "Monstera deliciosa"}, {"tag", "aroid"}}},
			}}}},
		},
		responses: object{
			{"200", jsonResponse("The plant was created, now or by an earlier attempt.", schema("Plant"), "Cache-Control", "Idempotency-Replayed")},
			{"400", ref("responses", "BadRequest")},
			{"401", ref("responses", "Unauthorized")},
			{"403", ref("responses", "Forbidden")},
		},
	}
}

func catalogueDoc() operation {
	return operation{
		description: "All datasets, including those whose records require a key: `access: key` protects records, not descriptions.",
		parameters:  conditionalParameters(),
		responses:   described("The datasets.", schema("Catalogue")),
	}
}

func describeDoc() operation {
	return operation{
		description: "The fields of a dataset, the uses of each, its version and its number of records. " +
			"`access: key` protects the records, not this description; with a key that can read them, it includes members that contain values.",
		parameters: append([]any{ref("parameters", "namespace"), ref("parameters", "dataset")}, conditionalParameters()...),
		responses:  described("The dataset.", schema("Dataset")).with(member{"404", ref("responses", "NotFound")}),
	}
}

func openAPIDoc() operation {
	return operation{
		description: "The OpenAPI document of the service, with the parameters and records of every dataset.",
		parameters:  conditionalParameters(),
		responses: described("This document.", record("An OpenAPI document.", []string{"openapi", "info", "paths"}, object{
			{"openapi", str("Version of the format.")},
			{"info", object{{"type", "object"}}},
			{"paths", object{{"type", "object"}}},
		}).with(member{"additionalProperties", true})),
	}
}

func descriptorSchemaDoc() operation {
	return operation{
		description: "The JSON Schema of the `herbarium` members of a Data Package descriptor. Editors use it for completion and validation.",
		parameters:  conditionalParameters(),
		responses: object{
			{"200", object{
				{"description", "The schema."},
				{"headers", headers("ETag", "Cache-Control", "Vary")},
				{"content", object{{contentSchema, object{{"schema", object{{"type", "object"}}}}}}},
			}},
			{"304", ref("responses", "NotModified")},
		},
	}
}

func healthDoc() operation {
	return operation{
		description: "Responds as long as the process can handle requests.",
		responses:   object{{"200", jsonResponse("The process is alive.", schema("Status"), "Cache-Control")}},
	}
}

func readyDoc() operation {
	return operation{
		description: "503 while the service starts, stops, or can serve nothing. It is ready as long as it can list something: " +
			"the response then names unavailable dependencies.",
		responses: object{{"200", jsonResponse("The service is ready.", schema("Status"), "Cache-Control")}},
	}
}

// conditionalParameters returns the parameters of responses with an entity tag.
func conditionalParameters() []any {
	return []any{ref("parameters", "If-None-Match"), ref("parameters", "X-Request-Id")}
}

// described returns the responses of a description.
func described(description string, s object) object {
	return object{
		{"200", jsonResponse(description, s, "ETag", "Cache-Control", "Vary")},
		{"304", ref("responses", "NotModified")},
	}
}

// jsonResponse returns a response with a JSON body.
func jsonResponse(description string, s object, headerNames ...string) object {
	return object{
		{"description", description},
		{"headers", headers(headerNames...)},
		{"content", object{{"application/json", object{{"schema", s}}}}},
	}
}

// headers returns references to response headers, including the request ID.
func headers(names ...string) object {
	o := object{{"X-Request-Id", ref("headers", "X-Request-Id")}}
	for _, n := range names {
		o = append(o, member{n, ref("headers", n)})
	}
	return o
}
