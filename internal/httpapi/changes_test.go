package httpapi_test

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/testseed"
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
		{"?", 200, page(all, `"total":5,"page":1,"per_page":25,"total_pages":1,"has_next":false,"has_prev":false`, lines...)},
		{"?per_page=2&page=2&", 200, page(all, `"total":5,"page":2,"per_page":2,"total_pages":3,"has_next":true,"has_prev":true`, lines[2:4]...)},
		{"?page=9&", 200, page(all, `"total":5,"page":9,"per_page":25,"total_pages":1,"has_next":false,"has_prev":true`)},
		{"?_op=removed,added&", 200, page(`"added":1,"removed":1,"changed":0,"unchanged":0,`, `"total":2,"page":1,"per_page":25,"total_pages":1,"has_next":false,"has_prev":false`, lines[1], lines[4])},
		{"?price=3&", 200, page(`"added":0,"removed":0,"changed":1,"unchanged":0,`, `"total":1,"page":1,"per_page":25,"total_pages":1,"has_next":false,"has_prev":false`, lines[2])},
		{"?price=9&_op=removed&", 200, page(`"added":0,"removed":0,"changed":0,"unchanged":0,`, `"total":0,"page":1,"per_page":25,"total_pages":0,"has_next":false,"has_prev":false`)},
		{"?kind=tree&", 200, page(`"added":0,"removed":0,"changed":1,"unchanged":0,`, `"total":1,"page":1,"per_page":25,"total_pages":1,"has_next":false,"has_prev":false`, lines[0])},
		{"?search=ivy&", 200, page(`"added":0,"removed":1,"changed":0,"unchanged":0,`, `"total":1,"page":1,"per_page":25,"total_pages":1,"has_next":false,"has_prev":false`, lines[1])},
		{"?_fields=kind,name&", 200, page(`"added":1,"removed":1,"changed":1,"unchanged":2,`, `"total":3,"page":1,"per_page":25,"total_pages":1,"has_next":false,"has_prev":false`,
			lines[0], `{"op":"removed","record":{"name":"Ivy \"x\""}}`, `{"op":"added","record":{"kind":"green","name":"Moss"}}`)},
		{".ndjson?", 200, "{" + summary + all + fields + "}\n" + strings.Join(lines, "\n") + "\n"},
		{".ndjson?_op=added&", 200, "{" + summary + `"added":1,"removed":0,"changed":0,"unchanged":0,` + fields + "}\n" + lines[4] + "\n"},
		{".csv?", 200, "id,name,price,kind,_deleted\r\n7,Oak,9,tree,false\r\n8,,,,true\r\n9,Fern,4,,false\r\n10.0,Rose,2.50,,false\r\n11,Moss,5,green,false\r\n"},
		{".csv?page=2&", 400, "an export has no pages"},
		{"?sort=price&", 400, "changes come in the order of the primary key"},
		{"?_op=gone&", 400, "_op is \"gone\"; it must be added, removed or changed"},
		{"?prise=9&", 400, `did you mean "price"?`},
		{"?_fields=prise&", 400, `unknown field "prise"`},
		{"?_from=x&", 400, `"_from" is given more than once`},
	} {
		a := p.send(t, http.MethodGet, "/changes"+tt.path+"_from="+first, "")
		got := replace.Replace(a.body)
		if a.status != tt.status || tt.status == 200 && got != tt.want || tt.status != 200 && !strings.Contains(a.message(t), tt.want) {
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
		if a := p.send(t, http.MethodGet, "/changes"+path, ""); a.status != 400 && a.status != 410 || !strings.Contains(a.message(t), want) {
			t.Errorf("%q gives %d %s", path, a.status, a.body)
		}
	}
	if a := p.send(t, http.MethodGet, "/changes?_from="+second+"&_to="+first, ""); !strings.Contains(a.body, `"added":1,"removed":1,"changed":2,"unchanged":1`) {
		t.Errorf("back: %s", a.body)
	}
	if a := p.send(t, http.MethodGet, "/changes?_from="+second, ""); !strings.Contains(a.body, `"data":[],`) || a.header.Get("X-Dataset-Version") != second {
		t.Errorf("the same version gives %s", a.body)
	}
}

