package httpapi_test

import (
	"strings"
	"testing"

	"herbarium/internal/herb"
)

// measurements returns a dataset with fields of all types, one of which stays text.
func measurements() (herb.Dataset, []herb.Record) {
	field := func(name string, t herb.Type) herb.Field {
		return herb.Field{Name: name, Type: t, Filterable: true, Sortable: true}
	}
	d := herb.Dataset{Ref: herb.Ref{Namespace: "lab", Name: "measures"}, Version: "v1", Fields: []herb.Field{
		field("id", herb.TypeNumber), field("mass", herb.TypeNumber), field("ok", herb.TypeBoolean),
		field("day", herb.TypeDate), field("at", herb.TypeDateTime),
		field("took", herb.TypeDuration), field("tags", herb.TypeList), field("note", herb.TypeText),
		field("code", herb.TypeNumber),
	}}
	d.PrimaryKey = []string{"id"}
	d.Fields[1].Notation = herb.Notation{Decimal: ",", Group: ".", Affix: "€", Missing: []string{"NA"}}
	d.Fields[3].Notation.DateFormat = "%d.%m.%Y"
	long := strings.Repeat("9", 39)
	return d, []herb.Record{
		{"1", "1.234,50 €", "yes", "29.2.2024", "2024-02-29 13:30", "1:20:00", `a,"b`, "<x>\n\"y\"", "1"},
		{"2", "NA", "", "", "", "", "", "", ""},
		{"3", "0,50 €", "no", "1.3.2024", "2024-03-01T00:00:00.50", "0:00:30", "a", "007", long},
	}
}

