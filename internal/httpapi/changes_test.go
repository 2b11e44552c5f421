package httpapi_test

import (
	"net/http"
	"strings"
	"testing"
)

// withKey is the descriptor of prices with a primary key.
const withKey = `{"resources": [{"path": "prices.csv", "schema": {"primaryKey": "id"}}]}`

// publish publishes a file with a descriptor, and returns the version.
func (p *publishSite) publish(t *testing.T, file, descriptor string) string {
	t.Helper()
	body, contentType := form(t, "prices.csv", file, "descriptor", descriptor)
	if a := p.put(t, "?_allow_breaking=true", body, contentType); a.status != 200 && a.status != 201 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	return p.liveVersion(t)
}

// TestChanges compares two versions in every form.
func TestChanges(t *testing.T) {
	t.Parallel()
	p := newPublishing(t, nil)
	first := p.publish(t, "id,name,price\n10,Rose,2.50\n9,Fern,3\n8,\"Ivy \"\"x\"\"\",1\n7,Oak,9\n", withKey)
	second := p.publish(t, "id,name,price,kind\n9,Fern,4,\n11,Moss,5,green\n7,Oak,9,tree\n10.0,Rose,2.50,\n", withKey)
	replace := strings.NewReplacer(first, "FIRST", second, "SECOND")
	const summary = `"from":"FIRST","to":"SECOND","key":["id"],`
	const fields = `"fields":{"added":["kind"],"removed":[],"retyped":[]}`
	lines := []string{
		`{"op":"changed","key":{"id":"7"},"old":{},"new":{"kind":"tree"}}`,
		`{"op":"removed","record":{"id":"8","name":"Ivy \"x\"","price":"1"}}`,
		`{"op":"changed","key":{"id":"9"},"old":{"price":"3"},"new":{"price":"4"}}`,
		`{"op":"changed","key":{"id":"10.0"},"old":{"id":"10"},"new":{"id":"10.0"}}`,
		`{"op":"added","record":{"id":"11","name":"Moss","price":"5","kind":"green"}}`,
	}
	page := func(counts, meta string, lines ...string) string {
		return `{"data":[` + strings.Join(lines, ",") + `],"meta":{` + summary + counts + fields + "," + meta + "}}"
	}
	const all = `"added":1,"removed":1,"changed":3,"unchanged":0,`
	for _, tt := range []struct {
		path   string
		status int
		want   string // the body, or a part of the message
	}{
		{"?", 200, page(all, `"total":5,"page":1,"per_page":25,"total_pages":1,"has_next":false,"has_prev":false`,
			lines...)},
		{"?per_page=2&page=2&", 200,
			page(all, `"total":5,"page":2,"per_page":2,"total_pages":3,"has_next":true,"has_prev":true`,
				lines[2:4]...)},
		{"?page=9&", 200, page(all,
			`"total":5,"page":9,"per_page":25,"total_pages":1,"has_next":false,"has_prev":true`)},
		{"?_op=removed,added&", 200, page(`"added":1,"removed":1,"changed":0,"unchanged":0,`,
			`"total":2,"page":1,"per_page":25,"total_pages":1,"has_next":false,"has_prev":false`, lines[1], lines[4])},
		{"?price=3&", 200, page(`"added":0,"removed":0,"changed":1,"unchanged":0,`,
			`"total":1,"page":1,"per_page":25,"total_pages":1,"has_next":false,"has_prev":false`, lines[2])},
		{"?price=9&_op=removed&", 200, page(`"added":0,"removed":0,"changed":0,"unchanged":0,`,
			`"total":0,"page":1,"per_page":25,"total_pages":0,"has_next":false,"has_prev":false`)},
		{"?kind=tree&", 200, page(`"added":0,"removed":0,"changed":1,"unchanged":0,`,
			`"total":1,"page":1,"per_page":25,"total_pages":1,"has_next":false,"has_prev":false`, lines[0])},
		{"?search=ivy&", 200, page(`"added":0,"removed":1,"changed":0,"unchanged":0,`,
			`"total":1,"page":1,"per_page":25,"total_pages":1,"has_next":false,"has_prev":false`, lines[1])},
		{"?_fields=kind,name&", 200, page(`"added":1,"removed":1,"changed":1,"unchanged":2,`,
			`"total":3,"page":1,"per_page":25,"total_pages":1,"has_next":false,"has_prev":false`,
			lines[0], `{"op":"removed","record":{"id":"8","name":"Ivy \"x\""}}`,
			`{"op":"added","record":{"id":"11","kind":"green","name":"Moss"}}`)},
		{"?_fields=name,id&_op=removed&", 200, page(`"added":0,"removed":1,"changed":0,"unchanged":2,`,
			`"total":1,"page":1,"per_page":25,"total_pages":1,"has_next":false,"has_prev":false`,
			`{"op":"removed","record":{"name":"Ivy \"x\"","id":"8"}}`)},
		{".csv?_fields=kind&", 200,
			"id,name,price,kind,_deleted\r\n7,Oak,9,tree,false\r\n8,,,,true\r\n11,Moss,5,green,false\r\n"},
		{".ndjson?", 200, "{" + summary + all + fields + "}\n" + strings.Join(lines, "\n") + "\n"},
		{".ndjson?_op=added&", 200, "{" + summary + `"added":1,"removed":0,"changed":0,"unchanged":0,` + fields +
			"}\n" + lines[4] + "\n"},
		{".csv?", 200, "id,name,price,kind,_deleted\r\n7,Oak,9,tree,false\r\n8,,,,true\r\n9,Fern,4,,false\r\n10.0,Rose,2.50,,false\r\n11,Moss,5,green,false\r\n"},
		{".csv?page=2&", 400, "has no pages"},
		{"?sort=price&", 400, "changes take only filters"},
		{"?_typed=true&", 400, "changes take only filters"},
		{"?_op=gone&", 400, "_op is \"gone\"; it must be added, removed or changed"},
		{"?prise=9&", 400, `did you mean "price"?`},
		{"?_fields=prise&", 400, `unknown field "prise"`},
		{"?_from=x&", 400, `"_from" is given more than once`},
	} {
		a := p.send(t, http.MethodGet, "/changes"+tt.path+"_from="+first, "")
		got := replace.Replace(a.body)
		if a.status != tt.status || tt.status == 200 && got != tt.want || tt.status != 200 &&
			!strings.Contains(a.message(t), tt.want) {
			t.Errorf("%s gives %d\n%s, want\n%s", tt.path, a.status, got, tt.want)
		}
	}
	for path, want := range map[string]string{
		"":                                   "no \"_from\" is given",
		"?_from=":                            "no \"_from\" is given",
		"?_from=20010101T133000Z-abcdefghij": first,
		"?_from=" + first + "&_to=20010101T133000Z-abcdefghij":      first,
		"?_from=" + first + "&_to=" + first + "&_version=" + second: "give one of them",
	} {
		if a := p.send(t, http.MethodGet, "/changes"+path, ""); a.status != 400 && a.status != 410 ||
			!strings.Contains(a.message(t), want) {
			t.Errorf("%q gives %d %s", path, a.status, a.body)
		}
	}
	if a := p.send(t, http.MethodGet, "/changes?_from="+second+"&_to="+first, ""); !strings.Contains(a.body,
		`"added":1,"removed":1,"changed":2,"unchanged":1`) {
		t.Errorf("back: %s", a.body)
	}
	if a := p.send(t, http.MethodGet, "/changes?_from="+second, ""); !strings.Contains(a.body, `"data":[],`) ||
		a.header.Get("X-Dataset-Version") != second {
		t.Errorf("the same version gives %s", a.body)
	}
}

