package descriptor_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/descriptor"
	"herbarium/internal/ingest/rowstest"
)

// listOf returns a JSON list of equal elements.
func listOf(n int, element string) string {
	return "[" + strings.Join(slices.Repeat([]string{element}, n), ",") + "]"
}

// distinctCategories returns categories with labels of nearly the maximum length.
func distinctCategories(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(`{"value":%d,"label":"%d %s"}`, i, i, strings.Repeat("x", herb.MaxTitle-10))
	}
	return strings.Join(all, ",")
}

// TestRead_limits checks that a descriptor cannot make a publish run long or its texts fill pages:
// each limit is an error that names it, when the descriptor is read or the settings are checked.
func TestRead_limits(t *testing.T) {
	t.Parallel()
	field := func(members string) string { return `"schema":{"fields":[{"name":"a",` + members + `}]}` }
	own := func(members string) string { return `"herbarium":{` + members + `}` }
	long := strings.Repeat("x", 2<<20)
	for name, tt := range map[string]struct {
		resource string
		limit    any
	}{
		"title":             {`"title":"` + long + `"`, herb.MaxTitle},
		"description":       {`"description":"` + long + `"`, herb.MaxDescription},
		"licenses":          {`"licenses":[{"title":"` + long + `"}]`, herb.FormatBytes(herb.MaxAnnotation)},
		"keywords":          {`"keywords":` + listOf(100_000, `"k"`), herb.FormatBytes(herb.MaxAnnotation)},
		"name of a field":   {`"schema":{"fields":[{"name":"` + long + `"}]}`, herb.MaxFieldName},
		"column of a field": {field(own(`"from":"` + long + `"`)), herb.MaxTitle},
		"title of a field":  {field(`"title":"` + long + `"`), herb.MaxTitle},
		"format": {field(`"type":"date","format":"` + strings.Repeat("%d/%m/%Y", 100) + `"`),
			herb.MaxFormat},
		"long format":        {field(`"type":"date","format":"` + strings.Repeat("%d", 150_000) + `"`), herb.MaxTitle},
		"missing values":     {`"schema":{"missingValues":` + listOf(herb.MaxValues+1, `"x"`) + `}`, herb.MaxValues},
		"missing of a field": {field(`"missingValues":` + listOf(herb.MaxValues+1, `"x"`)), herb.MaxValues},
		"long missing value": {field(`"missingValues":["` + long + `"]`), herb.MaxTitle},
		"true values": {field(`"type":"boolean","trueValues":` + listOf(herb.MaxValues+1, `"x"`)),
			herb.MaxValues},
		"categories": {field(`"categories":` + listOf(1_000_000, "1")), herb.MaxCategories},
		"category":   {field(`"categories":["` + long + `"]`), herb.MaxTitle},
		"label":      {field(`"categories":[{"value":1,"label":"` + long + `"}]`), herb.MaxTitle},
		"text of the categories": {field(`"categories":[` + distinctCategories(2_000) + `]`),
			herb.FormatBytes(herb.MaxCategoryText)},
		"fields":      {`"schema":{"fields":` + listOf(herb.MaxFields+1, `{"name":"a"}`) + `}`, herb.MaxFields},
		"primary key": {`"schema":{"primaryKey":` + listOf(herb.MaxKeyFields+1, `"a"`) + `}`, herb.MaxKeyFields},
		"exclude":     {own(`"exclude":{"a":` + listOf(herb.MaxIncluded+1, `"x"`) + `}`), herb.MaxIncluded},
		"include":     {own(`"include":{"a":` + listOf(herb.MaxIncluded+1, `"x"`) + `}`), herb.MaxIncluded},
		"expectations": {own(`"expectations":` + listOf(herb.MaxExpectations+1, `{"query":"","total":1}`)),
			herb.MaxExpectations},
		"charts":       {own(`"charts":` + listOf(herb.MaxCharts+1, `{"by":"a"}`)), herb.MaxCharts},
		"header join":  {`"dialect":{"headerJoin":"` + long + `"}`, herb.MaxTitle},
		"comment rows": {`"dialect":{"commentRows":` + listOf(herb.MaxIncluded+1, "1") + `}`, herb.MaxIncluded},
		"files":        {`"url":` + listOf(herb.MaxResources+1, `"a.csv"`), herb.MaxResources},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := `"path":"a.csv",`
			if name == "files" {
				path = ""
			}
			content := `{"resources":[{` + path + tt.resource + `}]}`
			if !json.Valid([]byte(content)) {
				t.Fatal("the descriptor is not JSON")
			}
			set := read(t, rowstest.Folder(t, "a.csv=a,b\n1,2\n", "datapackage.json="+content))
			err := set.Err()
			if err == nil {
				_, err = set.Sources[0].Normalize(formats())
			}
			if herb.CodeOf(err) != herb.CodeInvalid || !strings.Contains(err.Error(), fmt.Sprint(tt.limit)) ||
				len(err.Error()) > 1000 {
				t.Errorf("error %.500v, want one that names %v", err, tt.limit)
			}
		})
	}
	set := read(t, rowstest.Folder(t, "a.csv=a,b\n1,2\n", `datapackage.json={"resources":`+
		listOf(herb.MaxResources+1, "{}")+`}`))
	if err := set.Err(); err == nil || len(set.Errors) != 1 ||
		!strings.Contains(err.Error(), fmt.Sprint(herb.MaxResources)) {
		t.Errorf("many resources: %.300v", err)
	}
}

