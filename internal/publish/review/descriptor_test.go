package review_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/publish"
	"herbarium/internal/publish/review"
)

// plainTable is a file without anything odd.
func plainTable() string {
	var b strings.Builder
	b.WriteString("id,name,price,seen\n")
	for i := range 30 {
		fmt.Fprintf(&b, "%d,plant %d,%d.5,2024-01-%02d\n", i+1, i, i, i+1)
	}
	return b.String()
}

// descriptorOf returns the descriptor of a draft, without what all have.
func descriptorOf(t *testing.T, n *node, id string) string {
	t.Helper()
	content, err := n.reviews.Descriptor(t.Context(), id)
	must.NoError(t, err)
	var d map[string]any
	must.NoError(t, json.Unmarshal(content, &d))
	delete(d, "$schema")
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	must.NoError(t, e.Encode(d))
	s := strings.TrimSpace(b.String())
	s = strings.Replace(s, `"name":"prices","path":"prices.csv"`, "…", 1)
	s = strings.Replace(strings.TrimPrefix(s, `{"name":"shop","resources":[{`), `"name":"shop",`, "", 1)
	return strings.TrimSuffix(s, "}]}")
}

// checkPublish publishes a draft and, as another dataset, its file with its descriptor, and
// compares both.
func checkPublish(t *testing.T, n *node, id, name, content string) publish.Publish {
	t.Helper()
	r := n.review(id)
	if r.Error != "" {
		t.Fatalf("the draft cannot be published: %s", r.Error)
	}
	descriptor, err := n.reviews.Descriptor(t.Context(), id)
	must.NoError(t, err)
	published := n.publish(id, true, r.Live)
	if published.State != publish.StateLive {
		t.Fatalf("the publish is %+v: %s", published, published.Result.Error)
	}
	other := herb.Ref{Namespace: "other", Name: "prices"}
	if put := n.put(other, name, content, string(descriptor),
		func(r *publish.Request) { r.Force = true }); put.State != publish.StateLive {
		t.Fatalf("PUT with the descriptor is %+v\n%s", put.Result, descriptor)
	}
	if got, want := n.listing(prices), n.listing(other); got != want {
		t.Errorf("published:\n%s\nwith the descriptor:\n%s\n%s", got, want, descriptor)
	}
	if r.Records != published.Result.Records {
		t.Errorf("the review has %d records, the version %d", r.Records, published.Result.Records)
	}
	for i, f := range published.Result.Fields {
		if i >= len(r.Columns) {
			break
		}
		for _, c := range r.Columns {
			if c.Field == f.Name && (c.Type != f.Type || c.Title != f.Title) {
				t.Errorf("the review has the field %+v, the version %+v", c, f)
			}
		}
	}
	return published
}

