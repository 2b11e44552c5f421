package query_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// TestParse_any checks groups of fields whose filters are alternatives.
func TestParse_any(t *testing.T) {
	t.Parallel()
	const filters = "id=1&title=a&notes[match]=b&price[gt]=1&price[lt]=2&tags=c&"
	fields := catalog()
	fields[5].Searchable = true // notes
	for raw, want := range map[string][][]int{
		"":                                nil,
		"_any=":                           nil,
		"_any=title,tags":                 {{1, 4}},
		"_any=tags,title&_any=price,id":   {{1, 4}, {0, 3}},
		"_any=price,notes,id":             {{0, 3, 5}},
		"_any=title,tags&_any=&_filter=":  {{1, 4}},
		"_any=title,x+y&_filter=x%20y%3D": {{1, 7}},
	} {
		r, err := query.Parse(filters+raw, fields)
		if err != nil {
			t.Errorf("%s: %v", raw, err)
			continue
		}
		if diff := cmp.Diff(want, r.Any); diff != "" {
			t.Errorf("%s (-want +got):\n%s", raw, diff)
		}
	}
	one, err := query.Parse(filters+"_any=title,tags&_any=id,price", fields)
	other, otherErr := query.Parse("_any=id,price&_any=title,tags&"+filters, fields)
	if err != nil || otherErr != nil || one.Canonical() != other.Canonical() {
		t.Errorf("%v, %v: %q differs from %q", err, otherErr, one.Canonical(), other.Canonical())
	}
	const choices = "fields with a filter: id, notes, price, tags, title"
	for raw, want := range map[string]string{
		"_any=title": `_any is "title"; it joins the filters of two or more fields by or, such as ` +
			`_any=category,tags; ` + choices,
		"_any=title,tag": `unknown field "tag" in "_any"; did you mean "tags"? ` + choices,
		"_any=title,":    `unknown field "" in "_any"; ` + choices,
		"_any=title,date": `_any names "date", which has no filter; add one, such as date[eq]=value, or leave the ` +
			`field out; ` + choices,
		"_any=title,tags,title":           `field "title" is given more than once in "_any"; give it once, in one group`,
		"_any=title,tags&_any=price,tags": `field "tags" is given more than once in "_any"; give it once, in one group`,
	} {
		_, err := query.Parse(filters+raw, fields)
		if herb.CodeOf(err) != herb.CodeInvalid || herb.MessageOf(err) != want {
			t.Errorf("%s: %v; want %s", raw, err, want)
		}
	}
}
