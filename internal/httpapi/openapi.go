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

// The groups of operations.
const (
	tagPlants  = "Plants"
	tagData    = "Data"
	tagService = "Service"
)

// operation is what the OpenAPI document says of a route beyond the route itself.
type operation struct {
	description string
	parameters  []any
	body        any // nil: none
	responses   object
}

// document is the OpenAPI document of the datasets at one time.
type document struct {
	key  string // changes when the document may change
	body []byte
	tag  string
}

// openAPI answers with the OpenAPI document.
func (a *API) openAPI(w *response, r *http.Request) error {
	datasets, err := a.opts.Library.Datasets(r.Context())
	if err != nil {
		return err
	}
	key := documentKey(datasets)
	d := a.document.Load()
	if d == nil || d.key != key {
		body, err := encodeJSON(a.describeAll(datasets))
		if err != nil {
			return err
		}
		d = &document{key: key, body: body, tag: a.entityTag(string(body))}
		a.document.Store(d)
	}
	w.setCaching(r, herb.AccessOpen)
	if !w.notModified(r, d.tag) {
		w.send(r, http.StatusOK, contentJSON, d.body)
	}
	return nil
}

// documentKey names the versions of all datasets. The fields of the plants are always the same.
func documentKey(datasets []herb.Dataset) string {
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

// describeAll makes the document: the operations of the route table, and the listing and the facets once more for
// each dataset, with its own parameters and records.
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
		names, wide := distinct{}, false
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
		{"servers", []any{object{{"url", cmp.Or(strings.TrimRight(a.opts.PublicURL, "/"), "/")}, {"description", "Where this document comes from."}}}},
		{"tags", []any{
			object{{"name", tagPlants}, {"description", "The plant store."}},
			object{{"name", tagData}, {"description", "Datasets and their records. What is created in the plant store is listed as store/plants."}},
			object{{"name", tagService}, {"description", "About the service itself."}},
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

const introduction = "Records of datasets, page by page, sorted, searched and filtered; and plants to be created.\n\n" +
	"Every error on every path, an unknown path (404) and a wrong method (405, with `Allow`) included, has the body " +
	"`Error`; its `error` is the HTTP status and its `message` says what was wrong and what would be right. `HEAD` works " +
	"wherever `GET` does, and `OPTIONS` tells what is allowed. Every response has an `X-Request-Id`; one that is sent is " +
	"kept. Everything under `/api/` and this document may be read by scripts of any origin (CORS). Bodies come in zstd or " +
	"gzip if `Accept-Encoding` asks for it.\n\n" +
	"A dataset with `access: key` shows its records to holders of a key alone. Its description (name, fields, version, " +
	"number of records) is open all the same."

// describe returns the route as an operation object.
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
	return append(o, member{"responses", withFaults(rt.doc.responses)})
}

// withFaults adds the responses that any request may get, and the one that any request with a key may get.
func withFaults(responses object) object {
	if slices.ContainsFunc(responses, func(m member) bool { return m.name == "401" }) {
		responses = responses.with(member{"429", ref("responses", "TooManyFailures")})
	}
	return responses.with(
		member{"500", ref("responses", "InternalError")},
		member{"503", ref("responses", "Unavailable")},
	)
}

// security returns the alternatives of which one is enough; an empty one means that none is needed.
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
			{"description", "A key as access token: `Authorization: Bearer <key>`. Creating plants takes the scope `plants:write`."},
		}},
		{"apiKeyHeader", object{
			{"type", "apiKey"}, {"in", "header"}, {"name", "X-API-Key"},
			{"description", "A key with the scope `data:read`, `data:read:<namespace>/*` or `data:read:<namespace>/<dataset>`. " +
				"If keys are given in several ways the first of X-API-Key, Authorization and api_key counts."},
		}},
		{"apiKeyQuery", object{
			{"type", "apiKey"}, {"in", "query"}, {"name", "api_key"},
			{"description", "The same key in the URL, for clients that can set no header. URLs are easily leaked: prefer a header."},
		}},
	}
}
