package store_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/store"
)

// creation returns a plant to be created; the tag is optional.
func creation(id int64, name string, tag ...string) store.Creation {
	c := store.Creation{Plant: herb.NewPlant{ID: id, Plant: herb.Plant{Name: name}}}
	if len(tag) > 0 {
		c.Plant.Tag = &tag[0]
	}
	return c
}

// create creates plants, of which some may be rejected.
func create(t *testing.T, s Store, creations ...store.Creation) []store.Outcome {
	t.Helper()
	outcomes, err := s.CreatePlants(t.Context(), creations)
	must.NoError(t, err)
	if len(outcomes) != len(creations) {
		t.Fatalf("%d outcomes of %d creations", len(outcomes), len(creations))
	}
	return outcomes
}

// mustCreate creates plants and fails if one is rejected.
func mustCreate(t *testing.T, s Store, creations ...store.Creation) []store.Outcome {
	t.Helper()
	outcomes := create(t, s, creations...)
	for _, o := range outcomes {
		must.NoError(t, o.Err)
	}
	return outcomes
}

// readAll returns all plants of a database.
func readAll(ctx context.Context, s Store) (all []herb.NewPlant, err error) {
	for {
		page, err := s.ReadPlants(ctx, len(all), 999)
		all = append(all, page.Plants...)
		if err != nil || len(all) == page.Total {
			return all, err
		}
	}
}

// wantPlants checks the plants of a database.
func wantPlants(t *testing.T, s Store, want ...store.Creation) {
	t.Helper()
	var plants []herb.NewPlant
	for _, c := range want {
		plants = append(plants, c.Plant)
	}
	wantResult(t, "plants", plants)(readAll(t.Context(), s))
}

// wantTotal checks the number of plants.
func wantTotal(t *testing.T, s Store, want int) {
	t.Helper()
	page, err := s.ReadPlants(t.Context(), 0, 0)
	wantResult(t, "number of plants", want)(page.Total, err)
}

func plantsVersion(t *testing.T, s Store) string {
	t.Helper()
	page, err := s.ReadPlants(t.Context(), 0, 0)
	must.NoError(t, err)
	return fmt.Sprint(page.Epoch, "-", page.Total)
}

func (suite) PlantsCreate(t *testing.T, db Database) {
	s := open(t, db)
	wantPlants(t, s)
	creations := []store.Creation{creation(2, "Fern", "shade"), creation(1, "Rose"), creation(3, "Oak", "")}
	wantEqual(t, "outcomes", []store.Outcome{
		{Plant: herb.Plant{Name: "Fern", Tag: new("shade")}},
		{Plant: herb.Plant{Name: "Rose"}},
		{Plant: herb.Plant{Name: "Oak", Tag: new("")}},
	}, mustCreate(t, s, creations...))
	wantPlants(t, s, creations...)
	mustCreate(t, s)
}

func (suite) PlantsDuplicates(t *testing.T, db Database) {
	s := open(t, db)
	fern, rose, lily, elm := creation(7, "Fern"), creation(8, "Rose", "red"), creation(9, "Lily"), creation(-8, "Elm")
	mustCreate(t, s, fern)
	outcomes := create(t, s, rose, creation(7, "Oak", "old"), lily, creation(8, "Ivy"), elm)
	for i, culprit := range []string{"", "id 7 ", "", "id 8 ", ""} {
		if culprit == "" {
			must.NoError(t, outcomes[i].Err)
			continue
		}
		wantCode(t, outcomes[i].Err, herb.CodeInvalid, culprit)
		wantEqual(t, "rejected plant", herb.Plant{}, outcomes[i].Plant)
	}
	wantPlants(t, s, fern, rose, lily, elm)
}

func (suite) PlantsExactValues(t *testing.T, db Database) {
	s := open(t, db)
	long := strings.Repeat("🌹", 255)
	exact := []store.Creation{
		creation(math.MaxInt64, "<b>&\u2028 \"\\"), creation(math.MinInt64, long, long),
		creation(0, " Fern ", "Ångström"), creation(1, "植物園's ñ", ""),
	}
	mustCreate(t, s, exact...)
	wantPlants(t, s, exact...)
}

func (suite) PlantsVersion(t *testing.T, db Database) {
	s := open(t, db)
	seen := map[string]bool{"": true}
	for id := range int64(5) {
		v := plantsVersion(t, s)
		if seen[v] {
			t.Errorf("version %q is not unique", v)
		}
		seen[v] = true
		wantEqual(t, "version without a creation", v, plantsVersion(t, s))
		mustCreate(t, s, creation(id, "Fern"))
	}
	v := plantsVersion(t, s)
	create(t, s, creation(1, "Fern"))
	wantEqual(t, "version after a rejected creation", v, plantsVersion(t, s))
}

func (suite) PlantsCancelled(t *testing.T, db Database) {
	s := open(t, db)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if outcomes, err := s.CreatePlants(ctx, []store.Creation{creation(1, "Fern")}); err == nil {
		t.Errorf("created after the end: %+v", outcomes)
	}
	wantPlants(t, s)
	mustCreate(t, s, creation(1, "Fern"))
}

func (suite) PlantsReopen(t *testing.T, db Database) {
	var want []store.Creation
	var version string
	for id := range int64(3) {
		s := db(t, nil)
		if id > 0 {
			wantEqual(t, "version after reopening", version, plantsVersion(t, s))
		}
		wantPlants(t, s, want...)
		want = append(want, creation(id, "Fern", "shade"))
		mustCreate(t, s, want[id])
		wantPlants(t, s, want...)
		version = plantsVersion(t, s)
		closeStore(t, s)
	}
}

// PlantsConcurrent creates plants through two stores on the same data, which compete for every ID.
func (suite) PlantsConcurrent(t *testing.T, db Database) {
	const plants = 40
	stores := []Store{open(t, db), open(t, db)}
	var mu sync.Mutex
	created := map[int64]int{}
	concurrently(4, func(writer int) {
		for id := range int64(plants) {
			outcomes, err := stores[writer%2].CreatePlants(t.Context(),
				[]store.Creation{creation(id, "Fern", "shade"), creation(1000+id, "Rose")})
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			for i, o := range outcomes {
				if o.Err == nil {
					created[id+int64(1000*i)]++
				} else {
					wantCode(t, o.Err, herb.CodeInvalid)
				}
			}
			mu.Unlock()
		}
	})
	for id, n := range created {
		if n != 1 {
			t.Errorf("plant %d was created %d times", id, n)
		}
	}
	for _, s := range stores {
		all, err := readAll(t.Context(), s)
		must.NoError(t, err)
		roses := 0
		for _, p := range all {
			if p.Name == "Rose" {
				roses++
			}
		}
		if len(all) != 2*plants || roses != plants {
			t.Errorf("%d plants, %d of them roses; want %d of each kind", len(all), roses, plants)
		}
	}
}

// PlantsOneState reads while plants are created: a page and its total must be consistent.
func (suite) PlantsOneState(t *testing.T, db Database) {
	writer, reader := open(t, db), open(t, db)
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for ended := false; !ended; {
			select {
			case <-done:
				ended = true
			default:
			}
			page, err := reader.ReadPlants(t.Context(), 0, 100)
			if err != nil || len(page.Plants) != page.Total {
				t.Errorf("read %d plants of a total of %d, %v", len(page.Plants), page.Total, err)
			}
		}
	})
	for id := range int64(60) {
		mustCreate(t, writer, creation(id, "Fern", "shade"))
		wantTotal(t, reader, int(id)+1) // at once, also elsewhere
	}
	close(done)
	wg.Wait()
}