// TestChanges_deletedField compares versions with a field of the name that marks removed records.
func TestChanges_deletedField(t *testing.T) {
	t.Parallel()
	p := newPublishing(t, nil)
	first := p.publish(t, "id,_deleted\n1,no\n", withKey)
	p.publish(t, "id,_deleted\n1,yes\n", withKey)
	if a := p.send(t, http.MethodGet, "/changes.csv?_from="+first, ""); a.status != 400 || !strings.Contains(a.message(t), "changes.ndjson") {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := p.send(t, http.MethodGet, "/changes.ndjson?_from="+first, ""); !strings.Contains(a.body, `"new":{"_deleted":"yes"}`) {
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
	if a := p.send(t, http.MethodGet, "/changes.csv?_from="+first, ""); a.status != 400 || !strings.Contains(a.message(t), "no primary key identifies") {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := p.send(t, http.MethodGet, "/changes.ndjson?_from="+first, ""); !strings.HasSuffix(a.body, "\n{\"op\":\"added\",\"record\":{\"id\":\"1\",\"name\":\"Fern\"}}\n") {
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
		if a := p.get(t, pricesPath+"/changes"+form+"?_from="+first); a.status != 401 || strings.Contains(a.body, "2.50") {
			t.Errorf("%s gives %d %s", form, a.status, a.body)
		}
	}
}

// edition is a random edition of a dataset, which has a primary key.
func edition(random *rand.Rand, fields []string, types map[string]bool) string {
	var b strings.Builder
	b.WriteString(strings.Join(fields, ",") + "\n")
	for n := range 1 + random.IntN(40) {
		if random.IntN(3) == 0 {
			continue
		}
		row := make([]string, len(fields))
		for i, f := range fields {
			switch row[i] = fmt.Sprintf("%d", random.IntN(3)); {
			case f == "id":
				row[i] = fmt.Sprintf("k%d", n)
			case types[f]:
				row[i] = []string{"", "\"a,b\"", "\"line\nbreak\"", "x ' y"}[random.IntN(4)]
			}
		}
		b.WriteString(strings.Join(row, ",") + "\n")
	}
	return b.String() + "last" + strings.Repeat(",1", len(fields)-1) + "\n"
}

// TestChanges_apply keeps a copy of a dataset up to date with its changes only.
func TestChanges_apply(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(testseed.Seed(t), 0))
	p, q := newPublishing(t, nil), newPublishing(t, nil)
	fields, types := []string{"id", "a", "b"}, map[string]bool{"a": true}
	file := edition(random, fields, types)
	last := p.publish(t, file, withKey)
	q.publish(t, file, withKey)
	for range 12 {
		switch random.IntN(4) {
		case 0: // a field is renamed, added or removed
			fields = slices.Clone([][]string{{"id", "a", "c"}, {"a", "id"}, {"id", "a", "b", "d"}, {"id", "b"}}[random.IntN(4)])
		case 1: // a field has another type
			name := fields[len(fields)-1]
			types[name] = !types[name]
		}
		if p.publish(t, edition(random, fields, types), withKey) == last {
			continue
		}
		table := p.send(t, http.MethodGet, "/changes.csv?_from="+last, "")
		last = p.liveVersion(t)
		a := q.send(t, http.MethodPatch, "/source?_mode=upsert&_allow_breaking=true", table.body)
		if a.status != 200 {
			t.Fatalf("%d %s\n%s", a.status, a.body, table.body)
		}
		if d := gocmp.Diff(p.sorted(t), q.sorted(t)); d != "" {
			t.Fatalf("after %s\n%s", table.body, d)
		}
	}
}

// sorted returns the records of the live version, sorted.
func (p *publishSite) sorted(t *testing.T) []string {
	t.Helper()
	view, err := p.library.AcquireVersion(t.Context(), herb.Ref{Namespace: "shop", Name: "prices"}, p.liveVersion(t))
	must.NoError(t, err)
	defer view.Release()
	var all []string
	for r, err := range view.Reader.Records(t.Context()) {
		must.NoError(t, err)
		values := map[string]string{}
		for i, f := range view.Fields {
			values[f.Name] = r[i]
		}
		var line []string
		for _, name := range slices.Sorted(maps.Keys(values)) {
			line = append(line, url.QueryEscape(name)+"="+url.QueryEscape(values[name]))
		}
		all = append(all, strings.Join(line, "&"))
	}
	slices.SortFunc(all, cmp.Compare[string])
	return all
}
