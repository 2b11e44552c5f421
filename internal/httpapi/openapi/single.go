package openapi

import (
	"encoding/json"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// anyDataset is the beginning of the paths of operations that apply to any dataset.
const anyDataset = "/api/v1/{namespace}/{dataset}"

// keepReading turns the operations that read any dataset into operations of one dataset, and
// removes all others with what only they refer to. Clients that are generated from the document
// have the types of one dataset and little else.
func (doc *document) keepReading(d *herb.Dataset, name string) error {
	url, own := "/api/v1/"+d.Ref.String(), map[string]map[string]operation{}
	for path, operations := range doc.Paths {
		rest, isGeneral := strings.CutPrefix(path, anyDataset)
		get, ok := operations["get"]
		switch {
		case strings.HasPrefix(path, url+"/"), d.Ref == herb.PlantsRef && path == "/plants":
			own[path] = operations
		case isGeneral && ok && slices.Contains(get.Tags, "Data") && isOffered(d, rest) && doc.Paths[url+rest] == nil:
			get = get.forDataset(d, get.ID+"_"+name, get.Summary)
			doc.addGroups(&get, d, rest)
			own[url+rest] = map[string]operation{"get": get}
		}
	}
	doc.Paths = own
	doc.Tags = slices.DeleteFunc(doc.Tags, func(t tag) bool {
		return t.Name != "Data" && (t.Name != "Plants" || d.Ref != herb.PlantsRef)
	})
	doc.Info.Description += "\n\nThis document describes how to read one dataset. `/openapi.json` without `dataset` " +
		"describes all operations, also those that publish."
	return doc.removeUnused()
}

// isOffered reports whether a dataset has an operation that applies to any dataset. It has its own
// ones where only some have them.
func isOffered(d *herb.Dataset, path string) bool {
	switch path {
	case "/data/{key}", "/facets", "/data.geojson":
		return false
	case "/versions", "/changes", "/changes.csv", "/changes.ndjson", "/data.parquet":
		return d.Ref != herb.PlantsRef
	}
	return true
}

// addGroups adds the fields of a dataset to operations that compute measures or count in a grid.
func (doc *document) addGroups(op *operation, d *herb.Dataset, path string) {
	switch path {
	case "/grid":
		doc.addFilters(op, d, query.KindGrid)
	case "/aggregate", "/aggregate.csv":
		if len(d.Fields) <= maxListed {
			doc.restrictItems(op, "by", groupings(d))
			doc.restrictItems(op, "measure", measures(d))
		}
		doc.addFilters(op, d, query.KindAggregate)
	}
}

// groupings returns the values of the parameter _by, except for the widths of buckets.
func groupings(d *herb.Dataset) (all []string) {
	for _, f := range d.Fields {
		if !f.Filterable {
			continue
		}
		all = append(all, f.Name)
		for _, grain := range query.Grains(&f) {
			all = append(all, f.Name+":"+string(grain))
		}
		if f.Type == herb.TypeNumber {
			all = append(all, f.Name+":log")
		}
	}
	return all
}

// measures returns the values of the parameter _measure, with the usual percentiles and without
// ratios, which are as many as pairs of fields.
func measures(d *herb.Dataset) []string {
	all := []string{string(query.MeasureCount)}
	for _, f := range d.Fields {
		for _, kind := range query.MeasureKinds() {
			names := []string{string(kind)}
			switch kind {
			case query.MeasureCount, query.MeasureRatio:
				continue
			case query.MeasurePercentile:
				names = []string{"p5", "p10", "p25", "p75", "p90", "p95", "p99"}
			}
			for _, name := range names {
				if kind.AppliesTo(&f) {
					all = append(all, name+":"+f.Name)
				}
			}
		}
	}
	return all
}

// hasOperators reports whether a field has operators, and whether all of them can be written with
// its name: another field may be called price[gte].
func hasOperators(d *herb.Dataset, i int) bool {
	f := d.Fields[i]
	for _, operator := range query.FieldOps(f) {
		field, resolved, ok := query.ResolveFilter(query.FilterParam(f.Name, operator), d.Fields)
		if !ok || field != i || resolved != operator {
			return false
		}
	}
	return len(query.FieldOps(f)) > 0
}

// addFilterSchema adds the schema of the conditions on a field and returns its name. Fields of the
// same type with the same operators share it.
func (doc *document) addFilterSchema(f herb.Field) string {
	name, operators := camelCase(string(f.Type))+"Filter", query.FieldOps(f)
	switch {
	case !f.Filterable:
		name = "WordsFilter"
	case slices.Contains(operators, query.OpMatch):
		name = "Searchable" + name
	}
	if doc.Components.Schemas[name] != nil {
		return name
	}
	members := map[string]any{}
	for _, operator := range operators {
		about, _, _ := strings.Cut(operator.Describe("field"), " If repeated")
		member := map[string]any{"type": "string", "description": about}
		switch {
		case operator == query.OpEmpty:
			member["type"] = "boolean"
		case doc.opts.Typed && f.Type == herb.TypeNumber && operator != query.OpIn && operator != query.OpMatch:
			member["type"] = []string{"number", "string"}
		}
		members[string(operator)] = member
	}
	doc.Components.Schemas[name] = map[string]any{
		"type": "object", "properties": members, "additionalProperties": false,
		"description": "Conditions that all apply, as in `field[gte]=2&field[lt]=5`. Alternatives are `in`, or repeated " +
			"parameters of `_filter`.",
	}
	return name
}

// reference matches a reference to a component.
var reference = regexp.MustCompile(`"#/components/(schemas|responses|headers|parameters)/([^"]+)"`)

// removeUnused removes the components that no operation refers to.
func (doc *document) removeUnused() error {
	c := &doc.Components
	var responses, headers map[string]json.RawMessage
	err := errors.Join(json.Unmarshal(c.Responses, &responses), json.Unmarshal(c.Headers, &headers))
	if err != nil {
		return err
	}
	used := map[string]bool{}
	var follow func(part any) error
	follow = func(part any) error {
		encoded, err := json.Marshal(part)
		if err != nil {
			return err
		}
		for _, found := range reference.FindAllSubmatch(encoded, -1) {
			kind, name := string(found[1]), string(found[2])
			if used[kind+"/"+name] {
				continue
			}
			used[kind+"/"+name] = true
			next := map[string]any{"schemas": c.Schemas[name], "responses": responses[name], "headers": headers[name],
				"parameters": c.Parameters[name]}[kind]
			if err := follow(next); err != nil {
				return err
			}
		}
		return nil
	}
	if err := follow(doc.Paths); err != nil {
		return err
	}
	deleteUnused(c.Schemas, used, "schemas/")
	deleteUnused(c.Parameters, used, "parameters/")
	deleteUnused(responses, used, "responses/")
	deleteUnused(headers, used, "headers/")
	c.Responses, err = json.Marshal(responses)
	if err != nil {
		return err
	}
	c.Headers, err = json.Marshal(headers)
	return err
}

// deleteUnused deletes the components whose name with a prefix is not used.
func deleteUnused[V any](components map[string]V, used map[string]bool, prefix string) {
	maps.DeleteFunc(components, func(name string, _ V) bool { return !used[prefix+name] })
}
