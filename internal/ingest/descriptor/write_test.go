package descriptor_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"herbarium/docs/schemas"
	"herbarium/internal/herb"
	"herbarium/internal/ingest/descriptor"
	"herbarium/internal/ingest/rowstest"
)

// everything has every member that is read and written.
const everything = `{"name":"n","resources":[{"name":"r","path":["a.csv","b.csv"],"title":"T","description":"D","encoding":"utf-8","innerpath":"i.csv",
	"dialect":{"delimiter":"|","quoteChar":"'","escapeChar":"\\","doubleQuote":false,"skipInitialSpace":true,"headerRows":[2,3],"headerJoin":"/","commentChar":"#",
		"commentRows":[5,6],"skipRows":1,"nullSequence":"NULL","itemKeys":["a","b"],"sheetNumber":2,"table":"t"},
	"schema":{"primaryKey":["no"],"uniqueKeys":[["no","day"],["day"]],"missingValues":["","NA"],"fields":[
		{"name":"no","type":"number","decimalChar":",","groupChar":".","bareNumber":false,"title":"No","description":"Number","missingValues":["","x"],
			"constraints":{"required":true,"minimum":"1","maximum":"9","exclusiveMinimum":"0","exclusiveMaximum":"10","minLength":1,"maxLength":0,"pattern":"\\d","enum":["1","2"]},
			"categories":[{"value":"1","label":"one"},{"value":"2"}],"categoriesOrdered":true,
			"herbarium":{"from":"id","searchable":false,"filterable":true,"sortable":true,"weight":2}},
		{"name":"day","type":"date","format":"%d/%m/%Y","herbarium":{"searchable":false,"filterable":true,"sortable":true}},
		{"name":"ok","type":"boolean","trueValues":["yes"],"falseValues":["no"],"herbarium":{"searchable":true,"filterable":false,"sortable":false}}]},
	"herbarium":{"access":"key","order":{"field":"day","order":"desc"},"words":"exact",` + oneField + `,"source":"public","parquet":true,"keep":13,"keep_for":"90d","expected":"monthly",
		"charts":[{"by":["day:month","no"],"measure":"mean:no"},{"measure":"count"}],"include":{"s":["p",""],"t":["q"]},"exclude":{"s":["Total",""]},
		"expectations":[{"query":"","total":0},{"query":"no=1","min":1,"max":2,"first":{"no":"1"}}]}}]}`

// The two ways to say where records are.
const (
	oneField  = `"coordinates":{"field":"a","notation":"lat,lon"}`
	twoFields = `"coordinates":{"latitude":"no","longitude":"day"}`
)

// TestWriter_roundTrip reads a descriptor, writes what was read, and reads it again.
func TestWriter_roundTrip(t *testing.T) {
	t.Parallel()
	files := []string{"a.csv", "b.csv"}
	readOne := func(name, content string) descriptor.Source {
		t.Helper()
		set := read(t, rowstest.Folder(t, append(files, name+"="+content)...))
		if err := set.Err(); err != nil || len(set.Sources) != 1 {
			t.Fatalf("%d sources, error %v\n%s", len(set.Sources), err, content)
		}
		return set.Sources[0]
	}
	for _, text := range []string{
		everything,
		strings.NewReplacer(`"quoteChar":"'"`, `"quoteChar":""`, `"headerRows":[2,3]`, `"header":false`,
			`,"doubleQuote":false`, ``).Replace(everything),
		strings.Replace(everything, oneField, twoFields, 1),
		strings.Replace(everything, `"keep_for":"90d"`, `"keep_for":0`, 1),
		strings.Replace(everything, `"delimiter":"|"`, `"fixedWidth":[10,20,8]`, 1),
		`{"name":"n","resources":[{"name":"r","path":["a.csv","b.csv"],"title":"T","herbarium":{"access":"open","expectations":[{"query":"?","max":0}]}}]}`,
	} {
		want := readOne("datapackage.json", text)
		r := descriptor.Resource{Name: "r", Title: want.Title, Paths: files, Format: want.Format, Source: want,
			PrimaryKey: want.PrimaryKey, Samples: make([][]string, len(want.Fields))}
		for _, s := range want.Fields {
			d := s.Schema
			f := herb.Field{Name: s.Name, Type: herb.Type(d.Type), Searchable: *s.Searchable, Filterable: *s.Filterable,
				Sortable: *s.Sortable, Weight: s.Weight}
			f.Title, f.Description = s.Title, s.Description
			f.Notation = herb.Notation{DateFormat: d.Format, Decimal: d.DecimalChar, Group: d.GroupChar,
				True: d.TrueValues, False: d.FalseValues}
			if d.NotBare {
				f.Notation.Affix = "%"
			}
			r.Fields = append(r.Fields, f)
		}
		for _, name := range []string{"datapackage.json", "datapackage.yaml"} {
			var b bytes.Buffer
			w := descriptor.NewWriter(&b, "n", name == "datapackage.yaml")
			w.Add(r)
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			got := readOne(name, b.String())
			ignored := cmpopts.IgnoreFields(descriptor.Source{}, "Descriptor", "Settings", "Root", "Path", "MoreFiles")
			if diff := cmp.Diff(want, got, ignored, cmpopts.EquateEmpty()); diff != "" ||
				got.Settings.Public != want.Settings.Public {
				t.Errorf("%s (-read +written): public %v\n%s\n%s", name, got.Settings.Public, diff, b.String())
			}
		}
	}
}

// TestWriter_complete compares the members in the descriptor of the other test with the schema of
// descriptors, which lists Herbarium's own ones.
func TestWriter_complete(t *testing.T) {
	t.Parallel()
	var schema struct {
		Defs map[string]struct{ Properties map[string]any } `json:"$defs"`
	}
	if err := json.Unmarshal([]byte(schemas.DataPackage), &schema); err != nil {
		t.Fatal(err)
	}
	for _, def := range []string{"resourceSettings", "fieldSettings", "order", "coordinates", "chart", "expectation"} {
		for _, name := range slices.Sorted(maps.Keys(schema.Defs[def].Properties)) {
			// files of this machine are not fetched
			if !strings.Contains(everything+twoFields, `"`+name+`":`) && name != "refresh" {
				t.Errorf("%s: %s is missing", def, name)
			}
		}
	}
}
