package operations_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi/operations"
	"herbarium/internal/library"
	"herbarium/internal/must"
	"herbarium/internal/query"
	"herbarium/internal/segment/segmenttest"
)

// cases returns a version with long lists, identified by its first field.
func cases() *library.View {
	fields := []herb.Field{
		{Name: "id", Type: herb.TypeNumber, Filterable: true, Sortable: true},
		{Name: "tags", Type: herb.TypeList, Filterable: true},
	}
	const longest = 1 << 20 // bytes; the lane accounts for less
	columns := []herb.ColumnReport{{Longest: 1}, {Longest: longest}}
	d := herb.Dataset{Ref: herb.Ref{Namespace: "a", Name: "b"}, Fields: fields}
	d.PrimaryKey, d.Report = []string{"id"}, &herb.Report{Columns: columns}
	return &library.View{Dataset: d, Engine: segmenttest.NewOracle(fields, []herb.Record{{"1", "x"}, {"2", "x, y"}})}
}

// TestMemory checks that each operation reserves the memory of its result until it is released, and
// fails without it.
func TestMemory(t *testing.T) {
	t.Parallel()
	v := cases()
	listing := func(t *testing.T, params string) *query.Request {
		req, err := query.Split(params).Listing(v.Fields, herb.Order{})
		must.NoError(t, err)
		return req
	}
	for _, tt := range []struct {
		name  string
		needs bool
		run   func(*testing.T, context.Context) (release func(), err error)
	}{
		{"a page of texts", false, func(t *testing.T, ctx context.Context) (func(), error) {
			found, err := operations.List(ctx, v, listing(t, "sort=id"))
			return found.Release, err
		}},
		{"a page of typed values", true, func(t *testing.T, ctx context.Context) (func(), error) {
			found, err := operations.List(ctx, v, listing(t, query.ParamTyped+"=true"))
			return found.Release, err
		}},
		{"a typed record", true, func(_ *testing.T, ctx context.Context) (func(), error) {
			found, err := operations.Record(ctx, v, []string{"2"}, query.Split(query.ParamTyped+"=true"))
			return found.Release, err
		}},
		{"facets", true, func(t *testing.T, ctx context.Context) (func(), error) {
			req := &query.FacetRequest{Request: listing(t, ""), Fields: []int{1}, Top: 5}
			_, release, err := operations.Facets(ctx, v, req)
			return release, err
		}},
		{"a grid", true, func(t *testing.T, ctx context.Context) (func(), error) {
			req, err := query.Split("_x=id&_y=id&_columns=2&_rows=2&_bounds=0,0,9,9").Grid(v.Fields)
			must.NoError(t, err)
			_, release, err := operations.Grid(ctx, v, req)
			return release, err
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var pacer segmenttest.Pacer
			ctx := query.WithPacer(t.Context(), &pacer)
			release, err := tt.run(t, ctx)
			must.NoError(t, err)
			if (pacer.Held > 0) != tt.needs {
				t.Errorf("holds %d bytes", pacer.Held)
			}
			release()
			if pacer.Held != 0 {
				t.Errorf("holds %d bytes after the release", pacer.Held)
			}
			pacer.Full = errors.New("no memory")
			_, err = tt.run(t, ctx)
			if errors.Is(err, pacer.Full) != tt.needs {
				t.Errorf("without memory: %v", err)
			}
		})
	}
}

// TestRecord checks records by their key, and the values of their rows.
func TestRecord(t *testing.T) {
	t.Parallel()
	v := cases()
	for _, tt := range []struct {
		key, params, want string // want is the message of an error, or the values
	}{
		{"2", "", "2|x, y"},
		{"2", "_fields=tags,id", "x, y|2"},
		{"3", "", `a/b has no record with the key "3"`},
		{"1/2", "", "the key has 2 values; the primary key of a/b is id"},
		{"two", "", `a/b has no record with the key "two": `},
		{"2", "_fields=tag", `did you mean "tags"?`},
	} {
		found, err := operations.Record(t.Context(), v, strings.Split(tt.key, "/"), query.Split(tt.params))
		if err != nil {
			if !strings.Contains(herb.MessageOf(err), tt.want) {
				t.Errorf("%s?%s: %v", tt.key, tt.params, err)
			}
			continue
		}
		var got []string
		for row, err := range found.Rows(t.Context(), v) {
			must.NoError(t, err)
			got = append(got, row...)
		}
		if strings.Join(got, "|") != tt.want ||
			!slices.Equal(found.Names(), []string{"id", "tags"}) == (tt.params == "") {
			t.Errorf("%s?%s: %q of %q", tt.key, tt.params, got, found.Names())
		}
		found.Release()
	}
}

// TestRecord_otherCase checks that the error for a key names the one that differs in case only, as
// far as its fields are texts.
func TestRecord_otherCase(t *testing.T) {
	t.Parallel()
	fields := []herb.Field{
		{Name: "code", Type: herb.TypeText, Filterable: true}, {Name: "n", Type: herb.TypeNumber, Filterable: true},
	}
	d := herb.Dataset{Ref: herb.Ref{Namespace: "a", Name: "b"}, Fields: fields}
	d.PrimaryKey = []string{"code", "n"}
	records := []herb.Record{{"\u00c9clair", "1"}, {"b", "2"}}
	v := &library.View{Dataset: d, Engine: segmenttest.NewOracle(fields, records)}
	for key, want := range map[string]string{
		"eclair/1": "a/b has no record with the key \"eclair/1\"; did you mean \"\u00c9clair/1\"?",
		"B/2.0":    `a/b has no record with the key "B/2.0"; did you mean "b/2.0"?`,
		"eclair/2": `a/b has no record with the key "eclair/2"`,
	} {
		_, err := operations.Record(t.Context(), v, strings.Split(key, "/"), query.Split(""))
		if got := herb.MessageOf(err); herb.CodeOf(err) != herb.CodeNotFound || got != want {
			t.Errorf("%s: %s; want %s", key, got, want)
		}
	}
}
