package storetest

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"herbarium/internal/herb"
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

// mustCreate creates plants and fails if one is rejected.
func mustCreate(t *testing.T, s Store, creations ...store.Creation) []store.Outcome {
	t.Helper()
	outcomes, err := s.CreatePlants(t.Context(), creations)
	noError(t, err)
	if len(outcomes) != len(creations) {
		t.Fatalf("%d outcomes of %d creations", len(outcomes), len(creations))
	}
	for _, o := range outcomes {
		noError(t, o.Err)
	}
	return outcomes
}

// find returns the records and the total of a query.
func find(ctx context.Context, s Store, raw string) (records []string, total int, err error) {
	r, err := query.Parse(raw, herb.PlantFields())
	if err != nil {
		return nil, 0, err
	}
	page, err := s.Plants().List(ctx, r)
	for _, b := range page.Records {
		records = append(records, string(b))
	}
	return records, page.Total, err
}

// list is find for queries that must not fail.
func list(t *testing.T, s Store, raw string) (records []string, total int) {
	t.Helper()
	records, total, err := find(t.Context(), s, raw)
	noError(t, err)
	return records, total
}

// wantList checks the records of a query.
func wantList(t *testing.T, s Store, raw string, want ...string) {
	t.Helper()
	got, total := list(t, s, raw)
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("listing %q (-want +got):\n%s", raw, diff)
	}
	if total != len(want) {
		t.Errorf("listing %q: total is %d; want %d", raw, total, len(want))
	}
}

func testCreate(t *testing.T, db Database) {
	s := open(t, db)
	wantList(t, s, "")
	outcomes := mustCreate(t, s, creation(2, "Fern", "shade"), creation(1, "Rose"), creation(3, "Oak", ""))
	want := []store.Outcome{
		{Plant: herb.Plant{Name: "Fern", Tag: new("shade")}},
		{Plant: herb.Plant{Name: "Rose"}},
		{Plant: herb.Plant{Name: "Oak", Tag: new("")}},
	}
	if diff := cmp.Diff(want, outcomes); diff != "" {
		t.Errorf("outcomes (-want +got):\n%s", diff)
	}
	fern, rose := `{"id":"2","name":"Fern","tag":"shade"}`, `{"id":"1","name":"Rose","tag":""}`
	oak := `{"id":"3","name":"Oak","tag":""}`
	wantList(t, s, "", fern, rose, oak)
	wantList(t, s, "sort=id", rose, fern, oak)
	wantList(t, s, "tag=", rose, oak)
	wantList(t, s, "search=shade", fern)
	if outcomes := mustCreate(t, s); len(outcomes) != 0 {
		t.Errorf("outcomes of nothing: %+v", outcomes)
	}
}

func testDuplicates(t *testing.T, db Database) {
	s := open(t, db)
	mustCreate(t, s, creation(7, "Fern"))
	outcomes, err := s.CreatePlants(t.Context(), []store.Creation{
		creation(8, "Rose", "red"), creation(7, "Oak", "old"), creation(9, "Lily"), creation(8, "Ivy"), creation(-8, "Elm"),
	})
	noError(t, err)
	for i, o := range outcomes {
		if i != 1 && i != 3 {
			noError(t, o.Err)
			continue
		}
		message := wantCode(t, o.Err, herb.CodeInvalid)
		if id := map[int]string{1: "7", 3: "8"}[i]; !strings.Contains(message, "id "+id+" ") {
			t.Errorf("the message %q does not name the id %s", message, id)
		}
		if o.Plant != (herb.Plant{}) {
			t.Errorf("a rejected plant is returned: %+v", o.Plant)
		}
	}
	wantList(t, s, "", `{"id":"7","name":"Fern","tag":""}`, `{"id":"8","name":"Rose","tag":"red"}`,
		`{"id":"9","name":"Lily","tag":""}`, `{"id":"-8","name":"Elm","tag":""}`)
	for _, word := range []string{"oak", "old", "ivy"} {
		wantList(t, s, "search="+word)
	}
	wantList(t, s, "tag=old")
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
	seen := map[string]bool{}
	version := func() string {
		t.Helper()
		v, err := s.Plants().Version(t.Context())
		noError(t, err)
		return v
	}
	for id := range int64(5) {
		v := version()
		if v == "" || seen[v] {
			t.Errorf("version %q is not unique", v)
		}
		seen[v] = true
		if again := version(); again != v {
			t.Errorf("version %q became %q without a creation", v, again)
		}
		mustCreate(t, s, creation(id, "Fern"))
	}
	v := version()
	_, err := s.CreatePlants(t.Context(), []store.Creation{creation(1, "Fern")})
	noError(t, err)
	if again := version(); again != v {
		t.Errorf("version %q became %q although nothing was created", v, again)
	}
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
		v, err := s.Plants().Version(t.Context())
		noError(t, err)
		if id > 0 && v != version {
			t.Errorf("version %q became %q by reopening", version, v)
		}
		wantList(t, s, "", want...)
		mustCreate(t, s, creation(id, "Fern", "shade"))
		want = append(want, fmt.Sprintf(`{"id":"%d","name":"Fern","tag":"shade"}`, id))
		wantList(t, s, "tag=shade&search=fern", want...)
		version, err = s.Plants().Version(t.Context())
		noError(t, err)
		closeStore(t, s)
	}
}

// testConcurrentCreation has writers in two stores on the same data, which race for every id.
func testConcurrentCreation(t *testing.T, db Database) {
	const plants = 40
	stores := []Store{open(t, db), open(t, db)}
	var wg sync.WaitGroup
	var mu sync.Mutex
	created := map[int64]int{}
	for writer := range 4 {
		s := stores[writer%2]
		wg.Go(func() {
			for id := range int64(plants) {
				outcomes, err := s.CreatePlants(t.Context(), []store.Creation{creation(id, "Fern", "shade"), creation(1000+id, "Rose")})
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				for i, o := range outcomes {
					if o.Err == nil {
						created[id+int64(1000*i)]++
					} else if herb.CodeOf(o.Err) != herb.CodeInvalid {
						t.Errorf("plant %d: %v", id, o.Err)
					}
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	for id, n := range created {
		if n != 1 {
			t.Errorf("plant %d was created %d times", id, n)
		}
	}
	for _, s := range stores {
		for raw, want := range map[string]int{"": 2 * plants, "tag=shade": plants, "tag=": plants, "search=rose": plants} {
			if _, total := list(t, s, raw); total != want {
				t.Errorf("total of %q is %d; want %d", raw, total, want)
			}
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
				records, total, err := find(t.Context(), reader, raw+"&per_page=100")
				if err != nil || len(records) != total {
					t.Errorf("listing %q: %d records of a total of %d, %v", raw, len(records), total, err)
				}
			}
		}
	})
	for id := range int64(60) {
		mustCreate(t, writer, creation(id, "Fern", "shade"))
		if _, total := list(t, reader, ""); total != int(id)+1 { // at once, also elsewhere
			t.Errorf("total is %d after plant %d", total, id)
		}
	}
	close(done)
	wg.Wait()
}
