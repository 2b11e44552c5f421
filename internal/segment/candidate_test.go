package segment_test

import (
	"path/filepath"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment"
)

// TestMayMatch compares a check of words with the listing: a search without matches may match, but
// never the other way around.
func TestMayMatch(t *testing.T) {
	t.Parallel()
	fields := []herb.Field{{Name: `a","records":-1,"x":"`, Type: herb.TypeText, Searchable: true},
		{Name: "b", Type: herb.TypeText}}
	records := []herb.Record{{"Rosa canina", "hidden"}, {"Rosa rugosa", ""}, {"Árbol", ""}}
	path := filepath.Join(t.TempDir(), "test.seg")
	content := fileOf(t, fields, records, segment.Options{})
	r, err := openBytes(t, path, content)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	for search, want := range map[string]bool{
		"rosa": true, "ROSA canina": true, "canina rugosa": true, "rosa moss": false, "moss": false, "hidden": false,
		"arbol": true, "arb*": true, "rosas": true, `"rosas"`: false, "arboles": true, "rosas moss": false,
		"arb": false, "zz*": false, `"rosa rug"*`: true, `"rosa can*"`: false, `"canina rosa"`: true,
		"rosa -canina": true, "rosa -moss": true, "-rosa": true, "!": false,
	} {
		req, err := query.Parse(query.Params{{Name: query.ParamSearch, Value: search}}.Encode(), r.Fields())
		if err != nil {
			t.Fatal(err)
		}
		may, err := segment.MayMatch(path, req.Search)
		page, failed := r.List(t.Context(), req)
		if err != nil || failed != nil || may != want || page.Total > 0 && !may {
			t.Errorf("%s: %t, %v; the listing has %d records, %v", search, may, err, page.Total, failed)
		}
	}
	damaged := filepath.Join(t.TempDir(), "damaged.seg")
	for at := 0; at < len(content); at += 7 { // damage to the words themselves is not noticed
		replaceFile(t, damaged, content[:at])
		if may, err := segment.MayMatch(damaged,
			&query.Search{Clauses: []query.Clause{{Words: []string{"rosa"}}}}); err == nil || may {
			t.Errorf("the first %d of %d bytes: %t, %v", at, len(content), may, err)
		}
	}
}