// TestDescriptor composes descriptors from the settings of the live version and edits: only what
// was edited is stated, and what was stated stays.
func TestDescriptor(t *testing.T) {
	t.Parallel()
	const described = `{"name":"shop","title":"Shop","licenses":[{"name":"CC0-1.0","path":"https://example.org"}],"x":{"y":[1.50]},"resources":[{"name":"p","path":"old.csv","title":"Old",
		"dialect":{"delimiter":","},"schema":{"primaryKey":"no","missingValues":["","?"],"fields":[{"name":"no","title":"No","constraints":{"required":true},"herbarium":{"from":"id"}},
		{"name":"price","type":"number","unit":"EUR"},{"name":"seen","type":"date"}]},"herbarium":{"access":"key","order":"-no"}}]}`
	const oldFields = `{"constraints":{"required":true},"herbarium":{"from":"id"},"name":"no","title":"No"},{"name":"price","type":"number","unit":"EUR"},{"name":"seen","type":"date"}`
	oldDescriptor := func(title, dialect, access, order, key, fields, licenses, whole string) string {
		return `{"licenses":[` + licenses + `],"resources":[{"dialect":{` + dialect +
			`"delimiter":","},"herbarium":{"access":"` + access + `","order":"` + order +
			`"},"name":"p","path":"prices.csv",` +
			`"schema":{"fields":[` + fields + `],"missingValues":["","?"],"primaryKey":` + key + `}` + title + `}],` +
			whole + `"x":{"y":[1.5]}}`
	}
	const cc0 = `{"name":"CC0-1.0","path":"https://example.org"}`
	columns := func(position int, c review.ColumnEdit) review.Edits {
		return review.Edits{Columns: map[int]review.ColumnEdit{position: c}}
	}
	for _, tt := range []struct {
		name  string
		live  string // descriptor of the live version; "-": none, "": there is no live version
		edits review.Edits
		want  string
	}{
		{"nothing", "", review.Edits{}, "…"},
		{"an empty column edit", "", columns(1, review.ColumnEdit{}), "…"},
		{"title", "", review.Edits{Title: new("T")}, `…,"title":"T"`},
		{"description", "", review.Edits{Description: new("D")}, `"description":"D",…`},
		{"license", "", review.Edits{License: new("CC-BY-4.0")}, `"licenses":[{"name":"CC-BY-4.0"}],…`},
		{"access", "", review.Edits{Access: herb.AccessKey}, `"herbarium":{"access":"key"},…`},
		{"primary key", "", review.Edits{PrimaryKey: &[]string{"id"}}, `…,"schema":{"primaryKey":["id"]}`},
		{"no primary key", "", review.Edits{PrimaryKey: &[]string{}}, `…`},
		{"name", "", columns(1, review.ColumnEdit{Name: "plant"}),
			`…,"schema":{"fields":[{"name":"id"},{"herbarium":{"from":"name"},"name":"plant"},{"name":"price"},{"name":"seen"}]}`},
		{"title of a field", "", columns(1, review.ColumnEdit{Title: new("Plant")}),
			`…,"schema":{"fields":[{"name":"id"},{"name":"name","title":"Plant"},{"name":"price"},{"name":"seen"}]}`},
		{"type", "", columns(2, review.ColumnEdit{Type: herb.TypeText}),
			`…,"schema":{"fields":[{"name":"id"},{"name":"name"},{"name":"price","type":"string"},{"name":"seen"}]}`},
		{"missing value", "", columns(2, review.ColumnEdit{Missing: []string{"0.5"}}),
			`…,"schema":{"fields":[{"name":"id"},{"name":"name"},{"missingValues":["","0.5"],"name":"price"},{"name":"seen"}]}`},
		{"hidden", "", columns(2, review.ColumnEdit{Hidden: true}),
			`…,"schema":{"fields":[{"name":"id"},{"name":"name"},{"name":"seen"}]}`},
		{"dropped", "", review.Edits{Drop: []int{7, 3}}, `"dialect":{"commentRows":[3,7]},…`},
		{"another header", "", review.Edits{HeaderRows: &[]int{2}}, `"dialect":{"headerRows":[2]},…`},
		{"no header", "", review.Edits{HeaderRows: &[]int{}}, `"dialect":{"header":false},…`},
		{"several", "", review.Edits{Title: new("T"), Access: herb.AccessOpen, PrimaryKey: &[]string{"no"},
			Drop: []int{3}, Columns: map[int]review.ColumnEdit{0: {Name: "no", Type: herb.TypeText}}},
			`"dialect":{"commentRows":[3]},"herbarium":{"access":"open"},…,"schema":{"fields":[{"herbarium":{"from":"id"},"name":"no","type":"string"},{"name":"name"},{"name":"price"},{"name":"seen"}],"primaryKey":["no"]},"title":"T"`},

		{"a live version without a descriptor", "-", review.Edits{}, "…"},
		{"its title", "-", review.Edits{Title: new("T")}, `…,"title":"T"`},

		{"a live version with one", described, review.Edits{}, oldDescriptor(`,"title":"Old"`, "", "key", "-no", `"no"`,
			oldFields, cc0, `"title":"Shop",`)},
		{"its title, changed", described, review.Edits{Title: new("T")},
			oldDescriptor(`,"title":"T"`, "", "key", "-no", `"no"`, oldFields, cc0, `"title":"Shop",`)},
		{"its title, removed", described, review.Edits{Title: new("")},
			oldDescriptor(``, "", "key", "-no", `"no"`, oldFields, cc0, ``)},
		{"its license, unchanged", described, review.Edits{License: new("CC0-1.0")},
			oldDescriptor(`,"title":"Old"`, "", "key", "-no", `"no"`, oldFields, cc0, `"title":"Shop",`)},
		{"its access, changed", described, review.Edits{Access: herb.AccessOpen},
			oldDescriptor(`,"title":"Old"`, "", "open", "-no", `"no"`, oldFields, cc0, `"title":"Shop",`)},
		{"its key field, renamed", described, columns(0, review.ColumnEdit{Name: "number"}),
			oldDescriptor(`,"title":"Old"`, "", "key", "-number", `"number"`,
				strings.Replace(oldFields, `"name":"no"`, `"name":"number"`, 1), cc0, `"title":"Shop",`)},
		{"its type, changed", described, columns(2, review.ColumnEdit{Type: herb.TypeText, Missing: []string{"0.5"}}),
			oldDescriptor(`,"title":"Old"`, "", "key", "-no", `"no"`,
				strings.Replace(oldFields, `"name":"price","type":"number"`,
					`"missingValues":["","?","0.5"],"name":"price","type":"string"`, 1), cc0, `"title":"Shop",`)},
		{"its hidden column, shown", described, columns(1, review.ColumnEdit{Name: "plant"}),
			oldDescriptor(`,"title":"Old"`, "", "key", "-no", `"no"`,
				oldFields+`,{"herbarium":{"from":"name"},"name":"plant"}`, cc0, `"title":"Shop",`)},
		{"its coordinates, renamed",
			strings.Replace(described, `"order":"-no"`,
				`"order":"-no","coordinates":{"latitude":"price","longitude":"no"}`, 1),
			columns(2, review.ColumnEdit{Name: "north"}),
			strings.Replace(oldDescriptor(`,"title":"Old"`, "", "key", "-no", `"no"`,
				strings.Replace(oldFields, `{"name":"price"`, `{"herbarium":{"from":"price"},"name":"north"`, 1), cc0,
				`"title":"Shop",`),
				`"access":"key",`, `"access":"key","coordinates":{"latitude":"north","longitude":"no"},`, 1)},
		{"its rows", described, review.Edits{Drop: []int{4}}, oldDescriptor(`,"title":"Old"`, `"commentRows":[4],`,
			"key", "-no", `"no"`, oldFields, cc0, `"title":"Shop",`)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			n := newNode(t, nodeOptions{})
			if tt.live != "" {
				n.put(prices, "old.csv", plainTable(), strings.TrimPrefix(tt.live, "-"), nil)
			}
			content := strings.Replace(plainTable(), "plant 7", "fern", 1)
			id := n.create("prices.csv", content)
			n.review(id)
			if r := n.edit(id, tt.edits); r.Error != "" {
				t.Fatal(r.Error)
			}
			if got := descriptorOf(t, n, id); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			checkPublish(t, n, id, "prices.csv", content)
			d, err := n.library.LiveVersion(t.Context(), prices)
			must.NoError(t, err)
			if isStated := d.Settings != nil && d.Settings.Descriptor != nil; isStated == (tt.want == "…" &&
				tt.name != "no primary key") {
				t.Errorf("the version has a descriptor: %t", isStated)
			}
		})
	}
}

