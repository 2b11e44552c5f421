package httpapi

import "herbarium/internal/query"

// sharedResponses returns the responses that several operations have.
func sharedResponses() object {
	failure := func(description string, headerNames ...string) object {
		return jsonResponse(description, schema("Error"), append([]string{"Cache-Control"}, headerNames...)...)
	}
	return object{
		{"NotModified", object{
			{"description", "Not modified."},
			{"headers", headers("ETag", "Cache-Control", "Vary")},
		}},
		{"BadRequest", failure("Invalid request; the message says how to fix it.")},
		{"Unauthorized", failure("A key is missing, or the one given is mistyped, unknown, expired or revoked.", "WWW-Authenticate")},
		{"Forbidden", failure("The key is valid but lacks the scope.", "WWW-Authenticate")},
		{"NotFound", failure("No such dataset.")},
		{"TooManyFailures", failure("Too many invalid keys from this address.", "Retry-After")},
		{"InternalError", failure("Internal error, logged with the request ID.")},
		{"Unavailable", failure("Overload, or an unavailable dependency.", "Retry-After")},
	}
}

// sharedHeaders returns the response headers.
func sharedHeaders() object {
	header := func(required bool, s object) object {
		o := object{{"description", s[1].value}}
		if required {
			o = append(o, member{"required", true})
		}
		return append(o, member{"schema", object{s[0]}.with(s[2:]...)})
	}
	return object{
		{"X-Request-Id", header(true, str("Identifies the request in the log of the service.", member{"pattern", "^[A-Za-z0-9._~-]{1,128}$"}))},
		{"ETag", header(true, str("Changes whenever the response may change.", member{"pattern", `^W/"[^"]+"$`}))},
		{"Cache-Control", header(true, str("Who may cache the response; caches must revalidate it."))},
		{"Vary", header(true, str("Request headers that the response depends on."))},
		{"Link", header(false, str("Links to pages (RFC 8288): first, prev, next, last; relative to the request. Absent on files."))},
		{"X-Total-Count", header(false, whole("Number of records in a file.", member{"minimum", 0}))},
		{"Content-Disposition", header(false, str("Suggested file name."))},
		{"WWW-Authenticate", header(true, str("The required key and scope (RFC 6750).", member{"pattern", "^Bearer "}))},
		{"Retry-After", header(true, whole("Seconds to wait before a retry.", member{"minimum", 1}))},
		{"Idempotency-Replayed", header(false, str("true if this is the response to an earlier request with the same Idempotency-Key.",
			member{"enum", []string{"true"}}))},
	}
}

// sharedParameters returns the parameters that several operations have.
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
		{"namespace", inPath("namespace", "Namespace of the dataset.")},
		{"dataset", inPath("dataset", "Name of the dataset.")},
		{"page", inQuery(query.ParamPage, "Page number, counted from 1. Not for files.", object{
			{"type", "integer"}, {"minimum", 1}, {"maximum", query.MaxPage}, {"default", 1},
		})},
		{"per_page", inQuery(query.ParamPerPage, "Maximum number of records per page. Larger values are capped; "+
			"meta has the value used. Not for files.", object{
			{"type", "integer"}, {"minimum", 1}, {"maximum", query.MaxPerPage}, {"default", query.DefaultPerPage},
		})},
		{"order", inQuery(query.ParamOrder, "Direction of sort; has no effect without sort.", object{
			{"type", "string"}, {"enum", []string{"asc", "desc"}}, {"default", "asc"},
		})},
		{"search", inQuery(query.ParamSearch, "Words to find in the searchable fields, ignoring case and accents. "+
			"All must occur. word* is a prefix, \"a phrase\" is consecutive words, -word excludes.", object{{"type", "string"}})},
		{"top", inQuery(query.ParamTop, "Number of most frequent values to return per field.", object{
			{"type", "integer"}, {"minimum", 0}, {"maximum", query.MaxTop}, {"default", query.DefaultTop},
		})},
		{"buckets", inQuery(query.ParamBuckets, "Maximum number of buckets of a histogram; 0 for no histogram.", object{
			{"type", "integer"}, {"anyOf", []any{object{{"const", 0}}, object{{"minimum", query.MinBuckets}}}},
			{"maximum", query.MaxBuckets}, {"default", query.DefaultBuckets},
		})},
		{"api_key", inQuery(query.ParamAPIKey, "A key, for datasets that need one. Prefer a header.", object{{"type", "string"}})},
		{"If-None-Match", inHeader("If-None-Match", "Entity tags of the client's copies. If one is current, the response is 304.")},
		{"X-Request-Id", inHeader("X-Request-Id", "Client-defined request ID: up to 128 letters, digits and . _ ~ -")},
	}
}
