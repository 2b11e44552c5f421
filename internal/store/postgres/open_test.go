package postgres_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/store"
	"herbarium/internal/store/postgres"
)

// TestOpen_together has many nodes start on a new database at once: one of them makes the tables, all can use them.
func TestOpen_together(t *testing.T) {
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

// TestOpen_waits has a node wait for another one that is bringing the tables up to date, up to a limit.
func TestOpen_waits(t *testing.T) {
	t.Parallel()
	address := cluster.Database(t)
	run(t, address, "CREATE TABLE migrations_lock (one integer PRIMARY KEY, needs bigint NOT NULL)")
	run(t, address, "INSERT INTO migrations_lock VALUES (1, 0)")
	other := connect(t, address)
	for _, statement := range []string{"BEGIN", "SELECT 1 FROM migrations_lock FOR UPDATE"} {
		if _, err := other.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	_, err := postgres.Open(t.Context(), address, postgres.Options{MigrationTimeout: 100 * time.Millisecond})
	if herb.CodeOf(err) != herb.CodeUnavailable {
		t.Errorf("got %v", err)
	}
	if _, err := other.Exec(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	wantTotal(t, open(t, address, postgres.Options{}), 0)
}

// TestOpen_newer opens databases that a newer program has brought up to date: one to which it only added, and one from
// which it took something away.
func TestOpen_newer(t *testing.T) {
	t.Parallel()
	address := cluster.Database(t)
	open(t, address, postgres.Options{})
	run(t, address, "INSERT INTO migrations (version_id, is_applied) VALUES (99, true)")
	run(t, address, "ALTER TABLE plants ADD COLUMN height integer")
	s := open(t, address, postgres.Options{})
	if _, err := s.CreatePlants(t.Context(), creations(1)); err != nil {
		t.Error(err)
	}
	run(t, address, "UPDATE migrations_lock SET needs = 98")
	_, err := postgres.Open(t.Context(), address, postgres.Options{})
	if m := herb.MessageOf(err); herb.CodeOf(err) != herb.CodeInvalid || !strings.Contains(m, "version 98") || !strings.Contains(m, "up to 2") {
		t.Errorf("got %v; want both versions named", err)
	}
}

func TestOpen_refused(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		address string
		options postgres.Options
		code    herb.Code
	}{
		"nobody there":     {"postgres:///x?host=/nowhere", postgres.Options{Patience: time.Millisecond}, herb.CodeUnavailable},
		"not an address":   {"postgres://ann:secret@host:port/x", postgres.Options{}, herb.CodeInvalid},
		"less than none":   {"postgres:///x?host=/nowhere", postgres.Options{MaxConns: -1}, herb.CodeInvalid},
		"no such database": {cluster.Database(t) + "&dbname=none", postgres.Options{}, herb.CodeInternal},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := postgres.Open(t.Context(), tt.address, tt.options)
			if err == nil || herb.CodeOf(err) != tt.code || strings.Contains(err.Error(), "secret") {
				t.Errorf("got %v; want an error of code %q", err, tt.code)
			}
		})
	}
}

// TestNUL holds that a character that PostgreSQL cannot keep neither fails nor is found.
func TestNUL(t *testing.T) {
	t.Parallel()
	s := open(t, cluster.Database(t), postgres.Options{})
	if _, err := s.CreatePlants(t.Context(), creations(1)); err != nil {
		t.Fatal(err)
	}
	for raw, want := range map[string]int{
		"name=Fern%00": 0, "name[ne]=Fern%00": 1, "name[prefix]=%00": 0, "name[gt]=%00": 1, "search=fern%00": 1, "search=%00": 0,
	} {
		r, err := query.Parse(raw, herb.PlantFields())
		if err != nil {
			t.Fatal(err)
		}
		if page, err := s.ListPlants(t.Context(), r); err != nil || page.Total != want {
			t.Errorf("%s: %d plants, %v; want %d", raw, page.Total, err, want)
		}
	}
	d := herb.Dataset{Ref: herb.Ref{Namespace: "a", Name: "b"}, Version: "v", Title: "a\x00b", Access: herb.AccessOpen,
		Fields: []herb.Field{{Name: "x", Title: "a\x00b"}}, Published: time.Unix(0, 0)}
	if err := s.AddVersion(t.Context(), d, ""); err != nil {
		t.Fatal(err)
	}
	got, err := s.Version(t.Context(), d.Ref, "")
	if err != nil || got.Title != "a\uFFFDb" || got.Fields[0].Title != "a\x00b" {
		t.Errorf("got %+v, %v", got, err)
	}
}

// TestStream_meanwhile reads a stream while plants are created and listed, with one connection for all: the stream holds
// none between two chunks, and has the plants that there were when it began.
func TestStream_meanwhile(t *testing.T) {
	t.Parallel()
	s := open(t, cluster.Database(t), postgres.Options{MaxConns: 1})
	const n = 600
	rose := func(id int) store.Creation {
		return store.Creation{Plant: herb.NewPlant{ID: int64(id), Plant: herb.Plant{Name: "rose"}}}
	}
	all := make([]store.Creation, n)
	for i := range all {
		all[i] = rose(i)
	}
	if _, err := s.CreatePlants(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	for i, raw := range []string{"", "sort=id&order=desc", "search=rose", "name=rose&search=rose&sort=name"} {
		r, err := query.Parse(raw, herb.PlantFields())
		if err != nil {
			t.Fatal(err)
		}
		stream, err := s.Plants().Stream(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		read := 0
		for _, err := range stream.Records {
			if err != nil {
				t.Fatal(err)
			}
			if read++; read == 10 {
				if _, err := s.CreatePlants(t.Context(), []store.Creation{rose(n + i)}); err != nil {
					t.Fatal(err)
				}
			}
		}
		if read != n+i || stream.Total != n+i {
			t.Errorf("%q: %d plants of %d, want %d", raw, read, stream.Total, n+i)
		}
	}
}

func TestPlants_Describe(t *testing.T) {
	t.Parallel()
	s := open(t, cluster.Database(t), postgres.Options{})
	if _, err := s.CreatePlants(t.Context(), creations(1)); err != nil {
		t.Fatal(err)
	}
	d, err := s.Plants().Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	version, err := s.PlantsVersion(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if d.Ref != herb.PlantsRef || d.Records != 1 || d.Version != version || len(d.Fields) != len(herb.PlantFields()) {
		t.Errorf("got %+v", d)
	}
}
