package httpapi

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"herbarium/internal/herb"
)

// interfaceVersion is the version of the interface, not of the program.
const interfaceVersion = "1.0.0"

// Tags of operations.
const (
	tagPlants  = "Plants"
	tagData    = "Data"
	tagService = "Service"
)

// operation is the OpenAPI description of a route.
type operation struct {
	description string
	parameters  []any
	body        any // nil if there is none
	responses   object
}

// document is the OpenAPI document for one set of datasets.
type document struct {
	fingerprint string // changes whenever the document may change
	body        []byte
	tag         string
}

// openAPI handles the OpenAPI document.
func (a *API) openAPI(w *response, r *http.Request) error {
	datasets, err := a.opts.Library.Datasets(r.Context())
	if err != nil {
		return err
	}
	key := fingerprintOf(datasets)
	d := a.document.Load()
	if d == nil || d.fingerprint != key {
		body, err := encodeJSON(a.describeAll(datasets))
		if err != nil {
			return err
		}
		d = &document{fingerprint: key, body: body, tag: a.entityTag(string(body))}
		a.document.Store(d)
	}
	w.setCaching(r, herb.AccessOpen)
	if !w.notModified(r, d.tag) {
		w.send(r, http.StatusOK, contentJSON, d.body)
	}
	return nil
}

// fingerprintOf identifies the versions of all datasets. The fields of the plants never change.
func fingerprintOf(datasets []herb.Dataset) string {
	var b strings.Builder
	for _, d := range datasets {
		b.WriteString(d.Ref.String())
		if d.Ref != herb.PlantsRef {
			b.WriteString("@" + d.Version + string(d.Access))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// describeAll generates the document: the operations of the route table, and for each dataset its listing and facets
// with their parameters and records.
func (a *API) describeAll(datasets []herb.Dataset) object {
	var paths object
	schemas := schemas()
	for i := range a.routes {
		rt := &a.routes[i]
		if rt.page {
			continue
		}
		paths = append(paths, member{rt.path(), object{{strings.ToLower(rt.method), rt.describe()}}})
		if rt.pattern != listPattern {
			continue
		}
		names, wide := uniqueNames{}, false
		for _, d := range datasets {
			name, at := names.identifier(d.Ref), "/api/v1/"+d.Ref.String()
			schemas = append(schemas, member{recordSchema(name), describeRecord(d)})
			if isWide(d) {
				schemas = append(schemas, member{filtersSchema(name), describeFilters(d)})
				wide = true
			}
			paths = append(paths, member{at + "/data", object{{"get", describeListing(d, name)}}})
			if op, ok := describeFacets(d, name); ok {
				paths = append(paths, member{at + "/facets", object{{"get", op}}})
			}
		}
		if wide {
			schemas = append(schemas, member{"FilterValues", filterValuesSchema()})
		}
	}
	return object{
		{"openapi", "3.1.0"},
		{"info", object{
			{"title", "Herbarium"},
			{"version", interfaceVersion},
			{"summary", "A plant store, and listings of datasets."},
			{"description", introduction},
			{"license", object{{"name", "Apache-2.0"}, {"identifier", "Apache-2.0"}}},
		}},
		{"servers", []any{object{{"url", cmp.Or(strings.TrimRight(a.opts.PublicURL, "/"), "/")}, {"description", "The server of this document."}}}},
		{"tags", []any{
			object{{"name", tagPlants}, {"description", "The plant store."}},
			object{{"name", tagData}, {"description", "Datasets and their records. Created plants are listed as store/plants."}},
			object{{"name", tagService}, {"description", "Service metadata and health."}},
		}},
		{"paths", paths},
		{"components", object{
			{"schemas", schemas},
			{"responses", sharedResponses()},
			{"headers", sharedHeaders()},
			{"parameters", sharedParameters()},
			{"securitySchemes", securitySchemes()},
		}},
	}
}

const introduction = "List the records of datasets with paging, sorting, search and filters, and create plants.\n\n" +
	"Every error, including an unknown path (404) and a wrong method (405, with `Allow`), has the body " +
	"`Error`; its `error` is the HTTP status and its `message` says what is wrong and how to fix it. `HEAD` works " +
	"wherever `GET` does, and `OPTIONS` returns the allowed methods. Every response has an `X-Request-Id`, that of the request " +
	"if it has one. Scripts of any origin may read everything under `/api/` and this document (CORS). Bodies are compressed with zstd or " +
	"gzip if `Accept-Encoding` permits it.\n\n" +
	"The records of a dataset with `access: key` require a key. Its description (name, fields, version, " +
	"number of records) does not."

// describe returns the operation object of the route.
func (rt *route) describe() object {
	o := object{
		{"operationId", rt.id},
		{"tags", []string{rt.tag}},
		{"summary", rt.summary},
		{"description", rt.doc.description},
		{"security", rt.auth.security()},
	}
	if len(rt.doc.parameters) > 0 {
		o = append(o, member{"parameters", rt.doc.parameters})
	}
	if rt.doc.body != nil {
		o = append(o, member{"requestBody", rt.doc.body})
	}
	return append(o, member{"responses", withErrorResponses(rt.doc.responses)})
}

// withErrorResponses adds the responses that any request may get, and the one that any request with a key may get.
func withErrorResponses(responses object) object {
	if slices.ContainsFunc(responses, func(m member) bool { return m.name == "401" }) {
		responses = responses.with(member{"429", ref("responses", "TooManyFailures")})
	}
	return responses.with(
		member{"500", ref("responses", "InternalError")},
		member{"503", ref("responses", "Unavailable")},
	)
}

// security returns the alternative security requirements; an empty one means that no key is required.
func (k auth) security() []object {
	scheme := func(name string) object { return object{{name, []string{}}} }
	switch anyWay := []object{scheme("apiKeyHeader"), scheme("bearer"), scheme("apiKeyQuery")}; k {
	case authBearer:
		return []object{scheme("bearer")}
	case authKey:
		return anyWay
	case authOptional:
		return append([]object{{}}, anyWay...)
	default:
		return []object{}
	}
}

func securitySchemes() object {
	return object{
		{"bearer", object{
			{"type", "http"}, {"scheme", "bearer"},
			{"description", "A key as bearer token: `Authorization: Bearer <key>`. Creating plants requires the scope `plants:write`."},
		}},
		{"apiKeyHeader", object{
			{"type", "apiKey"}, {"in", "header"}, {"name", "X-API-Key"},
			{"description", "A key with the scope `data:read`, `data:read:<namespace>/*` or `data:read:<namespace>/<dataset>`. " +
				"If several are given, the first of X-API-Key, Authorization and api_key is used."},
		}},
		{"apiKeyQuery", object{
			{"type", "apiKey"}, {"in", "query"}, {"name", "api_key"},
			{"description", "The same key in the URL, for clients that cannot set headers. URLs are easily leaked; prefer a header."},
		}},
	}
}
