package httpapi

import (
	"herbarium/internal/export"
	"herbarium/internal/query"
)

const listDescription = "Records come in the order of the dataset (its `order`, or that of the source), best matches first when searched, " +
	"unless `sort` says otherwise. " +
	"A filter is `field=value`, which matches the whole value (an element of a list), or `field[operator]=value`; different " +
	"fields must all match, a repeated one must match once. A parameter that is not known is refused, never ignored. " +
	"A page past the end is empty.\n\n" +
	"A request with `Accept: text/csv` or `application/x-ndjson` gets the whole result as a file, in the same order; `page` and " +
	"`per_page` are then refused. Such an answer ends with the trailer fields `Content-Digest`, `Unencoded-Digest` and " +
	"`X-Content-Rows`; where they are missing, it was cut off."

func listDoc() operation {
	return operation{
		description: listDescription + " This is the general form; each dataset is described with its own parameters, too.",
		parameters: []any{
			ref("parameters", "namespace"), ref("parameters", "dataset"),
			ref("parameters", "page"), ref("parameters", "per_page"),
			inQuery(query.ParamSort, "Field to sort by. Empty values come last in both orders.", object{{"type", "string"}}),
			ref("parameters", "order"), ref("parameters", "search"), ref("parameters", "api_key"),
			filtersParameter(),
			ref("parameters", "If-None-Match"), ref("parameters", "X-Request-Id"),
		},
		responses: listResponses(schema("Listing")),
	}
}

// filtersParameter stands for the filters of a dataset that is not known.
func filtersParameter() object {
	return inQuery("filters", "Any filterable field, as `field=value` or `field[operator]=value`, each as often as needed.", object{
		{"type", "object"},
		{"additionalProperties", array(object{{"type", "string"}})},
	})
}

// listResponses returns the responses of a listing whose success has the given schema.
func listResponses(success object) object {
	return object{
		{"200", object{
			{"description", "A page of records; or all of them, as a file."},
			{"headers", headers("ETag", "Cache-Control", "Vary", "Link", "X-Total-Count", "Content-Disposition")},
			{"content", object{
				{contentJSON, object{{"schema", success}}},
				{export.CSV.MediaType(), object{{"schema", str("All records. The first line names the fields; lines end with CR LF.")}}},
				{export.NDJSON.MediaType(), object{{"schema", str("All records, each a JSON object on a line of its own.")}}},
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
		description: "200 means that the plant is on disk. It is listed as a record of `store/plants` at once. Unknown members are ignored.",
		parameters: []any{
			ref("parameters", "X-Request-Id"),
			object{
				{"name", "Idempotency-Key"}, {"in", "header"},
				{"description", "Makes it safe to try again: the same key and body get the first answer again, for at least 24 hours. " +
					"The same key with another body is rejected. Visible ASCII characters, bare or in double quotes, which do not count."},
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
			{"200", answer("The plant was created, now or by an earlier attempt.", schema("Plant"), "Cache-Control", "Idempotency-Replayed")},
			{"400", ref("responses", "BadRequest")},
			{"401", ref("responses", "Unauthorized")},
			{"403", ref("responses", "Forbidden")},
		},
	}
}

func catalogueDoc() operation {
	return operation{
		description: "All datasets, those included whose records take a key: `access: key` protects records, not descriptions.",
		parameters:  conditionalParameters(),
		responses:   described("The datasets.", schema("Catalogue")),
	}
}

func describeDoc() operation {
	return operation{
		description: "The fields of a dataset, what each can be used for, its version and its number of records. " +
			"`access: key` protects the records, not this description; a key that lists them adds what quotes their values.",
		parameters: append([]any{ref("parameters", "namespace"), ref("parameters", "dataset")}, conditionalParameters()...),
		responses:  described("The dataset.", schema("Dataset")).with(member{"404", ref("responses", "NotFound")}),
	}
}

func openAPIDoc() operation {
	return operation{
		description: "The OpenAPI description of everything here, with the parameters and records of every dataset.",
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
		description: "The JSON Schema of the `herbarium` members of a Data Package descriptor. Editors that know it complete and check them.",
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
		description: "Answers as long as the process can answer anything.",
		responses:   object{{"200", answer("It is.", schema("Status"), "Cache-Control")}},
	}
}

func readyDoc() operation {
	return operation{
		description: "503 while the service starts, stops, or can answer nothing. As long as it can list something it should get requests: " +
			"200 then names the parts that are missing.",
		responses: object{{"200", answer("It should.", schema("Status"), "Cache-Control")}},
	}
}

// conditionalParameters are those of whatever has an entity tag.
func conditionalParameters() []any {
	return []any{ref("parameters", "If-None-Match"), ref("parameters", "X-Request-Id")}
}

// described returns the responses of a description.
func described(description string, s object) object {
	return object{
		{"200", answer(description, s, "ETag", "Cache-Control", "Vary")},
		{"304", ref("responses", "NotModified")},
	}
}

// answer returns a response with a JSON body.
func answer(description string, s object, headerNames ...string) object {
	return object{
		{"description", description},
		{"headers", headers(headerNames...)},
		{"content", object{{"application/json", object{{"schema", s}}}}},
	}
}

// headers returns references to headers of responses; all have a request id.
func headers(names ...string) object {
	o := object{{"X-Request-Id", ref("headers", "X-Request-Id")}}
	for _, n := range names {
		o = append(o, member{n, ref("headers", n)})
	}
	return o
}