func TestTyped(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	s.library.put(measurements())
	long := strings.Repeat("9", 39)
	const first = `{"id":1,"mass":1234.50,"ok":true,"day":"2024-02-29","at":"2024-02-29T13:30:00","took":4800,"tags":["a","\"b"],"note":"<x>\n\"y\"","code":"1"}`
	const second = `{"id":2,"mass":null,"ok":null,"day":null,"at":null,"took":null,"tags":null,"note":null,"code":null}`
	third := `{"id":3,"mass":0.50,"ok":false,"day":"2024-03-01","at":"2024-03-01T00:00:00.5","took":30,"tags":["a"],"note":"007","code":"` + long + `"}`
	tags := map[string]string{}
	for _, tt := range []struct{ target, want string }{
		{"/data?_typed=true", `{"data":[` + first + "," + second + "," + third +
			`],"meta":{"total":3,"page":1,"per_page":25,"total_pages":1,"has_next":false,"has_prev":false}}`},
		{"/data?_typed=true&_fields=mass,id&mass[gt]=1",
			`{"data":[{"mass":1234.50,"id":1}],"meta":{"total":1,"page":1,"per_page":25,"total_pages":1,"has_next":false,"has_prev":false}}`},
		{"/data?id=9&_typed=true",
			`{"data":[],"meta":{"total":0,"page":1,"per_page":25,"total_pages":0,"has_next":false,"has_prev":false}}`},
		{"/data/1?_typed=true", first},
		{"/data/2.0?_typed=true", second},
		{"/data/3?_typed=true&_fields=ok,note", `{"ok":false,"note":"007"}`},
		{"/data/3?_fields=ok,note", `{"ok":"no","note":"007"}`},
		{"/data.ndjson?_typed=true&sort=-id", third + "\n" + second + "\n" + first + "\n"},
		{"/data.ndjson?_typed=true&_fields=tags",
			"{\"tags\":[\"a\",\"\\\"b\"]}\n{\"tags\":null}\n{\"tags\":[\"a\"]}\n"},
		{"/aggregate?_typed=true&_measure=count&_measure=sum:mass&_measure=mean:took&_measure=stddev:id&_measure=min:day&_measure=max:at&_measure=min:note&_measure=p50:took",
			`{"data":[{"by":[],"values":[3,1235.00,2415,1,"2024-02-29","2024-03-01T00:00:00.5","<x>\n\"y\"",30]}],"meta":{"total":3,"groups":1,"units":{"mass":"€"}}}`},
		{"/aggregate?_typed=true&_by=ok&_by=mass&_measure=max:code&_measure=sum:code&_measure=min:mass",
			`{"data":[{"by":[false,0.50],"values":["` + long + `",` + long + `,0.50]},` +
				`{"by":[true,1234.50],"values":["1",1,1234.50]},{"by":[null,null],"values":[null,0,null]}],"meta":{"total":3,"groups":3,"units":{"mass":"€"}}}`},
		{"/aggregate?_typed=true&_by=tags&_by=day:year",
			`{"data":[{"by":["\"b","2024"],"values":[1]},{"by":["a","2024"],"values":[2]},{"by":[null,null],"values":[1]}],"meta":{"total":3,"groups":3,"by_elements":true}}`},
		{"/aggregate?_typed=true&_by=id:2&_by=took&_measure=median:took&id[lt]=2",
			`{"data":[{"by":["0",4800],"values":[4800]}],"meta":{"total":1,"groups":1}}`},
		{"/aggregate?_typed=true&id=9&_by=id", `{"data":[],"meta":{"total":0,"groups":0}}`},
		{"/data?_typed=false&_fields=id&id=1",
			`{"data":[{"id":"1"}],"meta":{"total":1,"page":1,"per_page":25,"total_pages":1,"has_next":false,"has_prev":false}}`},
	} {
		a := s.get(t, "/api/v1/lab/measures"+tt.target)
		if a.status != 200 || a.body != tt.want {
			t.Errorf("%s: %d\n%s; want\n%s", tt.target, a.status, a.body, tt.want)
		}
		tag := a.header.Get("Etag")
		if tags[tag] != "" || tag == "" {
			t.Errorf("%s and %s have the entity tag %s", tt.target, tags[tag], tag)
		}
		tags[tag] = tt.target
		if again := s.get(t, "/api/v1/lab/measures"+tt.target, "If-None-Match: "+tag); again.status != 304 {
			t.Errorf("%s with the entity tag: %d", tt.target, again.status)
		}
		if strings.HasPrefix(tt.target, "/aggregate") && !strings.Contains(tt.target, "_by=") {
			continue
		}
		texts := s.get(t, "/api/v1/lab/measures"+strings.Replace(tt.target, "_typed=true", "_typed=false", 1))
		if isTyped := strings.Contains(tt.target, "_typed=true"); texts.status != 200 ||
			(texts.header.Get("Etag") != tag) != isTyped {
			t.Errorf("%s: the entity tag of texts is %s", tt.target, texts.header.Get("Etag"))
		}
	}
	table := "id,mass,ok,day,at,took,tags,note,code\r\n" +
		`1,1234.50,true,2024-02-29,2024-02-29T13:30:00,4800,"[""a"",""\""b""]","<x>` + "\n" + `""y""",1` + "\r\n" +
		"2,,,,,,,,\r\n3,0.50,false,2024-03-01,2024-03-01T00:00:00.5,30,\"[\"\"a\"\"]\",007," + long + "\r\n"
	if a := s.get(t, "/api/v1/lab/measures/data.csv?_typed=true&sort=id"); a.status != 200 || a.body != table {
		t.Errorf("unexpected CSV %d\n%s; want\n%s", a.status, a.body, table)
	}
	if a := s.get(t, "/api/v1/lab/measures/data?_typed=true", "Accept: application/x-ndjson"); a.body != first+"\n"+
		second+"\n"+third+"\n" {
		t.Errorf("unexpected export %s", a.body)
	}
}