// TestPublish_access keeps what the live version has, also if only a parameter stated it.
func TestPublish_access(t *testing.T) {
	t.Parallel()
	const open = `{"name":"shop","resources":[{"name":"prices","path":"a.csv","herbarium":{"access":"open"}}]}`
	const key = `{"name":"shop","herbarium":{"access":"key"},"resources":[{"name":"prices","path":"a.csv"}]}`
	for _, tt := range []struct {
		name, descriptor string
		access           herb.Access // that the PUT states
		edited           herb.Access
		want             herb.Access
	}{
		{"protected by a parameter", "", herb.AccessKey, "", herb.AccessKey},
		{"protected by a descriptor", key, "", "", herb.AccessKey},
		{"protected by a parameter despite the descriptor", open, herb.AccessKey, "", herb.AccessKey},
		{"opened by a parameter despite the descriptor", key, herb.AccessOpen, "", herb.AccessOpen},
		{"opened by the edit", key, "", herb.AccessOpen, herb.AccessOpen},
		{"protected by the edit", "", "", herb.AccessKey, herb.AccessKey},
		{"open", "", "", "", herb.AccessOpen},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			n := newNode(t, nodeOptions{})
			n.put(prices, "a.csv", plainTable(), tt.descriptor, func(r *publish.Request) { r.Access = tt.access })
			for _, e := range []review.Edits{
				{Access: tt.edited}, {Access: tt.edited, Title: new("T"),
					Columns: map[int]review.ColumnEdit{1: {Title: new("Name")}}}} {
				content := strings.Replace(plainTable(), "plant 7", fmt.Sprint("fern", len(e.Columns)), 1)
				id := n.create("a.csv", content)
				r := n.edit(id, e)
				if r.Access != tt.want || isBreaking(r) {
					t.Errorf("%+v: the review has the access %s and the changes %+v", e, r.Access, r.Changes)
				}
				checkPublish(t, n, id, "a.csv", content)
				if d, err := n.library.LiveVersion(t.Context(), prices); err != nil || d.Access != tt.want {
					t.Errorf("%+v: the access is %s, %v", e, d.Access, err)
				}
			}
		})
	}
}
