package postgres_test

import (
	"strings"
	"testing"
	"time"

	"herbarium/internal/store/postgres"
)

func TestInspect(t *testing.T) {
	t.Parallel()
	address := cluster.Database(t)
	inspect := func() postgres.Inspection {
		t.Helper()
		i, err := postgres.Inspect(t.Context(), address)
		check(t, err)
		return i
	}
	if i := inspect(); i.Version != 0 || i.Latest == 0 || i.Server == "" || i.ReadOnly || i.ClockOffset.Abs() > time.Second+i.Accuracy {
		t.Errorf("a new database: %+v", i)
	}
	if i := inspect(); i.Version != 0 {
		t.Errorf("inspecting the database has migrated it: %+v", i)
	}
	open(t, address, postgres.Options{})
	if i := inspect(); i.Version != i.Latest {
		t.Errorf("a migrated database: %+v", i)
	}
	run(t, address, "UPDATE migrations_lock SET needs = 999")
	if _, err := postgres.Inspect(t.Context(), address); err == nil || !strings.Contains(err.Error(), "use a newer herbarium") {
		t.Errorf("a newer database: got %v", err)
	}
	if i, err := postgres.Inspect(t.Context(), address+"&options=-c%20default_transaction_read_only%3Don"); err == nil || !i.ReadOnly {
		t.Errorf("a read-only database: %+v, error %v", i, err)
	}
	if _, err := postgres.Inspect(t.Context(), strings.Replace(address, "/", "/no_such_", 1)); err == nil {
		t.Error("no error for an address that does not exist")
	}
}
