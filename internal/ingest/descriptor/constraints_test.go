package descriptor_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/ingest/descriptor"
	"herbarium/internal/ingest/rowstest"
)

func TestRead_Constraints(t *testing.T) {
	t.Parallel()
	dir := rowstest.Folder(t, "a.csv",
		`datapackage.json={"resources":[{"path":"a.csv","schema":{"uniqueKeys":[["a","b"]],"foreignKeys":[{"fields":"a"}],"fields":[
		{"name":"a","constraints":{"required":true,"unique":true,"minimum":1.5,"maximum":"9","exclusiveMinimum":1,"exclusiveMaximum":10,"enum":[2,"3"]}},
		{"name":"b","constraints":{"minLength":1,"maxLength":3,"pattern":"[a-z]*","jsonSchema":{}}}]}}]}`)
	set := read(t, dir)
	if err := set.Err(); err != nil {
		t.Fatal(err)
	}
	s := set.Sources[0]
	want := []descriptor.Constraints{
		{Required: true, Minimum: "1.5", Maximum: "9", ExclusiveMinimum: "1", ExclusiveMaximum: "10",
			Enum: []string{"2", "3"}},
		{MinLength: 1, MaxLength: new(3), Pattern: "[a-z]*"},
	}
	if diff := cmp.Diff(want, []descriptor.Constraints{s.Fields[0].Constraints, s.Fields[1].Constraints}); diff != "" {
		t.Errorf("constraints (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([][]string{{"a", "b"}, {"a"}}, s.UniqueKeys); diff != "" {
		t.Errorf("unique keys (-want +got):\n%s", diff)
	}
	notes := strings.Join(s.Notes, "\n")
	for _, part := range []string{"foreignKeys are not checked",
		`the constraint "jsonSchema" is unknown and not checked`} {
		if !strings.Contains(notes, part) {
			t.Errorf("no note with %q: %s", part, notes)
		}
	}
	for constraints, hint := range map[string]string{
		`{"pattern":"(?=x)"}`:                  `.pattern of the field "a" is "(?=x)", which is not supported`,
		`{"pattern":"((a?){500}){2}a*[0-9]*"}`: "4,010 instructions; a pattern has at most 2,000",
		`{"required":"yes"}`:                   "true or false", `{"minLength":-1}`: "integer", `[]`: "object",
	} {
		dir := rowstest.Folder(t, "a.csv",
			`datapackage.json={"resources":[{"path":"a.csv","schema":{"fields":[{"name":"a","constraints":`+
				constraints+`}]}}]}`)
		checkInvalid(t, dir, read(t, dir), "resources[0].schema.fields[0].constraints", hint)
	}
}