// TestChanges_deletedField compares versions with a field of the name that marks removed records.
func TestChanges_deletedField(t *testing.T) {
	t.Parallel()
	p := newPublishing(t, nil)
	first := p.publish(t, "id,_deleted\n1,no\n", withKey)
	p.publish(t, "id,_deleted\n1,yes\n", withKey)
	if a := p.send(t, http.MethodGet, "/changes.csv?_from="+first, ""); a.status != 400 ||
		!strings.Contains(a.message(t), "changes.ndjson") {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := p.send(t, http.MethodGet, "/changes.ndjson?_from="+first, ""); !strings.Contains(a.body,
		`"new":{"_deleted":"yes"}`) {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := p.get(t, "/api/v1/garden/catalog/changes?_from="+first); a.status != 404 {
		t.Errorf("an unknown dataset gives %d %s", a.status, a.body)
	}
}

// TestChanges_withoutKey compares versions in which no key identifies the records.
func TestChanges_withoutKey(t *testing.T) {
	t.Parallel()
	p := newPublishing(t, nil)
	first := p.publish(t, "id,name\n1,Rose\n", withKey)
	p.publish(t, "id,name\n1,Rose\n1,Fern\n", withKey)
	if a := p.send(t, http.MethodGet, "/changes.csv?_from="+first, ""); a.status != 400 ||
		!strings.Contains(a.message(t), "no primary key identifies") {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := p.send(t, http.MethodGet, "/changes.ndjson?_from="+first, ""); !strings.HasSuffix(a.body,
		"\n{\"op\":\"added\",\"record\":{\"id\":\"1\",\"name\":\"Fern\"}}\n") {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// TestChanges_retypedKey compares versions whose keys have different types: the number 1.0 is the
// same key as 1, and the text is another.
func TestChanges_retypedKey(t *testing.T) {
	t.Parallel()
	p := newPublishing(t, nil)
	first := p.publish(t, "id,name\n1.0,Rose\n2,Fern\n", withKey)
	p.publish(t, "id,name\n1,Rose\n2,Fern\nx,Moss\n", withKey)
	if a := p.send(t, http.MethodGet, "/changes.csv?_from="+first, ""); a.status != 400 ||
		!strings.Contains(a.message(t), "id of the primary key of shop/prices has different types") {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := p.send(t, http.MethodGet, "/changes.ndjson?_from="+first, ""); !strings.Contains(a.body,
		`"added":2,"removed":1,"changed":0`) {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// TestChanges_access checks that changes are read with a key if one of the versions requires it.
func TestChanges_access(t *testing.T) {
	t.Parallel()
	p := newPublishing(t, nil)
	protected := `{"resources": [{"path": "prices.csv", "schema": {"primaryKey": "id"}, "herbarium": {"access": "key"}}]}`
	first := p.publish(t, "id,name,price\n1,Rose,2.50\n", protected)
	body, contentType := form(t, "prices.csv", "id,name,price\n1,Rose,2.60\n", "descriptor", withKey)
	if a := p.put(t, "?_allow_breaking=true&_allow_exposure=true&_access=open", body, contentType); a.status != 200 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	for _, form := range []string{"", ".ndjson", ".csv"} {
		if a := p.get(t, pricesPath+"/changes"+form+"?_from="+first); a.status != 401 ||
			strings.Contains(a.body, "2.50") {
			t.Errorf("%s gives %d %s", form, a.status, a.body)
		}
	}
}
