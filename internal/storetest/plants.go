package storetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/plants"
	"herbarium/internal/query"
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
	noError(t, err)
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
		noError(t, o.Err)
	}
	return outcomes
}

// List returns the records and the total of a query, from an index that reads all plants from the database.
func List(ctx context.Context, s plants.Log, raw string) (records []string, total int, err error) {
	r, err := query.Parse(raw, herb.PlantFields())
	if err != nil {
		return nil, 0, err
	}
	x := plants.NewIndex(s, plants.IndexOptions{SealAt: math.MaxInt32})
	defer func() { err = errors.Join(err, x.Close()) }()
	snapshot, err := x.Acquire(ctx)
	if err != nil {
		return nil, 0, err
	}
	defer snapshot.Release()
	page, err := snapshot.List(ctx, r)
	for _, b := range page.Records {
		records = append(records, string(b))
	}
	return records, page.Total, err
}

// wantList checks the records of a query.
func wantList(t *testing.T, s Store, raw string, want ...string) {
	t.Helper()
	got, _, err := List(t.Context(), s, raw)
	wantResult(t, "listing "+raw, want)(got, err)
	wantTotal(t, s, raw, len(want))
}

// wantTotal checks the total of a query.
func wantTotal(t *testing.T, s Store, raw string, want int) {
	t.Helper()
	_, total, err := List(t.Context(), s, raw)
	wantResult(t, "total of "+raw, want)(total, err)
}

func plantsVersion(t *testing.T, s Store) string {
	t.Helper()
	page, err := s.ReadPlants(t.Context(), 0, 0)
	noError(t, err)
	return fmt.Sprint(page.Epoch, "-", page.Total)
}

func testCreate(t *testing.T, db Database) {
	s := open(t, db)
	wantList(t, s, "")
	outcomes := mustCreate(t, s, creation(2, "Fern", "shade"), creation(1, "Rose"), creation(3, "Oak", ""))
	wantEqual(t, "outcomes", []store.Outcome{
		{Plant: herb.Plant{Name: "Fern", Tag: new("shade")}},
		{Plant: herb.Plant{Name: "Rose"}},
		{Plant: herb.Plant{Name: "Oak", Tag: new("")}},
	}, outcomes)
	fern, rose := `{"id":"2","name":"Fern","tag":"shade"}`, `{"id":"1","name":"Rose","tag":""}`
	oak := `{"id":"3","name":"Oak","tag":""}`
	wantList(t, s, "", fern, rose, oak)
	wantList(t, s, "sort=id", rose, fern, oak)
	wantList(t, s, "tag=", rose, oak)
	wantList(t, s, "search=shade", fern)
	mustCreate(t, s)
}

func testDuplicates(t *testing.T, db Database) {
	s := open(t, db)
	mustCreate(t, s, creation(7, "Fern"))
	outcomes := create(t, s,
		creation(8, "Rose", "red"), creation(7, "Oak", "old"), creation(9, "Lily"), creation(8, "Ivy"), creation(-8, "Elm"))
	for i, culprit := range []string{"", "id 7 ", "", "id 8 ", ""} {
		if culprit == "" {
			noError(t, outcomes[i].Err)
			continue
		}
		wantCode(t, outcomes[i].Err, herb.CodeInvalid, culprit)
		wantEqual(t, "rejected plant", herb.Plant{}, outcomes[i].Plant)
	}
	wantList(t, s, "", `{"id":"7","name":"Fern","tag":""}`, `{"id":"8","name":"Rose","tag":"red"}`,
		`{"id":"9","name":"Lily","tag":""}`, `{"id":"-8","name":"Elm","tag":""}`)
	for _, raw := range []string{"search=oak", "search=old", "search=ivy", "tag=old"} {
		wantList(t, s, raw)
	}
}

func testExactValues(t *testing.T, db Database) {
	s := open(t, db)
	long := strings.Repeat("🌹", 255)
	mustCreate(t, s, creation(math.MaxInt64, "<b>&\u2028 \"\\"), creation(math.MinInt64, long, long),
		creation(0, " Fern ", "Ångström"))
	wantList(t, s, "", `{"id":"9223372036854775807","name":"<b>&`+"\u2028"+` \"\\","tag":""}`,
		`{"id":"-9223372036854775808","name":"`+long+`","tag":"`+long+`"}`, `{"id":"0","name":" Fern ","tag":"Ångström"}`)
}

func testPlantsVersion(t *testing.T, db Database) {
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

func testCancelled(t *testing.T, db Database) {
	s := open(t, db)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if outcomes, err := s.CreatePlants(ctx, []store.Creation{creation(1, "Fern")}); err == nil {
		t.Errorf("created after the end: %+v", outcomes)
	}
	wantList(t, s, "")
	mustCreate(t, s, creation(1, "Fern"))
}

func testReopenPlants(t *testing.T, db Database) {
	var want []string
	var version string
	for id := range int64(3) {
		s := db.Open(t, nil)
		if id > 0 {
			wantEqual(t, "version after reopening", version, plantsVersion(t, s))
		}
		wantList(t, s, "", want...)
		mustCreate(t, s, creation(id, "Fern", "shade"))
		want = append(want, fmt.Sprintf(`{"id":"%d","name":"Fern","tag":"shade"}`, id))
		wantList(t, s, "tag=shade&search=fern", want...)
		version = plantsVersion(t, s)
		closeStore(t, s)
	}
}

// testConcurrentCreation has writers in two stores on the same data, which race for every id.
func testConcurrentCreation(t *testing.T, db Database) {
	const plants = 40
	stores := []Store{open(t, db), open(t, db)}
	var mu sync.Mutex
	created := map[int64]int{}
	concurrently(4, func(writer int) {
		for id := range int64(plants) {
			outcomes, err := stores[writer%2].CreatePlants(t.Context(), []store.Creation{creation(id, "Fern", "shade"), creation(1000+id, "Rose")})
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
		wantTotal(t, s, "", 2*plants)
		for _, raw := range []string{"tag=shade", "tag=", "search=rose"} {
			wantTotal(t, s, raw, plants)
		}
	}
}

// testOneState lists while plants are created: a page and its total must be of one moment.
func testOneState(t *testing.T, db Database) {
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
			for _, raw := range []string{"", "sort=name&order=desc", "tag=shade&sort=id", "search=fern", "tag[ne]=x&sort=tag&order=desc"} {
				records, total, err := List(t.Context(), reader, raw+"&per_page=100")
				if err != nil || len(records) != total {
					t.Errorf("listing %q: %d records of a total of %d, %v", raw, len(records), total, err)
				}
			}
		}
	})
	for id := range int64(60) {
		mustCreate(t, writer, creation(id, "Fern", "shade"))
		wantTotal(t, reader, "", int(id)+1) // at once, also elsewhere
	}
	close(done)
	wg.Wait()
}
