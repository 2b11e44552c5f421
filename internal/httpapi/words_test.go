package httpapi_test

import (
	"strings"
	"testing"

	"herbarium/internal/herb"
)

// TestWords checks that every kind of request finds the same forms of words, and says which.
func TestWords(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	fields := []herb.Field{
		{Name: "id", Type: herb.TypeNumber, Filterable: true, Sortable: true},
		{Name: "name", Type: herb.TypeText, Searchable: true, Filterable: true, Sortable: true},
	}
	records := []herb.Record{{"1", "Rose"}, {"2", "Climbing roses"}, {"3", "Rosemary"}, {"4", "Rosen"}}
	ref := herb.Ref{Namespace: "garden", Name: "roses"}
	s.library.put(herb.Dataset{Ref: ref, Fields: fields, Version: "1"}, records)
	exact := []herb.Field{fields[0], fields[1]}
	exact[1].ExactWords = true
	ref.Name = "exact"
	s.library.put(herb.Dataset{Ref: ref, Fields: exact, Version: "1"}, records)
	const words = `"words":{"roses":["roses","rose"]}`
	const one = `{"total":1,"page":1,"per_page":25,"total_pages":1,"has_next":false,"has_prev":false}}`
	for _, tt := range []struct{ path, want string }{
		{"roses/data?search=roses&_fields=id", `{"data":[{"id":"2"},{"id":"1"}],"meta":{"total":2,"page":1,"per_page":25,` +
			`"total_pages":1,"has_next":false,"has_prev":false,` + words + `}}`},
		{"roses/data?name[match]=roses&_fields=id", `[{"id":"1"},{"id":"2"}],"meta":{"total":2,"page":1,"per_page":25,` +
			`"total_pages":1,"has_next":false,"has_prev":false,` + words + `}}`},
		{"roses/data?search=rosen&_fields=id", `"words":{"rosen":["rosen","rose"]}}}`},
		{"roses/data?search=roses&_words=exact", `{"id":"2","name":"Climbing roses"}],"meta":` + one},
		{"roses/data?search=%22roses%22", one},
		{"exact/data?search=roses", one},
		{"roses/data?name=roses", `"total":0,`},
		{"roses/facets?field=id&buckets=0&top=0&search=roses", `"meta":{"total":2,` + words + `}}`},
		{"roses/aggregate?search=roses", `{"data":[{"by":[],"values":["2"]}],"meta":{"total":2,"groups":1,` + words + `}}`},
		{"roses/aggregate?search=roses&_typed=true", `"meta":{"total":2,"groups":1,` + words + `}}`},
		{"roses/grid?_x=id&_y=id&_bounds=0,0,9,9&_columns=1&_rows=1&search=roses", `{"data":[[0,0,2]],"meta":{"total":2,` +
			`"inside":2,"columns":1,"rows":1,"bounds":[0,0,9,9],"levels":[1,2,2,2,2],` + words + `}}`},
		{"roses/data.csv?search=roses&_fields=id&sort=id", "id\r\n1\r\n2\r\n"},
		{"roses/data.csv?search=roses&_fields=id&sort=id&_words=exact", "id\r\n2\r\n"},
		{"roses/data?search=roses&_words=all", `"_words is \"all\"; it must be exact"`},
	} {
		if a := s.get(t, "/api/v1/garden/"+tt.path); !strings.HasSuffix(a.body, tt.want) &&
			!strings.Contains(a.body, tt.want) {
			t.Errorf("%s: %s; want %s", tt.path, a.body, tt.want)
		}
	}
	tags := map[string]string{}
	for _, query := range []string{"search=roses", "search=roses&_words=exact", "search=%22roses%22"} {
		tag := s.get(t, "/api/v1/garden/roses/data?"+query).header.Get("Etag")
		if other := tags[tag]; other != "" || tag == "" {
			t.Errorf("%s has the entity tag %q of %s", query, tag, other)
		}
		tags[tag] = query
	}
	r := s.callTool(t, "query_records", args{"dataset": "garden/roses", "search": "roses", "fields": []string{"id"}})
	head, rest := r.text()
	if !strings.HasPrefix(head, "rows 1–2 of 2 (exact); ") || !strings.HasPrefix(rest, "roses also finds rose\n") {
		t.Errorf("%s\n%s", head, rest)
	}
	r = s.callTool(t, "aggregate", args{"dataset": "garden/roses", "search": "roses"})
	if _, rest := r.text(); !strings.HasPrefix(rest, "roses also finds rose\n") {
		t.Error(rest)
	}
	if _, shown := s.search(t, "roses"); shown != "garden/roses:2 garden/exact:1" {
		t.Error(shown)
	}
}

// TestWords_many checks that a request with too many other forms is rejected.
func TestWords_many(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	fields := []herb.Field{{Name: "name", Type: herb.TypeText, Searchable: true}}
	var words []string
	for _, word := range strings.Fields("tree flower garden plant rose lily tulip bush shrub fern moss leaf seed " +
		"root stem branch bark") {
		words = append(words, word, word+"s")
	}
	s.library.put(herb.Dataset{Ref: herb.Ref{Namespace: "garden", Name: "words"}, Fields: fields, Version: "1"},
		[]herb.Record{{strings.Join(words, " ")}})
	search := strings.Join(words[:30], "+")
	a := s.get(t, "/api/v1/garden/words/data?search="+search)
	if a.status != 400 || !strings.Contains(a.body, "30 words, including those of [match], and 26 other forms of them") {
		t.Errorf("%d %s", a.status, a.body)
	}
	a = s.get(t, "/api/v1/garden/words/data?search="+search+"&_words=exact")
	if a.status != 200 || !strings.Contains(a.body, `"total":1,`) {
		t.Errorf("%d %s", a.status, a.body)
	}
}
