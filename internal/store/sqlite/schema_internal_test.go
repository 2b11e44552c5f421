package sqlite

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/store"
)

// nextSchema returns the current schema with another migration.
func nextSchema(t *testing.T, compatible int) store.Schema {
	t.Helper()
	schema, err := currentSchema()
	if err != nil {
		t.Fatal(err)
	}
	return append(schema[:len(schema):len(schema)], store.Migration{
		Name: "next.sql", SQL: "ALTER TABLE keys ADD COLUMN note TEXT", Compatible: compatible,
	})
}

func openSchema(t *testing.T, path string, schema store.Schema, o Options) (*Store, error) {
	t.Helper()
	o.schema = schema
	return open(t.Context(), path, o)
}

func wantError(t *testing.T, err error, code herb.Code, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if herb.CodeOf(err) != code || !strings.Contains(err.Error(), part) {
			t.Errorf("got %v; want code %q and %q", err, code, part)
		}
	}
}

// TestUpgrade_inUse upgrades a database that a program with the previous schema uses: a change that
// this program cannot use is refused until it has ended, and a compatible one takes place beside
// it.
func TestUpgrade_inUse(t *testing.T) {
	t.Parallel()
	current, err := currentSchema()
	if err != nil {
		t.Fatal(err)
	}
	n := current.Latest()
	path := filepath.Join(t.TempDir(), "herbarium.db")
	old, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	breaking := nextSchema(t, n+1)
	_, err = openSchema(t, path, breaking, Options{})
	wantError(t, err, herb.CodeRejected, "from schema version 7 to 8", "with schema version 7 uses "+path, "stop them")
	if _, err := old.Keys(t.Context()); err != nil {
		t.Errorf("the old program afterwards: %v", err)
	}
	var upgrades []int
	upgraded := Options{Upgraded: func(from, to int) { upgrades = append(upgrades, from, to) }}
	compatible, err := openSchema(t, path, nextSchema(t, n), upgraded)
	if err != nil {
		t.Fatal(err)
	}
	must.CloseAfter(t, compatible)
	if len(upgrades) != 2 || upgrades[0] != n || upgrades[1] != n+1 {
		t.Errorf("reported upgrades %v", upgrades)
	}
	if err := old.AddKey(t.Context(), herb.Key{ID: "ann"}); err != nil {
		t.Errorf("the old program beside the new one: %v", err)
	}
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	old, err = Open(t.Context(), path, Options{KeepSchema: true})
	if err != nil {
		t.Fatalf("the old program opens a compatible schema: %v", err)
	}
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestUpgrade_incompatible upgrades a database that no other program uses. Older programs are
// rejected afterwards.
func TestUpgrade_incompatible(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "herbarium.db")
	old, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := openSchema(t, path, nextSchema(t, 8), Options{})
	if err != nil {
		t.Fatal(err)
	}
	must.CloseAfter(t, s)
	_, err = Open(t.Context(), path, Options{})
	wantError(t, err, herb.CodeInvalid, "schema version 8", "up to 7", "use a newer herbarium")
}

// TestKeepSchema opens databases that must not be changed.
func TestKeepSchema(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "herbarium.db")
	keep := Options{KeepSchema: true}
	if _, err := Open(t.Context(), path, keep); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no database: got %v", err)
	}
	old, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	must.CloseAfter(t, old)
	_, err = openSchema(t, path, nextSchema(t, 1), keep)
	wantError(t, err, herb.CodeInvalid, "schema version 7 and this program uses version 8", "'herbarium serve'")
	if have, err := readSchema(t.Context(), old.reader); err != nil || have.Version != 7 {
		t.Errorf("afterwards: %+v, %v", have, err)
	}
}

// TestAddLabel_olderProgram adds a label while a program uses the database that would delete the
// version, and afterwards.
func TestAddLabel_olderProgram(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "herbarium.db")
	s, err := Open(t.Context(), path, Options{})
	must.NoError(t, err)
	must.CloseAfter(t, s)
	current, err := currentSchema()
	must.NoError(t, err)
	old, err := openSchema(t, path, current[:store.LabelsSchema-1], Options{KeepSchema: true})
	must.NoError(t, err)
	ref := herb.Ref{Namespace: "shop", Name: "prices"}
	wantError(t, s.AddLabel(t.Context(), ref, "1", "a"), herb.CodeRejected, "a program of an earlier release")
	must.NoError(t, old.Close())
	wantError(t, s.AddLabel(t.Context(), ref, "1", "a"), herb.CodeNotFound, "shop/prices")
}
