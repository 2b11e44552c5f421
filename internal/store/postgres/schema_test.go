package postgres_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/store"
	"herbarium/internal/store/postgres"
)

// nextSchema returns the current schema with another migration.
func nextSchema(t *testing.T, compatible int) store.Schema {
	t.Helper()
	schema, err := postgres.CurrentSchema()
	must.NoError(t, err)
	return append(schema[:len(schema):len(schema)], store.Migration{
		Name: "next.sql", SQL: "ALTER TABLE keys ADD COLUMN note text", Compatible: compatible,
	})
}

// openSchema opens a database as a program with another schema and migrates it.
func openSchema(t *testing.T, address string, schema store.Schema, o postgres.Options) (*postgres.Store, error) {
	t.Helper()
	s, err := postgres.OpenWith(t.Context(), address, schema, o)
	must.NoError(t, err)
	must.CloseAfter(t, s)
	return s, s.Migrate(t.Context())
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
	address := cluster.Database(t)
	old, err := postgres.Open(t.Context(), address, postgres.Options{})
	must.NoError(t, err)
	must.NoError(t, old.Migrate(t.Context()))
	_, err = openSchema(t, address, nextSchema(t, 8), postgres.Options{})
	wantError(t, err, herb.CodeRejected, "from schema version 7 to 8", "process ", "with schema version 7", "stop them")
	_, err = old.Keys(t.Context())
	must.NoError(t, err)

	var upgrades []int
	_, err = openSchema(t, address, nextSchema(t, 1),
		postgres.Options{Upgraded: func(from, to int) { upgrades = append(upgrades, from, to) }})
	must.NoError(t, err)
	if len(upgrades) != 2 || upgrades[0] != 7 || upgrades[1] != 8 {
		t.Errorf("reported upgrades %v", upgrades)
	}
	must.NoError(t, old.AddKey(t.Context(), herb.Key{ID: "ann"}))
	must.NoError(t, old.Close())
	open(t, address, postgres.Options{KeepSchema: true}) // an old program opens a compatible schema
}

// TestUpgrade_ended upgrades a database whose older program has ended, or was killed and has not
// renewed its registration.
func TestUpgrade_ended(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(t *testing.T, address string, old *postgres.Store){
		"closed": func(t *testing.T, _ string, old *postgres.Store) { must.NoError(t, old.Close()) },
		"killed": func(t *testing.T, address string, old *postgres.Store) {
			run(t, address, "UPDATE programs SET seen = seen - interval '31 seconds'")
			must.CloseAfter(t, old)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := cluster.Database(t)
			old, err := postgres.Open(t.Context(), address, postgres.Options{})
			must.NoError(t, err)
			must.NoError(t, old.Migrate(t.Context()))
			end(t, address, old)
			_, err = openSchema(t, address, nextSchema(t, 8), postgres.Options{})
			must.NoError(t, err)
			late, err := postgres.Open(t.Context(), address, postgres.Options{})
			must.NoError(t, err)
			must.CloseAfter(t, late)
			wantError(t, late.Migrate(t.Context()), herb.CodeInvalid, "schema version 8", "up to 7",
				"use a newer herbarium")
		})
	}
}

// TestUpgrade_noticed migrates the schema under a program that had lost the database: it stops
// using the tables.
func TestUpgrade_noticed(t *testing.T) {
	t.Parallel()
	address := cluster.Database(t)
	schema, err := postgres.CurrentSchema()
	must.NoError(t, err)
	old, err := openSchema(t, address, schema, postgres.Options{}) // renews its registration in short intervals
	must.NoError(t, err)
	run(t, address, "UPDATE schema_version SET version = 8, needs = 8")
	for err == nil {
		_, err = old.Keys(t.Context())
	}
	wantError(t, err, herb.CodeUnavailable, "needs a program that knows version 8")
}