func TestTyped_invalid(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	s.library.put(measurements())
	const path, formats = "/api/v1/lab/measures",
		`"_typed" applies to records in JSON, NDJSON, GeoJSON and CSV and to groups in JSON; leave it out for `
	s.checkRejections(t, []rejection{
		{"", path + "/data?_typed=1", 400, `_typed is "1"; it must be true or false`},
		{"", path + "/data/1?_typed=yes", 400, `_typed is "yes"; it must be true or false`},
		{"", path + "/aggregate?_typed=yes", 400, `_typed is "yes"; it must be true or false`},
		{"", "/openapi.json?_typed=yes", 400, `_typed is "yes"; it must be true or false`},
		{"", path + "/data?_typed=true&_typed=true", 400, `"_typed" is given more than once`},
		{"", path + "/data.xlsx?_typed=true", 400, formats + "XLSX"},
		{"", path + "/aggregate.csv?_typed=true", 400, formats + "aggregate.csv"},
		{"", path + "/facets?field=id&_typed=true", 400, `leave "_typed" out`},
		{"", path + "/grid?_x=id&_y=mass&_typed=true", 400, `leave "_typed" out`},
		{"", "/api/v1?_typed=true", 400, `unknown parameter "_typed"`},
		{"", "/api/v1/locked/staff/data?_typed=true", 401, "requires a key"},
		{"", "/api/v1/locked/staff/aggregate?_typed=true", 401, "requires a key"},
	})
}

// TestTyped_document checks that the document of a dataset has the types of its fields, and only
// for clients that may read its values.
func TestTyped_document(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	d, records := measurements()
	s.library.put(d, records)
	d.Name, d.Access = "secret", herb.AccessKey
	s.library.put(d, records)
	typed := newAPIDocument(t, []byte(s.get(t, "/openapi.json?dataset=lab/measures&_typed=true").body))
	for _, target := range []string{"/data?_typed=true", "/data/1?_typed=true", "/aggregate?_by=id&_typed=true"} {
		r := request("GET", "/api/v1/lab/measures"+target, "")
		a := s.get(t, r.URL.String())
		if err := typed.checkRequest(r); err != nil {
			t.Errorf("%s: %v", target, err)
		}
		if _, ok := typed.operation(r); ok && a.status == 200 {
			if err := typed.checkResponse(r, a.status, a.header, a.body); err != nil {
				t.Errorf("%s: %v", target, err)
			}
		}
		texts := s.get(t, strings.Replace(r.URL.String(), "_typed=true", "", 1))
		if typed.checkResponse(r, texts.status, texts.header, texts.body) == nil &&
			!strings.Contains(target, "aggregate") {
			t.Errorf("%s: texts are valid", target)
		}
		if typed.checkRequest(request("GET", "/api/v1/lab/measures"+strings.Replace(target, "_typed=true", "", 1),
			"")) == nil {
			t.Errorf("%s: a request without _typed is valid", target)
		}
	}
	types := func(dataset, schema string, headers ...string) any {
		t.Helper()
		v, _ := newAPIDocument(t, []byte(s.get(t, "/openapi.json?_typed=true"+dataset, headers...).body)).lookup(
			"components", "schemas", schema, "properties", "code")
		return v
	}
	const reason = "because the numbers have 39 digits"
	v, _ := types("&dataset=lab/measures", "Record_lab_measures").(map[string]any)
	if !strings.Contains(v["description"].(string), reason) {
		t.Errorf("the field that is text is described as %v", v)
	}
	for _, v := range []any{
		types("&dataset=lab/secret", "Record_lab_secret"), types("", "Record_lab_secret"),
		types("", "Record_lab_measures"),
	} {
		m, _ := v.(map[string]any)
		if kinds, _ := m["type"].([]any); len(kinds) != 3 || strings.Contains(m["description"].(string), "digits") {
			t.Errorf("the type of a field whose values are not known is %v", v)
		}
	}
	v, _ = types("&dataset=lab/secret", "Record_lab_secret", "X-API-Key: "+reader).(map[string]any)
	if !strings.Contains(v["description"].(string), reason) {
		t.Errorf("with a key, the field is described as %v", v)
	}
}
