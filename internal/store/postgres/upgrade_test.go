package postgres_test

import (
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/store"
	"herbarium/internal/store/postgres"
)

// record makes the test record the statements of the current program as those of a schema version.
// This is done once, when a schema version is created, and never again: the recording then
// represents released programs.
var record = flag.Int("record", 0, "record what the program does with the tables of this version")

const (
	oldest     = 1 // oldest schema version that the program upgrades
	compatible = 1 // oldest schema version whose programs must work next to the current one
	latest     = 2 // latest schema version with a recording
)

func recording(version int) string { return fmt.Sprintf("testdata/version%d.jsonl", version) }

// noon is the time of all recorded operations.
func noon() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// TestUpgrade_sideBySide runs an old program, represented by its recorded statements, and a current
// store on one database with the latest schema. Both see what either has written.
func TestUpgrade_sideBySide(t *testing.T) {
	t.Parallel()
	if *record != 0 {
		recordVersion(t, *record)
	}
	for version := compatible; version <= latest; version++ {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			t.Parallel()
			runSideBySide(t, version)
		})
	}
}

func runSideBySide(t *testing.T, version int) {
	t.Helper()
	address := cluster.Database(t)
	today := open(t, address, postgres.Options{Now: noon})
	var needs int
	must.NoError(t, connect(t, address).QueryRow(t.Context(), "SELECT needs FROM schema_version").Scan(&needs))
	if needs > compatible {
		t.Fatalf("the tables refuse programs that know less than version %d", needs)
	}
	steps := readSteps(t, recording(version))
	ended := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { // a continuous reader blocks no migration
		for {
			select {
			case <-ended:
				return
			default:
				list(t, today)
			}
		}
	})
	func() {
		defer wg.Wait()
		defer close(ended)
		replay(t, address, steps, func(task string) { otherTasks(t, today)[task]() })
	}()
	checkScenario(t, today)
	changed, err := today.Changes(t.Context(), 0)
	must.NoError(t, err)
	var got []string
	for _, d := range changed.Datasets {
		got = append(got, strings.TrimSpace(d.Name+" "+d.Version))
	}
	slices.Sort(got)
	if diff := cmp.Diff([]string{"gone", "others o1", "prices v2"}, got); diff != "" {
		t.Errorf("changes of both programs (-want +got):\n%s", diff)
	}
}

// TestUpgrade_inPlace upgrades a database with the data of an old program: nothing is lost.
func TestUpgrade_inPlace(t *testing.T) {
	t.Parallel()
	for version := oldest; version <= latest; version++ {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			t.Parallel()
			upgradeInPlace(t, version)
		})
	}
}

func upgradeInPlace(t *testing.T, version int) {
	t.Helper()
	address := cluster.Database(t)
	if err := postgres.MigrateTo(t.Context(), address, version); err != nil {
		t.Fatal(err)
	}
	replay(t, address, readSteps(t, recording(version)), nil)
	upgraded := cluster.Database(t)
	open(t, upgraded, postgres.Options{})
	tables := readTables(t, address, commonColumns(columns(t, address), columns(t, upgraded)))
	if slices.ContainsFunc(slices.Collect(maps.Values(tables)), func(rows []string) bool { return len(rows) == 0 }) {
		t.Fatalf("a table is empty: %v", tables)
	}
	today := open(t, address, postgres.Options{Now: noon})
	if diff := cmp.Diff(tables, readTables(t, address, tables)); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
	checkScenario(t, today)
	if _, err := today.CreatePlants(t.Context(), creations(99)); err != nil {
		t.Error(err)
	}
}