// TestKeepSchema opens databases that must not be changed.
func TestKeepSchema(t *testing.T) {
	t.Parallel()
	address := cluster.Database(t)
	keep := postgres.Options{KeepSchema: true}
	_, err := openSchema(t, address, nextSchema(t, 1), keep)
	wantError(t, err, herb.CodeInvalid, "the database is empty; 'herbarium serve'")
	open(t, address, postgres.Options{})
	_, err = openSchema(t, address, nextSchema(t, 1), keep)
	wantError(t, err, herb.CodeInvalid, "schema version 7 and this program uses version 8", "'herbarium serve'")
	if i, err := postgres.Inspect(t.Context(), address); err != nil || i.Version != 7 {
		t.Errorf("afterwards: %+v, %v", i, err)
	}
}

// TestOpen_otherTables opens a database that has tables of the same names.
func TestOpen_otherTables(t *testing.T) {
	t.Parallel()
	address := cluster.Database(t)
	run(t, address, "CREATE TABLE plants (id integer)")
	_, err := openSchema(t, address, nextSchema(t, 1), postgres.Options{})
	wantError(t, err, herb.CodeInvalid, "or of another program", "herbarium backup", "empty data folder or database")
}

var update = flag.Bool("update", false, "write schema.txt")

// TestObjects compares schema.txt with a new database.
func TestObjects(t *testing.T) {
	t.Parallel()
	address := cluster.Database(t)
	schema, err := postgres.CurrentSchema()
	must.NoError(t, err)
	must.NoError(t, postgres.MigrateTo(t.Context(), address, schema.Latest()-1)) // whose objects are not compared
	run(t, address, schema[schema.Latest()-1].SQL)
	rows, err := connect(t, address).Query(t.Context(), postgres.SelectObjects)
	must.NoError(t, err)
	objects, err := pgx.CollectRows(rows, pgx.RowTo[string])
	must.NoError(t, err)
	got := strings.Join(objects, "\n") + "\n"
	if *update {
		must.NoError(t, os.WriteFile("schema.txt", []byte(got), 0o644))
	}
	want, err := os.ReadFile("schema.txt")
	if err != nil || got != string(want) {
		t.Errorf("a new database has other objects than schema.txt; run 'go test ./internal/store/postgres -run "+
			"TestObjects -update': %v\n%s", err, got)
	}
}

// TestOpen_missingTable opens a database that lacks a table of its schema version.
func TestOpen_missingTable(t *testing.T) {
	t.Parallel()
	address := cluster.Database(t)
	open(t, address, postgres.Options{})
	run(t, address, "DROP TABLE publishes")
	s, err := postgres.Open(t.Context(), address, postgres.Options{})
	must.NoError(t, err)
	must.CloseAfter(t, s)
	if err := s.Ping(t.Context()); err == nil {
		t.Error("a node is ready without a table")
	}
	wantError(t, s.Migrate(t.Context()), herb.CodeInvalid, "missing: column publishes.content bytea")
	_, err = postgres.Inspect(t.Context(), address)
	wantError(t, err, herb.CodeInvalid, "missing: column publishes.content bytea")
}

// TestOpen_schemas opens databases of 0.9.0, whose schema version 1 has no publishes, and of later
// programs, whose schema version 1 has them. Both get the same schema.
func TestOpen_schemas(t *testing.T) {
	t.Parallel()
	schema, err := postgres.CurrentSchema()
	must.NoError(t, err)
	for name, statements := range map[string]string{"0.9.0": "SELECT 1", "later": schema[1].SQL} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := cluster.Database(t)
			must.NoError(t, postgres.MigrateTo(t.Context(), address, 1))
			run(t, address, statements)
			must.NoError(t, open(t, address, postgres.Options{}).Ping(t.Context()))
			if i, err := postgres.Inspect(t.Context(), address); err != nil || i.Version != schema.Latest() {
				t.Errorf("%+v, %v", i, err)
			}
		})
	}
}
