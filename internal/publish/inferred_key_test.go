package publish

import (
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/ingest/rowstest"
	"herbarium/internal/must"
	"herbarium/internal/versions"
)

// TestPublish_inferredKey publishes editions of files without a descriptor. The field that
// identifies the records is the primary key, until an edition repeats its values.
func TestPublish_inferredKey(t *testing.T) {
	t.Parallel()
	db := openDatabase(t)
	node := openLibrary(t, db)
	publisher := &Publisher{Versions: node.Service, Store: db, Log: slog.New(slog.NewTextHandler(io.Discard, nil))}
	for name, editions := range map[string][]struct{ file, want, change string }{
		"called-like-one": {
			{"city,stop_id\nBasel,7\nBern,8\n", "stop_id", ""},
			{"city,stop_id\nBasel,7\nBern,8\nBern,9\n", "stop_id", ""},
			{"city,stop_id\nBasel,7\nBern,7\nBern,9\n", "", "records have no primary key instead of the inferred primary key " +
				"(stop_id), whose values repeat or are missing"},
			{"city,stop_id\nBasel,7\nBern,8\n", "stop_id", "records have the inferred primary key (stop_id) instead of no " +
				"primary key"},
			{"city,stop_id\nBasel,7\nBern,\n", "city", "records have the inferred primary key (city) instead of the inferred " +
				"primary key (stop_id)"},
		},
		"abbreviation":  {{"name,iata\nZürich,ZRH\nGenève,GVA\n", "iata", ""}},
		"slug":          {{"name,slug\nRose,rose\nFern,fern\n", "slug", ""}},
		"first":         {{"state,price\nOhio,2\nUtah,3\n", "state", ""}},
		"second":        {{"price,state\n2,Ohio\n3,Utah\n", "", ""}},
		"date":          {{"day,n\n2024-01-01,2\n2024-01-02,2\n", "", ""}},
		"year":          {{"year,n\n2001,2\n2002,2\n", "", ""}},
		"fraction":      {{"x,n\n1.5,2\n2.5,2\n", "", ""}},
		"coordinate":    {{"lon,lat\n7,47\n8,47\n", "", ""}},
		"missing":       {{"state,n\nOhio,2\n,3\n", "", ""}},
		"marked":        {{"id,n\n1,2\n2,3\nNA,4\n", "", ""}},
		"equal numbers": {{"id,n\n1,2\n1.0,3\n", "", ""}},
		"long":          {{"story,n\n" + strings.Repeat("a", 121) + ",2\nb,3\n", "", ""}},
		"one record":    {{"id,n\n1,2\n", "", ""}},
	} {
		ref := herb.Ref{Namespace: "keys", Name: strings.ReplaceAll(name, " ", "-")}
		for i, e := range editions {
			path := rowstest.WriteFile(t, t.TempDir(), "edition.csv", e.file)
			r, err := publisher.Publish(t.Context(), ingest.Source{Ref: ref, Path: path}, Options{})
			must.NoError(t, err)
			var changes []string
			for _, c := range r.Changes {
				if c.Kind == versions.PrimaryKeyChanged {
					changes = append(changes, c.Message)
				}
			}
			live, err := node.LiveVersion(t.Context(), ref)
			must.NoError(t, err)
			if got := strings.Join(live.PrimaryKey, ","); got != e.want || live.InferredKey != (e.want != "") ||
				r.InferredKey != live.InferredKey || strings.Join(changes, ";") != e.change {
				t.Errorf("%s, edition %d: key %q, inferred %t, changes %q", name, i+1, got, live.InferredKey, changes)
			}
		}
	}
	declared := ingest.Source{Ref: herb.Ref{Namespace: "keys", Name: "declared"}, PrimaryKey: []string{"id"}}
	for _, file := range []string{"code,id\na,1\nb,2\n", "code,id\na,1\nb,1\n"} {
		declared.Path = rowstest.WriteFile(t, t.TempDir(), "edition.csv", file)
		_, err := publisher.Publish(t.Context(), declared, Options{})
		if isRejected := herb.CodeOf(err) == herb.CodeRejected; isRejected != strings.Contains(file, "b,1") {
			t.Errorf("a declared key: %v", err)
		}
	}
	live, err := node.LiveVersion(t.Context(), declared.Ref)
	if err != nil || !slices.Equal(live.PrimaryKey, []string{"id"}) || live.InferredKey {
		t.Errorf("the declared key is %v, inferred %t, %v", live.PrimaryKey, live.InferredKey, err)
	}
}
