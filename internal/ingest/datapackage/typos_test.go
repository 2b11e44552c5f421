package datapackage_test

import (
	"strings"
	"testing"
)

// TestRead_typos checks that misspelled members are reported with the right spelling.
func TestRead_typos(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, content string
		err           bool
		want          string // the only error or note; empty if there is none
	}{
		{"none", `"resources":[{"path":"a.csv","schema":{"fields":[{"name":"a","note":"x","unit":"kg","types":"x","type":"any"}]}}]`, false, ""},
		{"other members", `"resources":[{"path":"a.csv","paths":1,"note":1,"datum":1,"licence":1,"a":1}],"author":1,"names":1,"name":"n"`, false, ""},
		{"package", `"nmae":"shop","resources":[{"path":"a.csv"}]`, false, `the descriptor has an unknown member "nmae", which has no effect; did you mean "name"?`},
		{"resources", `"resorces":[{"path":"a.csv"}]`, true, `has no resources; list at least one under "resources"; "resorces" is unknown, did you mean "resources"?`},
		{"path", `"resources":[{"pth":"a.csv"}]`, true, `"pth" is unknown, did you mean "path"?`},
		{"resource", `"resources":[{"path":"a.csv","Shema":{}}]`, false, `resources[0] has an unknown member "Shema", which has no effect; did you mean "schema"?`},
		{"schema", `"resources":[{"path":"a.csv","schema":{"primarykey":"a"}}]`, false, `did you mean "primaryKey"?`},
		{"fields", `"resources":[{"path":"a.csv","schema":{"feilds":[]}}]`, false, `did you mean "fields"?`},
		{"field", `"resources":[{"path":"a.csv","schema":{"fields":[{"name":"a","tpye":"number"}]}}]`, false,
			`resources[0].schema.fields[0] has an unknown member "tpye", which has no effect; did you mean "type"?`},
		{"name of a field", `"resources":[{"path":"a.csv","schema":{"fields":[{"nam":"a"}]}}]`, true, `has no name; set one; "nam" is unknown, did you mean "name"?`},
		{"type", `"resources":[{"path":"a.csv","schema":{"fields":[{"name":"a","type":"nmber"}]}}]`, true, `"nmber"; did you mean "number"?`},
		{"dialect", `"resources":[{"path":"a.csv","dialect":{"delimeter":";"}}]`, false, `did you mean "delimiter"?`},
		{"settings of a package", `"herbarum":{"access":"key"},"resources":[{"path":"a.csv"}]`, true, `has an unknown member "herbarum"; did you mean "herbarium"?`},
		{"settings of a resource", `"resources":[{"path":"a.csv","herbarim":{"access":"key"}}]`, true, `did you mean "herbarium"?`},
		{"settings of a field", `"resources":[{"path":"a.csv","schema":{"fields":[{"name":"a","Herbarium":{}}]}}]`, true, `did you mean "herbarium"?`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			set := read(t, layout(t, "a.csv", `datapackage.json={`+tt.content+`}`))
			var got []string
			for _, err := range set.Errors {
				got = append(got, err.Error())
			}
			if (len(got) > 0) != tt.err {
				t.Errorf("got errors %q", got)
			}
			for _, s := range set.Sources {
				got = append(got, s.Notes...)
			}
			if all := strings.Join(got, "\n"); !strings.Contains(all, tt.want) || tt.want == "" && all != "" || len(got) > 1 {
				t.Errorf("got\n%s\nwant only %q", all, tt.want)
			}
		})
	}
}