// TestUpgrade_drafts upgrades a database in which drafts are among the publishes. Programs of the
// earlier release keep finding them there.
func TestUpgrade_drafts(t *testing.T) {
	t.Parallel()
	schema, err := postgres.CurrentSchema()
	must.NoError(t, err)
	address := cluster.Database(t)
	old, err := postgres.OpenWith(t.Context(), address, schema[:2], postgres.Options{})
	must.NoError(t, err)
	must.NoError(t, old.Migrate(t.Context()))
	const stored, receiving = "draft-00000000-aaaaaaaaaaaaaaaaaaaaaaaaaa", "draft-00000000-bbbbbbbbbbbbbbbbbbbbbbbbbb"
	content := []byte(`{"ref":"shop/stock","owner":"ann","name":"Ä\u0000.csv"}`) // text of PostgreSQL has no U+0000
	for id, isRunning := range map[string]bool{stored: false, receiving: true, "publish": false} {
		must.NoError(t, old.AddPublish(t.Context(), store.Publish{ID: id, Running: isRunning, Updated: noon(),
			Content: content}, time.Time{}))
	}
	must.NoError(t, old.Close())
	s := open(t, address, postgres.Options{})
	drafts, err := s.Drafts(t.Context(), "ann", time.Time{})
	must.NoError(t, err)
	if diff := cmp.Diff([]store.Draft{{ID: stored, Owner: "ann", Stored: true, Updated: noon(), Content: content}},
		drafts); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	ids, err := s.DraftIDs(t.Context(), time.Time{})
	slices.Sort(ids)
	// the file of the other one may be stored by an earlier release
	if err != nil || !slices.Equal(ids, []string{stored, receiving}) {
		t.Errorf("%v, %v", ids, err)
	}
}

// TestExecModes runs the scenario without prepared statements, as proxies with transaction pooling
// require.
func TestExecModes(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"exec", "simple_protocol", "cache_describe"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			s := open(t, cluster.Database(t)+"&default_query_exec_mode="+mode, postgres.Options{Now: noon})
			scenario(t, s, func(task string) { otherTasks(t, s)[task]() })
			checkScenario(t, s)
		})
	}
}

