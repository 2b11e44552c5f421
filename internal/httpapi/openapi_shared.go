package httpapi

import "herbarium/internal/query"

// sharedResponses are those that several operations have.
func sharedResponses() object {
	failure := func(description string, headerNames ...string) object {
		return answer(description, schema("Error"), append([]string{"Cache-Control"}, headerNames...)...)
	}
	return object{
		{"NotModified", object{
			{"description", "What the client has is still right."},
			{"headers", headers("ETag", "Cache-Control", "Vary")},
		}},
		{"BadRequest", failure("The request is wrong; the message says how to mend it.")},
		{"Unauthorized", failure("A key is missing, or the one given is mistyped, unknown, expired or revoked.", "WWW-Authenticate")},
		{"Forbidden", failure("The key is valid but lacks the scope.", "WWW-Authenticate")},
		{"NotFound", failure("There is no such dataset.")},
		{"TooManyFailures", failure("Too many invalid keys from this address.", "Retry-After")},
		{"InternalError", failure("A fault of the service.")},
		{"Unavailable", failure("Overload, or a part that is away for now.", "Retry-After")},
	}
}

// sharedHeaders are the headers of responses.
func sharedHeaders() object {
	header := func(required bool, s object) object {
		o := object{{"description", s[1].value}}
		if required {
			o = append(o, member{"required", true})
		}
		return append(o, member{"schema", object{s[0]}.with(s[2:]...)})
	}
	return object{
		{"X-Request-Id", header(true, str("Names the request in the log of the service.", member{"pattern", "^[A-Za-z0-9._~-]{1,128}$"}))},
		{"ETag", header(true, str("Changes whenever the answer may change.", member{"pattern", `^W/"[^"]+"$`}))},
		{"Cache-Control", header(true, str("Who may keep the answer, and that they must ask whether it is still right."))},
		{"Vary", header(true, str("Request headers that decide the answer."))},
		{"Link", header(false, str("Pages by RFC 8288: first, prev, next, last; relative to the request. Not on a file."))},
		{"X-Total-Count", header(false, whole("How many records a file has.", member{"minimum", 0}))},
		{"Content-Disposition", header(false, str("The name to save a file by."))},
		{"WWW-Authenticate", header(true, str("What kind of key would help, by RFC 6750.", member{"pattern", "^Bearer "}))},
		{"Retry-After", header(true, whole("Seconds to wait before the next attempt.", member{"minimum", 1}))},
		{"Idempotency-Replayed", header(false, str("true if this is the answer to an earlier request with the same Idempotency-Key.",
			member{"enum", []string{"true"}}))},
	}
}

// sharedParameters are those that several operations have.
func sharedParameters() object {
	inPath := func(name, description string) object {
		return object{
			{"name", name}, {"in", "path"}, {"required", true}, {"description", description},
			{"schema", object{{"type", "string"}}},
		}
	}
	inHeader := func(name, description string) object {
		return object{{"name", name}, {"in", "header"}, {"description", description}, {"schema", object{{"type", "string"}}}}
	}
	return object{
		{"namespace", inPath("namespace", "First part of the dataset's address.")},
		{"dataset", inPath("dataset", "Second part of the dataset's address.")},
		{"page", inQuery(query.ParamPage, "Page number, counted from 1. Not for files.", object{
			{"type", "integer"}, {"minimum", 1}, {"maximum", query.MaxPage}, {"default", 1},
		})},
		{"per_page", inQuery(query.ParamPerPage, "Records on a page. More than the maximum is served as the maximum; "+
			"meta tells what was used. Not for files.", object{
			{"type", "integer"}, {"minimum", 1}, {"maximum", query.MaxPerPage}, {"default", query.DefaultPerPage},
		})},
		{"order", inQuery(query.ParamOrder, "Order of sort; without sort it has no effect.", object{
			{"type", "string"}, {"enum", []string{"asc", "desc"}}, {"default", "asc"},
		})},
		{"search", inQuery(query.ParamSearch, "Words to be found in the searchable fields, whatever their case and accents. "+
			"All must occur. word* is a prefix, \"a phrase\" is consecutive words, -word excludes.", object{{"type", "string"}})},
		{"top", inQuery(query.ParamTop, "How many values of each field to return, the most frequent ones.", object{
			{"type", "integer"}, {"minimum", 0}, {"maximum", query.MaxTop}, {"default", query.DefaultTop},
		})},
		{"buckets", inQuery(query.ParamBuckets, "The most buckets that a histogram may have; 0: no histogram.", object{
			{"type", "integer"}, {"anyOf", []any{object{{"const", 0}}, object{{"minimum", query.MinBuckets}}}},
			{"maximum", query.MaxBuckets}, {"default", query.DefaultBuckets},
		})},
		{"api_key", inQuery(query.ParamAPIKey, "A key, for datasets that need one. Prefer a header.", object{{"type", "string"}})},
		{"If-None-Match", inHeader("If-None-Match", "Entity tags that the client has. If one is still right the answer is 304.")},
		{"X-Request-Id", inHeader("X-Request-Id", "An id of the client's own: up to 128 letters, digits and . _ ~ -")},
	}
}
