package store_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"herbarium/internal/herb"
	"herbarium/internal/store"
)

func TestLoadSchema(t *testing.T) {
	t.Parallel()
	folder := func(files ...string) fstest.MapFS {
		f := fstest.MapFS{"README": {}}
		for i, content := range files {
			f[string(rune('a'+i))+".sql"] = &fstest.MapFile{Data: []byte(content)}
		}
		return f
	}
	schema, err := store.LoadSchema(folder("-- compatible: 1\nSELECT 1", "-- compatible: 1\nSELECT 2",
		"-- compatible: 3\nSELECT 3"))
	if err != nil || schema.Latest() != 3 || schema.Needs() != 3 || schema[:2].Needs() != 1 ||
		schema[1].Name != "b.sql" {
		t.Errorf("got %+v, %v", schema, err)
	}
	for _, content := range []string{"SELECT 1", "-- compatible: 2\n", "-- compatible: 0\n", "-- compatible: x\n"} {
		if _, err := store.LoadSchema(folder(content)); err == nil ||
			!strings.Contains(err.Error(), "a.sql must begin with") {
			t.Errorf("%q: got %v", content, err)
		}
	}
}

func TestSchema_Check(t *testing.T) {
	t.Parallel()
	schema := store.Schema{{Compatible: 1}, {Compatible: 1}, {Compatible: 2}}
	for name, tt := range map[string]struct {
		have    store.SchemaState
		keep    bool
		missing bool
		want    string // part of the error
	}{
		"current":       {store.SchemaState{Version: 3, Needs: 2}, false, false, ""},
		"current, kept": {store.SchemaState{Version: 3, Needs: 2}, true, false, ""},
		"older":         {store.SchemaState{Version: 2, Needs: 1}, false, true, ""},
		"older, kept": {store.SchemaState{Version: 2, Needs: 1}, true, false,
			"schema version 2 and this program uses version 3; back it up with the older program, then run " +
				"'herbarium upgrade'"},
		"new":                  {store.SchemaState{}, false, true, ""},
		"new, kept":            {store.SchemaState{}, true, false, "the database is empty; 'herbarium serve'"},
		"newer and compatible": {store.SchemaState{Version: 9, Needs: 3}, true, false, ""},
		"newer": {store.SchemaState{Version: 9, Needs: 4}, false, false,
			"schema version 9, which needs a program that knows version 4"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			missing, err := schema.Check(tt.have, tt.keep)
			if missing != tt.missing || (err == nil) != (tt.want == "") {
				t.Fatalf("missing %t, error %v", missing, err)
			}
			if err != nil && (herb.CodeOf(err) != herb.CodeInvalid || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("got %v; want %q", err, tt.want)
			}
		})
	}
}