// recordVersion runs the scenario and records each statement and its result.
func recordVersion(t *testing.T, version int) {
	t.Helper()
	address := cluster.Database(t)
	if err := postgres.MigrateTo(t.Context(), address, version); err != nil {
		t.Fatal(err)
	}
	var r tape
	s, err := postgres.OpenTraced(t.Context(), address+"&pool_max_conns=1", postgres.Options{Now: noon}, &r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.on = true
	scenario(t, s, func(task string) {
		r.other = task
		otherTasks(t, s)[task]()
		r.other = ""
	})
	r.on = false
	if r.err != nil {
		t.Fatal(r.err)
	}
	again := cluster.Database(t)
	if err := postgres.MigrateTo(t.Context(), again, version); err != nil {
		t.Fatal(err)
	}
	conn := connect(t, again)
	for i := range r.steps {
		r.steps[i], err = r.steps[i].play(t.Context(), conn)
		if err != nil {
			t.Fatal(err)
		}
	}
	writeSteps(t, recording(version), r.steps)
}

func plant(id int64, name, tag, key string) store.Creation {
	c := store.Creation{Plant: herb.NewPlant{ID: id, Plant: herb.Plant{Name: name}}}
	if tag != "" {
		c.Plant.Tag = &tag
	}
	if key != "" {
		c.IdempotencyKey = &store.IdempotencyKey{Credential: "ann", Key: key, Body: sha256.Sum256([]byte(name))}
	}
	return c
}

func dataset(name, version string) herb.Dataset {
	return herb.Dataset{
		Ref: herb.Ref{Namespace: "garden", Name: name}, Version: version, Title: "Prices", Access: herb.AccessOpen,
		Fields: []herb.Field{{Name: "id"}, {Name: "price"}}, Records: 3, Published: noon(), SourceHash: "prices.csv",
	}
}

// otherTasks returns the tasks of a program that runs next to the recorded one.
func otherTasks(t *testing.T, s *postgres.Store) map[string]func() {
	ctx := t.Context()
	return map[string]func(){
		"creates": func() {
			must.NoError(t, created(
				s.CreatePlants(ctx, []store.Creation{plant(100, "Lady fern", "shade", "k100"),
					plant(101, "Rose", "", "")})))
		},
		"publishes": func() {
			add(t, s, dataset("others", "o1"), "")
			add(t, s, dataset("prices", "o2"), "v2")
			must.NoError(t, s.AddKey(ctx, herb.Key{ID: "other", Name: "Other", Scopes: []herb.Scope{"data:read"},
				Created: noon()}))
		},
	}
}

// add adds a version and drops none.
func add(t *testing.T, s *postgres.Store, d herb.Dataset, live string) {
	t.Helper()
	_, err := s.AddVersion(t.Context(), d, live, herb.Keep{Versions: 10}, time.Now())
	must.NoError(t, err)
}

// created returns the first error of several creations.
func created(outcomes []store.Outcome, err error) error {
	for _, o := range outcomes {
		if err == nil {
			err = o.Err
		}
	}
	return err
}

// scenario calls every operation of a store.
func scenario(t *testing.T, s *postgres.Store, other func(task string)) {
	ctx := t.Context()
	must.NoError(t, s.Ping(ctx))
	first := []store.Creation{plant(1, "Tree fern", "sun", "k1"), plant(2, "Ångström fern", "", ""),
		plant(3, "Moss", "shade", "k3")}
	must.NoError(t, created(s.CreatePlants(ctx, first)))
	other("creates")
	outcomes, err := s.CreatePlants(ctx, []store.Creation{
		plant(1, "Tree fern", "sun", "k1"), plant(2, "Taken", "", ""), plant(100, "Lady fern", "shade", "k100"),
		plant(4, "Fern", "", "k4"),
	})
	must.NoError(t, err)
	if !outcomes[0].Replayed || outcomes[1].Err == nil || !outcomes[2].Replayed || outcomes[3].Err != nil {
		t.Fatalf("outcomes %+v", outcomes)
	}
	list(t, s)
	keysAndSourceErrors(t, s)
	publishOverHTTP(t, s)
	catalogue(t, s, other)
}

func publishOverHTTP(t *testing.T, s *postgres.Store) {
	ctx := t.Context()
	p := store.Publish{ID: "p1", Running: true, Updated: noon(), Content: []byte(`{"state":"reading"}`)}
	must.NoError(t, s.AddPublish(ctx, p, noon().Add(-time.Hour)))
	must.NoError(t, s.UpdatePublish(ctx, p))
	_, err := s.EndPublish(ctx, store.Publish{ID: "p1", Updated: noon(), Content: []byte(`{"state":"failed"}`)},
		noon(), nil)
	must.NoError(t, err)
	_, err = s.Publish(ctx, "p1")
	must.NoError(t, err)
}

func keysAndSourceErrors(t *testing.T, s *postgres.Store) {
	ctx := t.Context()
	for _, id := range []string{"ann", "bob"} {
		must.NoError(t, s.AddKey(ctx, herb.Key{ID: id, Name: "Somebody", Scopes: []herb.Scope{"plants:write"},
			Created: noon(), Expires: noon()}))
	}
	must.NoError(t, s.RevokeKey(ctx, "bob", noon()))
	must.NoError(t, s.TouchKeys(ctx, map[string]time.Time{"ann": noon()}))
	_, err := s.Keys(ctx)
	must.NoError(t, err)
	for _, place := range []string{"a.csv", "b.csv"} {
		must.NoError(t, s.SetSourceError(ctx, herb.SourceError{Path: place, Message: "no records", Since: noon()}))
	}
	must.NoError(t, s.ClearSourceError(ctx, "a.csv"))
	_, err = s.SourceErrors(ctx)
	must.NoError(t, err)
}

func catalogue(t *testing.T, s *postgres.Store, other func(task string)) {
	ctx := t.Context()
	prices := dataset("prices", "").Ref
	add(t, s, dataset("prices", "v1"), "")
	add(t, s, dataset("prices", "v2"), "v1")
	other("publishes")
	add(t, s, dataset("gone", "g1"), "")
	if _, err := s.AddVersion(ctx, dataset("prices", "v3"), "v2", herb.Keep{Versions: 2}, time.Now()); !errors.Is(err,
		store.ErrSuperseded) {
		t.Fatalf("got %v", err)
	}
	_, err := s.AddVersion(ctx, dataset("prices", "v3"), "o2", herb.Keep{Versions: 3}, time.Now())
	must.NoError(t, err)
	must.NoError(t, s.SetLive(ctx, prices, "v2", "v3"))
	for _, version := range []string{"", "o2"} {
		_, err := s.Version(ctx, prices, version)
		must.NoError(t, err)
	}
	_, err = s.Version(ctx, prices, "none")
	if herb.CodeOf(err) != herb.CodeGone {
		t.Fatalf("got %v", err)
	}
	_, err = s.History(ctx, prices)
	must.NoError(t, err)
	_, err = s.RemoveDataset(ctx, dataset("gone", "").Ref, "", time.Now())
	must.NoError(t, err)
	_, err = s.Versions(ctx)
	must.NoError(t, err)
	_, err = s.Changes(ctx, 0)
	must.NoError(t, err)
}

// checkScenario checks the data that the scenarios of both programs have stored.
func checkScenario(t *testing.T, s *postgres.Store) {
	t.Helper()
	want := []string{
		"1 Tree fern sun", "2 Ångström fern ", "3 Moss shade", "100 Lady fern shade", "101 Rose ", "4 Fern ",
	}
	if diff := cmp.Diff(want, list(t, s)); diff != "" {
		t.Errorf("plants (-want +got):\n%s", diff)
	}
	outcomes, err := s.CreatePlants(t.Context(), []store.Creation{plant(1, "Tree fern", "sun", "k1")})
	if err != nil || !outcomes[0].Replayed {
		t.Errorf("an idempotency key of the other program: %+v, %v", outcomes, err)
	}
	keys, err := s.Keys(t.Context())
	must.NoError(t, err)
	catalogue, err := s.Changes(t.Context(), -1)
	must.NoError(t, err)
	history, err := s.History(t.Context(), dataset("prices", "").Ref)
	must.NoError(t, err)
	sourceErrors, err := s.SourceErrors(t.Context())
	must.NoError(t, err)
	var got []string
	for _, k := range keys {
		got = append(got, k.ID)
	}
	for _, d := range catalogue.Datasets {
		got = append(got, d.Name+" "+d.Version)
	}
	for _, v := range slices.Backward(history.Versions) {
		got = append(got, v.Version)
	}
	for _, t := range sourceErrors {
		got = append(got, t.Path)
	}
	if diff := cmp.Diff("ann bob other, others o1, prices v2, v3 o2 v2, b.csv", strings.Join(got, " "),
		cmp.Comparer(sameWords)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// sameWords compares texts, ignoring commas.
func sameWords(a, b string) bool {
	return strings.ReplaceAll(a, ",", "") == strings.ReplaceAll(b, ",", "")
}

// columns returns the columns of all tables.
func columns(t *testing.T, address string) map[string][]string {
	t.Helper()
	rows, err := connect(t, address).Query(t.Context(),
		"SELECT table_name, array_agg(column_name::text ORDER BY ordinal_position) "+
			"FROM information_schema.columns WHERE table_schema = 'public' AND table_name NOT IN ('schema_version', "+
			"'programs', 'write_probe') GROUP BY table_name")
	must.NoError(t, err)
	tables := map[string][]string{}
	var table string
	var names []string
	_, err = pgx.ForEachRow(rows, []any{&table, &names}, func() error {
		tables[table] = slices.Clone(names)
		return nil
	})
	must.NoError(t, err)
	return tables
}

// commonColumns returns the columns that tables have both before and after an upgrade, by table, as
// keys of readTables.
func commonColumns(before, after map[string][]string) map[string][]string {
	common := map[string][]string{}
	for table, names := range before {
		kept := slices.DeleteFunc(slices.Clone(names),
			func(name string) bool { return !slices.Contains(after[table], name) })
		if len(kept) > 0 {
			common[table+"("+strings.Join(kept, ", ")+")"] = nil
		}
	}
	return common
}

// readTables returns the rows of those columns of those tables.
func readTables(t *testing.T, address string, tables map[string][]string) map[string][]string {
	t.Helper()
	conn, out := connect(t, address), map[string][]string{}
	for name := range tables {
		table, columns, _ := strings.Cut(strings.TrimSuffix(name, ")"), "(")
		rows, err := conn.Query(t.Context(), "SELECT ROW("+columns+")::text FROM "+table+" ORDER BY 1")
		must.NoError(t, err)
		out[name], err = pgx.CollectRows(rows, pgx.RowTo[string])
		must.NoError(t, err)
	}
	return out
}
