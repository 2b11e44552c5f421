package descriptor_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"herbarium/docs/schemas"
	"herbarium/internal/ingest/rowstest"
)

// TestSchema checks that the JSON Schema and the reader know the same members and reject the same
// settings.
func TestSchema(t *testing.T) {
	t.Parallel()
	var schema struct {
		Defs map[string]struct {
			Properties           map[string]any
			AdditionalProperties any
		} `json:"$defs"`
	}
	if err := json.Unmarshal([]byte(schemas.DataPackage), &schema); err != nil {
		t.Fatal(err)
	}
	resource := func(s string) string { return `{"resources":[{"path":"a.csv",` + s + `}]}` }
	own := func(s string) string { return resource(`"herbarium":{` + s + `}`) }
	field := func(s string) string {
		return resource(`"schema":{"fields":[{"name":"a","herbarium":{` + s + `}}]}`)
	}
	// with an unknown member, so that the error lists those that are known
	for name, descriptor := range map[string]string{
		"packageSettings": `{"herbarium":{"?":1}}`, "resourceSettings": own(`"?":1`), "fieldSettings": field(`"?":1`),
		"order":       own(`"order":{"?":1}`),
		"coordinates": own(`"coordinates":{"?":1}`), "chart": own(`"charts":[{"?":1}]`),
		"expectation": own(`"expectations":[{"?":1}]`),
	} {
		err := read(t, rowstest.Folder(t, "a.csv", "datapackage.json="+descriptor)).Err()
		if err == nil {
			t.Fatalf("%s: no error", descriptor)
		}
		_, known, _ := strings.Cut(err.Error(), "valid members: ")
		names := strings.Split(known, ", ")
		slices.Sort(names)
		def := schema.Defs[name]
		if diff := cmp.Diff(names, slices.Sorted(maps.Keys(def.Properties))); diff != "" ||
			def.AdditionalProperties != false {
			t.Errorf("%s (-reader +schema): %v\n%s", name, def.AdditionalProperties, diff)
		}
	}
	for _, tt := range []struct {
		descriptor string
		right      bool
	}{
		{resource(`"x":{"anything":1}`), true},
		{resource(`"schema":{"fields":[{"name":"a","type":"number","x":[]}],"missingValues":[{"value":"NA"}]}`), true},
		{`{"name":"n","herbarium":{"access":"key"},"resources":[{"path":["a.csv"]}]}`, true},
		{`{"resources":[{"data":[{"a":1}]}]}`, true},
		{own(`"access":"open","order":"-a","include":{"a":["1",2,true],"b":"2"},"exclude":{"a":["Total",3],"b":"4"},"expectations":[{"query":"a=1","total":0,"first":{"a":1}}]`), true},
		{own(`"order":{"field":"a","order":"desc"}`), true},
		{own(`"words":"exact"`), true},
		{own(`"words":"all"`), false},
		{own(`"expectations":[{"query":"","first":{"a":null}}]`), true},
		{field(`"from":"b","searchable":true,"filterable":false,"sortable":true,"weight":10`), true},
		{`{}`, false},
		{`{"resources":[]}`, false},
		{`{"resources":[{"name":"x"}]}`, false},
		{`{"herbarium":{"order":"a"},"resources":[{"path":"a.csv"}]}`, false},
		{own(`"access":"private"`), false},
		{own(`"coordinates":{"latitude":"a","longitude":"b"}`), true},
		{own(`"coordinates":{"field":"a","notation":"lat,lon"}`), true},
		{own(`"coordinates":"none"`), true},
		{own(`"coordinates":"all"`), false},
		{own(`"coordinates":{"field":"a"}`), false},
		{own(`"coordinates":{"field":"a","notation":"kml"}`), false},
		{own(`"coordinates":{"latitude":"a"}`), false},
		{own(`"coordinates":{"latitude":"a","longitude":"b","notation":"wkt"}`), false},
		{own(`"coordinates":{"latitude":"a","longitude":"b","field":"c"}`), false},
		{own(`"charts":[{"by":"a:month","measure":"count"},{"by":["a","b"]},{"measure":"mean:a"}]`), true},
		{own(`"charts":[{}]`), false},
		{own(`"charts":{"by":"a"}`), false},
		{own(`"charts":[{"by":"a","kind":"pie"}]`), false},
		{own(`"parquet":true`), true},
		{own(`"parquet":false`), true},
		{own(`"parquet":"yes"`), false},
		{own(`"keep":12,"keep_for":"90d"`), true},
		{own(`"keep":0`), false},
		{own(`"keep":"12"`), false},
		{own(`"keep_for":0`), true},
		{own(`"keep_for":"0"`), true},
		{own(`"keep_for":"0s"`), false},
		{own(`"keep_for":90`), false},
		{own(`"keep_for":"90 days"`), false},
		{own(`"order":""`), false},
		{own(`"order":"-"`), false},
		{own(`"order":{"order":"asc"}`), false},
		{own(`"order":{"field":"a","order":"up"}`), false},
		{own(`"include":["a"]`), false},
		{own(`"exclude":["a"]`), false},
		{own(`"exclude":{"a":[]}`), false},
		{own(`"include":{"a":[]}`), false},
		{own(`"include":{"a":{"b":1}}`), false},
		{own(`"expectations":[{"total":1}]`), false},
		{own(`"expectations":[{"query":"a","min":1},{"query":"a","max":1},{"query":"a","min":1,"max":1,"first":{"a":1}}]`), true},
		{own(`"expectations":[{"query":"a","min":1,"total":1}]`), false},
		{own(`"expectations":[{"query":"a"}]`), false},
		{own(`"expectations":[{"query":"a","total":-1}]`), false},
		{own(`"expectation":[]`), false},
		{field(`"weight":0`), false},
		{field(`"weight":1.5`), false},
		{field(`"weight":11`), false},
		{field(`"searchable":"yes"`), false},
		{field(`"column":"b"`), false},
	} {
		dir := rowstest.Folder(t, "a.csv=a,b\n1,2\n", "datapackage.json="+tt.descriptor)
		if err := read(t, dir).Err(); (err == nil) != tt.right {
			t.Errorf("%s\nread: %v", tt.descriptor, err)
		}
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(tt.descriptor))
		if err != nil {
			t.Fatal(err)
		}
		if err := rowstest.DescriptorSchema(t).Validate(doc); (err == nil) != tt.right {
			t.Errorf("%s\nby the schema: %v", tt.descriptor, err)
		}
	}
}
