package cli_test

import (
	"database/sql"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"herbarium/internal/must"
)

// TestSchema_kept runs commands on a database whose schema is not that of the program: they fail,
// say what to do and change nothing.
func TestSchema_kept(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		version int
		message string
	}{
		"older": {0, "'herbarium serve' and 'herbarium publish'"},
		"newer": {99, "use a newer herbarium, or carry the data over: run 'herbarium backup' of the newer one, and " +
			"'herbarium restore' of this one"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnvironment(t)
			e.must(t, "publish", garden+"/catalog.csv")
			db, err := sql.Open("sqlite", filepath.Join(e["HERBARIUM_DATA"], "herbarium.db"))
			if err != nil {
				t.Fatal(err)
			}
			must.CloseAfter(t, db)
			if _, err := db.ExecContext(t.Context(), "UPDATE schema_version SET version = ?, needs = ?", tt.version,
				tt.version); err != nil {
				t.Fatal(err)
			}
			for _, command := range []string{"keys list", "datasets list", "audit",
				"backup " + filepath.Join(t.TempDir(), "b.tar"),
				"publish --check " + garden + "/catalog.csv", "export garden/catalog",
				"explain garden/catalog search=rose",
				"serve --addr 127.0.0.1:0", "upgrade", "publish " + garden + "/catalog.csv"} {
				if changes := !strings.Contains(command, "--check") &&
					slices.Contains([]string{"serve", "upgrade", "publish"}, strings.Fields(command)[0]); changes &&
					name == "older" {
					continue // these upgrade it
				}
				e.fails(t, 1, tt.message, strings.Fields(command)...)
			}
			var version int
			if err := db.QueryRowContext(t.Context(), "SELECT version FROM schema_version").Scan(
				&version); err != nil || version != tt.version {
				t.Errorf("afterwards: version %d, %v", version, err)
			}
		})
	}
}

// TestSchema_compatible uses a database that a later program has upgraded and that older programs
// can use: nothing is changed.
func TestSchema_compatible(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	e.must(t, "publish", garden+"/catalog.csv")
	db, err := sql.Open("sqlite", filepath.Join(e["HERBARIUM_DATA"], "herbarium.db"))
	must.NoError(t, err)
	must.CloseAfter(t, db)
	_, err = db.ExecContext(t.Context(), "UPDATE schema_version SET version = 99")
	must.NoError(t, err)
	if status, _ := e.serve(t).get(t, "/api/v1/garden/catalog"); status != 200 {
		t.Errorf("status %d", status)
	}
	e.must(t, "upgrade")
	e.must(t, "backup", filepath.Join(t.TempDir(), "b.tar"))
	var version int
	if err := db.QueryRowContext(t.Context(), "SELECT version FROM schema_version").Scan(&version); err != nil ||
		version != 99 {
		t.Errorf("afterwards: version %d, %v", version, err)
	}
}

// TestUnknownVariable runs commands with a misspelled environment variable.
func TestUnknownVariable(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	e["HERBARIUM_ADRR"] = ":80"
	for _, command := range []string{"config", "serve", "keys list", "publish " + garden} {
		e.fails(t, 2, "unknown environment variable HERBARIUM_ADRR; did you mean HERBARIUM_ADDR?",
			strings.Fields(command)...)
	}
}
