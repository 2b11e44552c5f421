package postgres_test

import (
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/store/postgres"
)

// TestDiskFull checks that a full disk of the server is reported as such by writes and by Ping, and that both recover.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	address := cluster.Database(t)
	s := open(t, address, postgres.Options{})
	check(t, s.Ping(t.Context()))
	run(t, address, `CREATE FUNCTION disk_full() RETURNS trigger LANGUAGE plpgsql AS
		$$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$`)
	for _, table := range []string{"plants", "write_probe"} {
		run(t, address, "CREATE TRIGGER full_disk BEFORE INSERT ON "+table+" EXECUTE FUNCTION disk_full()")
	}
	_, err := s.CreatePlants(t.Context(), creations(1))
	for what, err := range map[string]error{"creating": err, "ping": s.Ping(t.Context()), "ping again": s.Ping(t.Context())} {
		if herb.CodeOf(err) != herb.CodeUnavailable || herb.MessageOf(err) != "the database cannot be written: disk full" {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, table := range []string{"plants", "write_probe"} {
		run(t, address, "DROP TRIGGER full_disk ON "+table)
	}
	check(t, s.Ping(t.Context()))
	if _, err := s.CreatePlants(t.Context(), creations(1)); err != nil {
		t.Error(err)
	}
}
