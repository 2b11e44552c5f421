package postgres_test

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/store"
	"herbarium/internal/store/postgres"
)

// TestOpen_concurrent starts many nodes on a new database concurrently: one of them creates the
// tables, and all can use them.
func TestOpen_concurrent(t *testing.T) {
	t.Parallel()
	address := cluster.Database(t)
	var wg sync.WaitGroup
	for id := range int64(8) {
		wg.Go(func() {
			s, err := postgres.Open(t.Context(), address, postgres.Options{})
			if err != nil {
				t.Error(err)
				return
			}
			c := store.Creation{Plant: herb.NewPlant{ID: id, Plant: herb.Plant{Name: "Fern"}}}
			if _, err := s.CreatePlants(t.Context(), []store.Creation{c}); err != nil {
				t.Error(err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	wantTotal(t, open(t, address, postgres.Options{}), 8)
}

// TestOpen_waits checks that a node waits while another one migrates the schema, up to a limit.
func TestOpen_waits(t *testing.T) {
	t.Parallel()
	address := cluster.Database(t)
	other := connect(t, address)
	for _, statement := range []string{"BEGIN", postgres.TakeLock} {
		if _, err := other.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	late := openLater(t, address, postgres.Options{MigrationTimeout: 100 * time.Millisecond})
	if err := late.Migrate(t.Context()); herb.CodeOf(err) != herb.CodeUnavailable {
		t.Errorf("got %v", err)
	}
	if _, err := other.Exec(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	wantTotal(t, open(t, address, postgres.Options{}), 0)
}

// TestOpen_unavailable opens a database that does not exist yet. Calls fail until it exists; then
// the same store works.
func TestOpen_unavailable(t *testing.T) {
	t.Parallel()
	u, err := url.Parse(cluster.Database(t))
	must.NoError(t, err)
	query := u.Query()
	folder, later := query.Get("host"), filepath.Join(t.TempDir(), "server")
	query.Set("host", later)
	u.RawQuery = query.Encode()
	s := openLater(t, u.String(), postgres.Options{RetryBudget: time.Millisecond})
	for range 2 {
		if outcomes, err := s.CreatePlants(t.Context(), creations(1)); herb.CodeOf(err) != herb.CodeUnavailable ||
			outcomes != nil {
			t.Errorf("creating: got %v, %v", outcomes, err)
		}
		if _, err := s.Keys(t.Context()); herb.CodeOf(err) != herb.CodeUnavailable {
			t.Errorf("reading keys: got %v", err)
		}
	}
	must.NoError(t, os.Symlink(folder, later))
	must.NoError(t, created(s.CreatePlants(t.Context(), creations(1))))
	wantTotal(t, s, 1)
}

// TestPool checks that concurrent calls do not open more connections than allowed, and that reads
// leave one of them to writes.
func TestPool(t *testing.T) {
	t.Parallel()
	address := cluster.Database(t)
	const most, calls = 3, 20
	s := open(t, fmt.Sprintf("%s&pool_max_conns=%d", address, most), postgres.Options{})
	other, watcher := connect(t, address), connect(t, address)
	for _, statement := range []string{"BEGIN", "LOCK TABLE totals IN ACCESS EXCLUSIVE MODE"} {
		_, err := other.Exec(t.Context(), statement)
		must.NoError(t, err)
	}
	var begun, ended sync.WaitGroup
	for range calls {
		begun.Add(1)
		ended.Go(func() {
			begun.Done()
			if _, err := s.ReadPlants(t.Context(), 0, 1); err != nil {
				t.Error(err)
			}
		})
	}
	begun.Wait()
	ended.Go(func() {
		if err := created(s.CreatePlants(t.Context(), creations(1))); err != nil &&
			herb.CodeOf(err) != herb.CodeInvalid {
			t.Error(err)
		}
	})
	for waiting := 0; waiting < most; {
		must.NoError(t, watcher.QueryRow(t.Context(),
			"SELECT count(*) FILTER (WHERE wait_event_type = 'Lock') FROM pg_stat_activity "+
				"WHERE application_name = 'herbarium' AND datname = current_database()").Scan(&waiting))
		if waiting > most {
			t.Fatalf("%d concurrent connections; want at most %d", waiting, most)
		}
	}
	_, err := other.Exec(t.Context(), "ROLLBACK")
	must.NoError(t, err)
	ended.Wait()
	if n := s.Connections(); n > most {
		t.Errorf("%d connections; want at most %d", n, most)
	}
}

// TestOpen_newer opens databases that a newer program has migrated: with an additive change of the
// schema and with an incompatible one.
func TestOpen_newer(t *testing.T) {
	t.Parallel()
	address := cluster.Database(t)
	open(t, address, postgres.Options{})
	run(t, address, "UPDATE schema_version SET version = 99")
	run(t, address, "ALTER TABLE plants ADD COLUMN height integer")
	s := open(t, address, postgres.Options{})
	if _, err := s.CreatePlants(t.Context(), creations(1)); err != nil {
		t.Error(err)
	}
	run(t, address, "UPDATE schema_version SET needs = 98")
	old := openLater(t, address, postgres.Options{})
	for range 2 { // it is rejected every time
		for call, tt := range map[string]struct {
			err  error
			code herb.Code
		}{
			"Migrate": {old.Migrate(t.Context()), herb.CodeInvalid},
			"Ping":    {old.Ping(t.Context()), herb.CodeUnavailable},
		} {
			m := herb.MessageOf(tt.err)
			if herb.CodeOf(tt.err) != tt.code || !strings.Contains(m, "version 98") ||
				!strings.Contains(m, "versions up to") {
				t.Errorf("%s: got %v; want the code %q and both versions named", call, tt.err, tt.code)
			}
		}
	}
}

func TestOpen_rejected(t *testing.T) {
	t.Parallel()
	for name, address := range map[string]string{
		"not an address": "postgres://ann:secret@host:port/x",
		"less than none": "postgres:///x?host=/nowhere&pool_max_conns=-1",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := postgres.Open(t.Context(), address, postgres.Options{})
			if err == nil || herb.CodeOf(err) != herb.CodeInvalid || strings.Contains(err.Error(), "secret") {
				t.Errorf("got %v; want an error of code %q", err, herb.CodeInvalid)
			}
		})
	}
}

// TestNUL checks that a character that PostgreSQL cannot store does not fail.
func TestNUL(t *testing.T) {
	t.Parallel()
	s := open(t, cluster.Database(t), postgres.Options{})
	d := herb.Dataset{Ref: herb.Ref{Namespace: "a", Name: "b"}, Version: "v", Title: "a\x00b", Access: herb.AccessOpen,
		Fields: []herb.Field{{Name: "x", Title: "a\x00b"}}, Published: time.Unix(0, 0)}
	if _, err := s.AddVersion(t.Context(), d, "", herb.Keep{Versions: 5}, time.Now()); err != nil {
		t.Fatal(err)
	}
	got, err := s.Version(t.Context(), d.Ref, "")
	if err != nil || got.Title != "a\uFFFDb" || got.Fields[0].Title != "a\x00b" {
		t.Errorf("got %+v, %v", got, err)
	}
}

// TestDiskFull checks that a full disk of the server is reported as such by writes and by Ping, and
// that both recover.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	address := cluster.Database(t)
	s := open(t, address, postgres.Options{})
	must.NoError(t, s.Ping(t.Context()))
	run(t, address, `CREATE FUNCTION disk_full() RETURNS trigger LANGUAGE plpgsql AS
		$$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$`)
	for _, table := range []string{"plants", "write_probe"} {
		run(t, address, "CREATE TRIGGER full_disk BEFORE INSERT ON "+table+" EXECUTE FUNCTION disk_full()")
	}
	_, err := s.CreatePlants(t.Context(), creations(1))
	for what, err := range map[string]error{"creating": err, "ping": s.Ping(t.Context()),
		"ping again": s.Ping(t.Context())} {
		if herb.CodeOf(err) != herb.CodeUnavailable ||
			herb.MessageOf(err) != "the database cannot be written: disk full" {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, table := range []string{"plants", "write_probe"} {
		run(t, address, "DROP TRIGGER full_disk ON "+table)
	}
	must.NoError(t, s.Ping(t.Context()))
	if _, err := s.CreatePlants(t.Context(), creations(1)); err != nil {
		t.Error(err)
	}
}

func TestInspect(t *testing.T) {
	t.Parallel()
	address := cluster.Database(t)
	inspect := func() postgres.Inspection {
		t.Helper()
		i, err := postgres.Inspect(t.Context(), address)
		must.NoError(t, err)
		return i
	}
	if i := inspect(); i.Version != 0 || i.Latest == 0 || i.Server == "" || i.ReadOnly ||
		i.ClockOffset.Abs() > time.Second+i.Accuracy {
		t.Errorf("a new database: %+v", i)
	}
	if i := inspect(); i.Version != 0 {
		t.Errorf("inspecting the database has migrated it: %+v", i)
	}
	open(t, address, postgres.Options{})
	if i := inspect(); i.Version != i.Latest {
		t.Errorf("a migrated database: %+v", i)
	}
	run(t, address, "UPDATE schema_version SET needs = 999")
	if _, err := postgres.Inspect(t.Context(), address); err == nil ||
		!strings.Contains(err.Error(), "use a newer herbarium") {
		t.Errorf("a newer database: got %v", err)
	}
	if i, err := postgres.Inspect(t.Context(),
		address+"&options=-c%20default_transaction_read_only%3Don"); err == nil || !i.ReadOnly {
		t.Errorf("a read-only database: %+v, error %v", i, err)
	}
	if _, err := postgres.Inspect(t.Context(), strings.Replace(address, "/", "/no_such_", 1)); err == nil {
		t.Error("no error for an address that does not exist")
	}
}

// list returns the plants as "id name tag", in creation order.
func list(t *testing.T, s *postgres.Store) (all []string) {
	t.Helper()
	page, err := s.ReadPlants(t.Context(), 0, 100_000)
	if err != nil || len(page.Plants) != page.Total {
		t.Errorf("read %d of %d plants, %v", len(page.Plants), page.Total, err)
	}
	for _, p := range page.Plants {
		tag, _ := store.TagColumns(p.Plant)
		all = append(all, fmt.Sprint(p.ID, " ", p.Name, " ", tag))
	}
	return all
}
