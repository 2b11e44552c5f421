package sqlite

import (
	"database/sql"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/store"
)

var update = flag.Bool("update", false, "write schema.txt")

// TestObjects compares schema.txt with a new database, and rejects databases that lack something
// of it.
func TestObjects(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "herbarium.db")
	db, err := connect(path, busyTimeout, nil)
	must.NoError(t, err)
	must.CloseAfter(t, db)
	schema, err := currentSchema()
	must.NoError(t, err)
	must.NoError(t, inTx(t.Context(), db,
		func(tx *sql.Tx) error { return schema.Apply(t.Context(), tx, store.SchemaState{}) }))
	rows, err := db.QueryContext(t.Context(), selectObjects)
	must.NoError(t, err)
	defer rows.Close()
	var got strings.Builder
	for rows.Next() {
		var object string
		must.NoError(t, rows.Scan(&object))
		got.WriteString(object + "\n")
	}
	must.NoError(t, rows.Err())
	if *update {
		must.NoError(t, os.WriteFile("schema.txt", []byte(got.String()), 0o644))
		return
	}
	if got.String() != objects {
		t.Errorf("a new database has other objects than schema.txt; run 'go test ./internal/store/sqlite -run "+
			"TestObjects -update':\n%s", got.String())
	}
}

// TestOpen_missingTable opens a database that lacks a table of its schema version, as a migration
// that was edited after its release leaves it.
func TestOpen_missingTable(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "herbarium.db")
	s, err := Open(t.Context(), path, Options{})
	must.NoError(t, err)
	_, err = s.writer.ExecContext(t.Context(), "DROP TABLE publishes")
	must.NoError(t, err)
	must.NoError(t, s.Close())
	_, err = Open(t.Context(), path, Options{})
	wantError(t, err, herb.CodeInvalid, "missing: column publishes.content BLOB", "restore a backup")
	_, err = Inspect(t.Context(), path)
	wantError(t, err, herb.CodeInvalid, "missing: column publishes.content BLOB")
}

// TestOpen_schemas opens databases of 0.9.0, whose schema version 1 has no publishes, and of later
// programs, whose schema version 1 has them. Both get the same schema.
func TestOpen_schemas(t *testing.T) {
	t.Parallel()
	schema, err := currentSchema()
	must.NoError(t, err)
	for name, statements := range map[string]string{
		"0.9.0": "",
		"later": schema[1].SQL,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "herbarium.db")
			old, err := openSchema(t, path, schema[:1], Options{})
			must.NoError(t, err)
			_, err = old.writer.ExecContext(t.Context(), statements+"; SELECT 1")
			must.NoError(t, err)
			must.NoError(t, old.AddKey(t.Context(), herb.Key{ID: "ann"}))
			must.NoError(t, old.Close())
			s, err := Open(t.Context(), path, Options{})
			must.NoError(t, err)
			must.CloseAfter(t, s)
			if keys, err := s.Keys(t.Context()); err != nil || len(keys) != 1 {
				t.Errorf("keys %v, %v", keys, err)
			}
			if i, err := Inspect(t.Context(), path); err != nil || i.Version != schema.Latest() {
				t.Errorf("%+v, %v", i, err)
			}
		})
	}
}

// TestOpen_drafts upgrades a database in which drafts are among the publishes. Programs of the
// earlier release keep finding them there.
func TestOpen_drafts(t *testing.T) {
	t.Parallel()
	schema, err := currentSchema()
	must.NoError(t, err)
	path := filepath.Join(t.TempDir(), "herbarium.db")
	old, err := openSchema(t, path, schema[:2], Options{})
	must.NoError(t, err)
	now := time.UnixMicro(1_800_000_000_000_000).UTC()
	const content = `{"ref":"shop/stock","owner":"ann","name":"Ä\u0000.csv"}`
	for id, isRunning := range map[string]bool{"draft-00000000-aaaaaaaaaaaaaaaaaaaaaaaaaa": false,
		"draft-00000000-bbbbbbbbbbbbbbbbbbbbbbbbbb": true, "publish": false} {
		must.NoError(t, old.AddPublish(t.Context(), store.Publish{ID: id, Running: isRunning, Updated: now,
			Content: []byte(content)}, time.Time{}))
	}
	must.NoError(t, old.Close())
	s, err := Open(t.Context(), path, Options{})
	must.NoError(t, err)
	must.CloseAfter(t, s)
	drafts, err := s.Drafts(t.Context(), "ann", time.Time{})
	if err != nil || len(drafts) != 1 || drafts[0].ID[15] != 'a' || !drafts[0].Stored ||
		!drafts[0].Updated.Equal(now) || string(drafts[0].Content) != content {
		t.Errorf("%+v, %v", drafts, err)
	}
	// the file of the other one may be stored by an earlier release
	if ids, err := s.DraftIDs(t.Context(), time.Time{}); err != nil || len(ids) != 2 {
		t.Errorf("%v, %v", ids, err)
	}
}

// TestOpen_unversioned opens a database from before 0.9.0: it is not empty.
func TestOpen_unversioned(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "herbarium.db")
	db, err := connect(path, busyTimeout, nil)
	must.NoError(t, err)
	_, err = db.ExecContext(t.Context(), "CREATE TABLE plants (id INTEGER)")
	must.NoError(t, err)
	must.NoError(t, db.Close())
	for _, keep := range []bool{false, true} {
		_, err := Open(t.Context(), path, Options{KeepSchema: keep})
		wantError(t, err, herb.CodeInvalid, "before version 0.9.0", "'herbarium backup' of the program that wrote it")
	}
	_, err = Inspect(t.Context(), path)
	wantError(t, err, herb.CodeInvalid, "before version 0.9.0")
}
