package store

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"herbarium/internal/herb"
)

// Migration is one change of a database schema.
type Migration struct {
	Name string // file name, for errors
	SQL  string
	// Compatible is the oldest schema version whose programs can use the database after this
	// change.
	Compatible int
}

// Schema is the sequence of migrations that a program knows. The n-th one upgrades a database to
// schema version n. A released migration is never changed.
type Schema []Migration

// LoadSchema reads migrations from the SQL files of a folder, in name order. The first line of each
// file declares which older programs keep working after it: "-- compatible: N" means those that
// know schema version N.
func LoadSchema(folder fs.FS) (Schema, error) {
	names, err := fs.Glob(folder, "*.sql") // sorted
	if err != nil {
		return nil, err
	}
	schema := make(Schema, 0, len(names))
	for i, name := range names {
		content, err := fs.ReadFile(folder, name)
		if err != nil {
			return nil, err
		}
		m := Migration{Name: name, SQL: string(content)}
		if _, err := fmt.Sscanf(m.SQL, "-- compatible: %d\n", &m.Compatible); err != nil || m.Compatible < 1 ||
			m.Compatible > i+1 {
			return nil, fmt.Errorf("%s must begin with the line \"-- compatible: N\", where N is a schema version "+
				"from 1 to %d", name, i+1)
		}
		schema = append(schema, m)
	}
	return schema, nil
}

// SchemaState is the state of the schema of a database.
type SchemaState struct {
	Version int // number of applied migrations; 0 for a new database
	Needs   int // lowest schema version that a program must know to use the database
	// Unversioned reports that the database has tables with names of this program's, but not the
	// one that records the version.
	Unversioned bool
}

// unversionedTables are tables that every database of Herbarium has, also those from before 0.9.0.
var unversionedTables = []string{"plants", "keys", "versions"}

// SelectUnversioned counts the tables that only a database of Herbarium has, in the names of tables
// that a subquery returns as the column name.
func SelectUnversioned(names string) string {
	return "SELECT count(*) FROM (" + names + ") AS tables WHERE name IN ('" +
		strings.Join(unversionedTables, "', '") + "')"
}

// Latest returns the schema version that a program with this schema uses.
func (s Schema) Latest() int { return len(s) }

// upgraded returns the state of a database after all migrations.
func (s Schema) upgraded(have SchemaState) SchemaState {
	state := SchemaState{Version: len(s), Needs: have.Needs}
	for _, m := range s {
		state.Needs = max(state.Needs, m.Compatible)
	}
	return state
}

// Needs returns the lowest schema version that a program must know to use a database after all
// migrations.
func (s Schema) Needs() int { return s.upgraded(SchemaState{}).Needs }

// Check reports whether migrations must be applied before a program with this schema can use a
// database. With keep, it fails instead. It also fails if the database needs a newer program.
// Errors say what to do.
func (s Schema) Check(have SchemaState, keep bool) (missing bool, err error) {
	switch {
	case have.Unversioned:
		return false, herb.Invalidf(
			"the database has tables of a herbarium before version 0.9.0, or of another program; " +
				"to carry over the data, run 'herbarium backup' of the program that wrote it, and 'herbarium " +
				"restore' of " +
				"this one into an " +
				"empty data folder or database")
	case have.Needs > len(s):
		return false, herb.Invalidf(
			"the database has schema version %d, which needs a program that knows version %d, and this "+
				"program knows versions up to %d; use a newer herbarium, or carry the data over: run 'herbarium "+
				"backup' "+
				"of the newer one, and "+
				"'herbarium restore' of this one into an empty data folder or database",
			have.Version, have.Needs, len(s))
	case have.Version >= len(s):
		return false, nil
	case !keep:
		return true, nil
	case have.Version == 0:
		return false, herb.Invalidf(
			"the database is empty; 'herbarium serve' and 'herbarium publish' create its tables")
	}
	return false, herb.Invalidf(
		"the database has schema version %d and this program uses version %d; back it up with the older "+
			"program, then run 'herbarium upgrade' or start 'herbarium serve' of this one", have.Version, len(s))
}

// CheckObjects fails if the database lacks a table, column, index or trigger of the schema. query
// describes those that it has, want those that it must have, one per line. Additional ones are not
// an error.
func CheckObjects(ctx context.Context, tx Tx, query, want string) error {
	have, err := collect(ctx, tx, scanValue[string], query)
	if err != nil {
		return err
	}
	missing := slices.DeleteFunc(strings.Split(strings.TrimSpace(want), "\n"),
		func(object string) bool { return slices.Contains(have, object) })
	if len(missing) == 0 {
		return nil
	}
	const shown = 5
	more := ""
	if len(missing) > shown {
		missing, more = missing[:shown], fmt.Sprintf(" and %d more", len(missing)-shown)
	}
	return herb.Invalidf("the tables of the database are not those of its schema version; missing: %s%s; restore a "+
		"backup, "+
		"or undo what was changed in the database", strings.Join(missing, ", "), more)
}

// InUse returns the error for a migration that must wait, because programs that are too old for its
// result use the database. users describes them.
func (s Schema) InUse(have SchemaState, users string) error {
	return herb.Errorf(herb.CodeRejected,
		"upgrading the database from schema version %d to %d would break programs that use it: %s; "+
			"stop them and run this command again", have.Version, len(s), users)
}

// The table that records the state of the schema, in SQL that all databases accept. It has at most
// one row.
const (
	createSchemaTable = "CREATE TABLE IF NOT EXISTS schema_version (version bigint NOT NULL, needs bigint NOT NULL)"
	selectSchema      = "SELECT coalesce(max(version), 0), coalesce(max(needs), 0) FROM schema_version"
)

// ReadSchema returns the state of a database whose table schema_version exists.
func ReadSchema(ctx context.Context, tx Tx) (have SchemaState, err error) {
	err = tx.QueryRowContext(ctx, selectSchema).Scan(&have.Version, &have.Needs)
	return have, err
}

// Apply applies the missing migrations, in a transaction that no other migration overlaps.
func (s Schema) Apply(ctx context.Context, tx Tx, have SchemaState) error {
	to := s.upgraded(have)
	for _, m := range s[have.Version:] {
		if err := exec(ctx, tx, m.SQL); err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
	}
	for _, statement := range []string{
		createSchemaTable, "DELETE FROM schema_version",
		fmt.Sprintf("INSERT INTO schema_version (version, needs) VALUES (%d, %d)", to.Version, to.Needs),
	} {
		if err := exec(ctx, tx, statement); err != nil {
			return err
		}
	}
	return nil
}