// FuzzApply checks that every descriptor is either rejected or describes a source within the
// limits.
func FuzzApply(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"resources":[{"path":"a.csv"}]}`,
		"resources: [{path: a.csv, schema: {fields: [{name: a, type: date, format: '%d.%m.%Y'}]}}]",
		`{"title":"T","licenses":[{"name":"CC0"}],"resources":[{"path":"a.csv","schema":{"fields":[{"name":"a","type":"boolean","trueValues":["x"]}],"missingValues":["NA"],"primaryKey":"a"},
		"herbarium":{"access":"key","order":"-a","include":{"a":["1"]},"exclude":{"a":["2"]},"expectations":[{"query":"a=1","total":1}],"charts":[{"by":"a"}],"coordinates":{"latitude":"a","longitude":"b"}},
		"dialect":{"delimiter":";","headerRows":[1,2],"headerJoin":" ","commentChar":"#","skipRows":["#",3]}}]}`,
		`{"resources":[{"path":"a.csv","schema":{"fields":[{"name":"a","type":"number","constraints":{"minimum":1,"maximum":"9","enum":[1,2],"unique":true}},
		{"name":"b","constraints":{"pattern":"((a?){500}){2}a*[0-9]*","minLength":1}},{"name":"c","constraints":{"pattern":"[\\pL-]+"}}],"uniqueKeys":[["a","b"]]}}]}`,
		"a: &a [1, 2]\nb: [*a, *a]\nresources: [*a]",
		`{"resources":[{"path":"a.csv","herbarium":{"source":"public"}}]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		s, err := descriptor.Apply(content, descriptor.Source{Ref: herb.Ref{Namespace: "n", Name: "d"}, Path: "a.csv"},
			formats())
		if err == nil {
			s, err = s.Normalize(formats())
		}
		if err != nil {
			if len(err.Error()) > 10_000 {
				t.Errorf("an error of %d bytes: %.300v", len(err.Error()), err)
			}
			return
		}
		if len(s.Fields) > herb.MaxFields || len(s.Missing) > herb.MaxValues ||
			len(s.Expectations) > herb.MaxExpectations || len([]rune(s.Title)) > herb.MaxTitle {
			t.Errorf("%d fields, %d missing values, %d expectations", len(s.Fields), len(s.Missing),
				len(s.Expectations))
		}
		if s.Ref.Name != "d" || !json.Valid(s.Descriptor) || !json.Valid(s.Settings.Descriptor) {
			t.Errorf("ref %s, descriptors %.300s and %.300s", s.Ref, s.Descriptor, s.Settings.Descriptor)
		}
	})
}
