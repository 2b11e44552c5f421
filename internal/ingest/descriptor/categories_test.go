package descriptor_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rowstest"
)

// TestRead_categories reads categories in every form of the standard.
func TestRead_categories(t *testing.T) {
	t.Parallel()
	labeled := []herb.Category{{Value: "0", Label: "living"}, {Value: "1"}}
	for _, tt := range []struct {
		members  string
		want     []herb.Category
		wantType string
		ordered  bool
	}{
		{`"type":"integer","categories":[{"value":0,"label":"living"},{"value":1}]`, labeled, "integer", false},
		{`"type":"string","categories":[{"value":"0","label":"living"},{"value":"1"}]`, labeled, "string", false},
		{`"categories":[{"value":0,"label":"living"},{"value":1,"label":null,"note":"x"}],"categoriesOrdered":true`,
			labeled, "number", true},
		{`"type":"any","categories":[{"value":"0","label":"living"},{"value":1}]`, labeled, "string", false},
		{`"categories":["b","a"],"categoriesOrdered":false`, []herb.Category{{Value: "b"}, {Value: "a"}},
			"string", false},
		{`"categories":[2.5,1]`, []herb.Category{{Value: "2.5"}, {Value: "1"}}, "number", false},
		{`"type":"number","categories":["1"]`, []herb.Category{{Value: "1"}}, "number", false},
		{`"type":"date"`, nil, "date", false},
	} {
		set := read(t, rowstest.Folder(t, "a.csv",
			`datapackage.json={"resources":[{"path":"a.csv","schema":{"fields":[{"name":"a",`+tt.members+`}]}}]}`))
		if err := set.Err(); err != nil {
			t.Errorf("%s: %v", tt.members, err)
			continue
		}
		f := set.Sources[0].Fields[0]
		diff := cmp.Diff(tt.want, f.Categories)
		if diff != "" || f.Schema.Type != tt.wantType || f.Ordered != tt.ordered {
			t.Errorf("%s: type %q, ordered %t, categories (-want +got):\n%s", tt.members, f.Schema.Type, f.Ordered, diff)
		}
	}
}

// TestRead_misspelledCategory checks that a note says why a label has no effect, once.
func TestRead_misspelledCategory(t *testing.T) {
	t.Parallel()
	set := read(t, rowstest.Folder(t, "a.csv", `datapackage.json={"resources":[{"path":"a.csv","schema":{"fields":[
		{"name":"a","categories":[1,{"value":2,"lable":"x"},{"value":3,"lable":"y"}]}]}}]}`))
	if err := set.Err(); err != nil {
		t.Fatal(err)
	}
	notes := set.Sources[0].Notes
	if len(notes) != 1 || !strings.Contains(notes[0], `categories[1] has an unknown member "lable"`) {
		t.Errorf("notes %q", notes)
	}
}

// TestRead_invalidCategories checks that what cannot be honoured is an error with its place.
func TestRead_invalidCategories(t *testing.T) {
	t.Parallel()
	for members, want := range map[string][2]string{
		`"categories":"a"`:                     {".categories", "must be a list"},
		`"categories":[]`:                      {".categories", "at least one value"},
		`"categories":[{"label":"x"}]`:         {".categories[0].value", "is empty"},
		`"categories":[{"Value":"x"}]`:         {".categories[0].value", `did you mean "value"`},
		`"categories":[""]`:                    {".categories[0]", "is empty"},
		`"categories":[true]`:                  {".categories[0]", "must be text"},
		`"categories":[["a"]]`:                 {".categories[0]", "must be text"},
		`"categories":[{"value":{"a":1}}]`:     {".categories[0].value", "must be text"},
		`"categories":["a","b","a"]`:           {".categories[2]", "listed already"},
		`"categories":["1",1]`:                 {".categories[1]", "listed already"},
		`"categories":[{"value":1,"label":7}]`: {".categories[0].label", "must be text"},
		`"categories":[{"value":1,"label":"x"},{"value":2,"label":"x"}]`: {".categories[1]",
			"label of its own"},
		`"type":"boolean","categories":["true"]`:       {".categories", "string, integer and number"},
		`"type":"list","categories":["a"]`:             {".categories", "string, integer and number"},
		`"type":"date","categories":["2024-01-01"]`:    {".categories", "string, integer and number"},
		`"categoriesOrdered":true`:                     {".categoriesOrdered", "no effect without categories"},
		`"categories":["a"],"categoriesOrdered":"yes"`: {".categoriesOrdered", "true or false"},
	} {
		dir := rowstest.Folder(t, "a.csv",
			`datapackage.json={"resources":[{"path":"a.csv","schema":{"fields":[{"name":"a",`+members+`}]}}]}`)
		checkInvalid(t, dir, read(t, dir), "resources[0].schema.fields[0]"+want[0], want[1])
	}
}
