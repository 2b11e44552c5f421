package descriptor_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/descriptor"
	"herbarium/internal/ingest/rows"
)

// TestDocument_dialect changes how a descriptor says that a file is written.
func TestDocument_dialect(t *testing.T) {
	t.Parallel()
	const resource = `{"resources":[{"name":"p","layout":{"headerRows":[2],"x":1},"encoding":"utf-8","dialect":{"csv":{"delimiter":";"},"json":{"property":"a"},` +
		`"quoteChar":"","header":true,"skipRows":["#",7],"commentRows":[3],"y":{"z":1.50}}}]}`
	whole := rows.Options{Encoding: "utf-8", Delimiter: ';', Table: "a", NoQuote: true, Header: rows.HeaderPresent,
		HeaderRows: []int{2}, Comment: "#", CommentRows: []int{3, 7}}
	for _, tt := range []struct {
		name, in string
		read     rows.Options
		edit     func(*rows.Options)
		want     string // the resource
	}{
		{"nothing", `{"resources":[{"name":"p"}]}`, rows.Options{}, func(*rows.Options) {}, `{"name":"p"}`},
		{"all", `{"resources":[{"name":"p"}]}`, rows.Options{}, func(o *rows.Options) {
			*o = rows.Options{
				Table: "t", Encoding: "utf-16", Delimiter: '\t', Quote: '|', NoDoubleQuote: true, Escape: '!',
				SkipInitialSpace: true, Comment: "//", CommentRows: []int{4},
				Skip: 2, Null: "-", HeaderRows: []int{1, 2}, HeaderJoin: "_", ItemKeys: []string{"a"},
			}
		}, `{"dialect":{"commentChar":"//","commentRows":[4],"delimiter":"\t","doubleQuote":false,"escapeChar":"!","headerJoin":"_","headerRows":[1,2],"itemKeys":["a"],` +
			`"nullSequence":"-","quoteChar":"|","skipInitialSpace":true,"skipRows":2,"table":"t"},"encoding":"utf-16","name":"p"}`},
		{"written in one place", resource, whole, func(*rows.Options) {},
			`{"dialect":{"commentChar":"#","commentRows":[3,7],"delimiter":";","header":true,"headerRows":[2],"quoteChar":"",` +
				`"table":"a","y":{"z":1.50}},"encoding":"utf-8","layout":{"x":1},"name":"p"}`},
		{"removed", resource, whole, func(o *rows.Options) { *o = rows.Options{Header: rows.HeaderNone} },
			`{"dialect":{"header":false,"y":{"z":1.50}},"encoding":"utf-8","layout":{"x":1},"name":"p"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d, err := descriptor.ParseDocument([]byte(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			o, err := d.Dialect()
			if diff := cmp.Diff(tt.read, o); diff != "" || err != nil {
				t.Errorf("error %v (-want +got):\n%s", err, diff)
			}
			tt.edit(&o)
			if err := d.SetDialect(o); err != nil {
				t.Fatal(err)
			}
			if got, err := json.Marshal(d.Resource); string(got) != tt.want || err != nil {
				t.Errorf("error %v\ngot  %s\nwant %s", err, got, tt.want)
			}
			if again, err := d.Dialect(); err != nil || tt.name != "removed" && !cmp.Equal(o, again) {
				t.Errorf("read again: %+v and error %v", again, err)
			}
		})
	}
	d, err := descriptor.ParseDocument([]byte(`{"resources":[{"dialect":{"headerRows":["x"]}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Dialect(); herb.CodeOf(err) != herb.CodeInvalid {
		t.Errorf("an invalid dialect: got error %v", err)
	}
}
