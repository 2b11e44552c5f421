package httpapi_test

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"herbarium/internal/httpapi/publishing"

	"herbarium/internal/httpapi/gate"
	"herbarium/internal/httpapi/response"

	"herbarium/internal/admission"
	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
	"herbarium/internal/library"
	"herbarium/internal/listtest"
	"herbarium/internal/query"
	"herbarium/internal/store"
)

// Secrets of the fixture. They look like keys, so that the log must redact them everywhere.
const (
	writer     = "herb_writer0000_ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	reader     = "herb_reader0000_ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	oneReader  = "herb_onereader0_ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	herdReader = "herb_herdreader_ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	elsewhere  = "herb_elsewhere0_ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	publisher  = "herb_publisher0_ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	onePub     = "herb_onepublish_ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	unknown    = "herb_unknown000_ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
)

// fakeKeys accepts the secrets above.
type fakeKeys struct {
	err     error // returned instead of a result
	asked   atomic.Int64
	revoked atomic.Bool // all of them
}

func (k *fakeKeys) Verify(_ context.Context, secret, _ string) (herb.Principal, error) {
	k.asked.Add(1)
	if k.err != nil {
		return herb.Principal{}, k.err
	}
	scopes, ok := map[string][]herb.Scope{
		writer:     {herb.ScopePlantsWrite},
		reader:     {herb.ScopeDataRead},
		oneReader:  {"data:read:locked/staff"},
		herdReader: {"data:read:locked/*"},
		elsewhere:  {"data:read:garden/catalog"},
		publisher:  {"publish:shop/*"},
		onePub:     {"publish:shop/prices"},
	}[secret]
	if !ok || k.revoked.Load() {
		return herb.Principal{}, herb.Errorf(herb.CodeUnauthenticated, `there is no such key; "keys create" makes one`)
	}
	return herb.Principal{ID: secret[5:15], Scopes: scopes}, nil
}

// fakePlants stores plants in memory.
type fakePlants struct {
	err, outcomeErr error // returned instead of a result

	mu      sync.Mutex
	records []herb.Record
	replays map[store.IdempotencyKey]herb.Plant
	last    store.Creation
}

func (p *fakePlants) Create(_ context.Context, c store.Creation) (store.Outcome, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil || p.outcomeErr != nil {
		return store.Outcome{Err: p.outcomeErr}, p.err
	}
	p.last = c
	if c.IdempotencyKey != nil {
		if plant, ok := p.replays[*c.IdempotencyKey]; ok {
			return store.Outcome{Plant: plant, Replayed: true}, nil
		}
		p.replays[*c.IdempotencyKey] = c.Plant.Plant
	}
	tag := ""
	if c.Plant.Tag != nil {
		tag = *c.Plant.Tag
	}
	p.records = append(p.records, herb.Record{strconv.FormatInt(c.Plant.ID, 10), c.Plant.Name, tag})
	return store.Outcome{Plant: c.Plant.Plant}, nil
}

func (p *fakePlants) lastCreation() store.Creation {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last
}

// fakeLibrary serves datasets from memory through the oracle.
type fakeLibrary struct {
	acquireErr, datasetsErr, listErr error // returned instead of a result
	listPanic                        any
	listing                          func()                             // called when a listing starts
	query                            func(context.Context) error        // replaces the listing unless nil
	stream                           func(context.Context) query.Stream // replaces the records

	plants *fakePlants
	mu     sync.Mutex
	sets   map[herb.Ref]fakeDataset
	old    map[string]fakeDataset // by version
	puts   int
	listed atomic.Int64

	described atomic.Int64 // calls of Datasets
}

type fakeDataset struct {
	herb.Dataset
	oracle *listtest.Oracle
}

func (l *fakeLibrary) put(d herb.Dataset, records []herb.Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	d.Records = len(records)
	l.puts++
	l.sets[d.Ref] = fakeDataset{d, listtest.NewOracle(d.Fields, records)}
}

func (l *fakeLibrary) Live(context.Context) (live []herb.LiveVersion, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, d := range append(slices.Collect(maps.Values(l.sets)), l.mutablePlants()) {
		live = append(live, herb.LiveVersion{Ref: d.Ref, Version: d.Version, Records: d.Records, Published: d.Published})
	}
	slices.SortFunc(live, func(a, b herb.LiveVersion) int { return a.Ref.Compare(b.Ref) })
	return live, l.datasetsErr
}

func (l *fakeLibrary) Search(ctx context.Context, search, _ string) ([]herb.LiveVersion, error) {
	live, err := l.Live(ctx)
	return slices.DeleteFunc(live, func(v herb.LiveVersion) bool { return !strings.Contains(v.Ref.String(), search) }), err
}

func (l *fakeLibrary) ProtectedRefs(context.Context) ([]herb.Ref, error) { return nil, nil }

func (l *fakeLibrary) MayMatch(herb.LiveVersion, *query.Search) bool { return true }

func (l *fakeLibrary) IsClosed(herb.LiveVersion) bool { return false }

func (l *fakeLibrary) Datasets(_ context.Context, versions []herb.LiveVersion, _ bool) (all []herb.Dataset, err error) {
	l.described.Add(1)
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, v := range versions {
		if d, ok := l.sets[v.Ref]; ok {
			all = append(all, d.Dataset)
		} else {
			all = append(all, l.mutablePlants().Dataset)
		}
	}
	return all, nil
}

func (l *fakeLibrary) Acquire(_ context.Context, ref herb.Ref) (library.View, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.acquireErr != nil {
		return library.View{}, l.acquireErr
	}
	d, ok := l.sets[ref]
	if ref == herb.PlantsRef {
		d, ok = l.mutablePlants(), true
	}
	if !ok {
		return library.View{}, herb.Errorf(herb.CodeNotFound, "no such dataset %q; GET /api/v1 lists all datasets", ref)
	}
	return library.View{Dataset: d.Dataset, Source: &fakeSource{d, l}}, nil
}

// putOld adds a version that is not live.
func (l *fakeLibrary) putOld(d herb.Dataset, records []herb.Record) {
	l.old[d.Version] = fakeDataset{d, listtest.NewOracle(d.Fields, records)}
}

func (l *fakeLibrary) AcquireVersion(_ context.Context, ref herb.Ref, version string) (library.View, error) {
	d, ok := l.old[version]
	switch {
	case ref == herb.PlantsRef:
		return library.View{}, herb.Invalidf("dataset %s has no versions", ref)
	case !ok || d.Ref != ref:
		return library.View{}, herb.Errorf(herb.CodeGone, "dataset %q has no version %q; versions: v1, v0", ref, version)
	}
	return library.View{Dataset: d.Dataset, Source: &fakeSource{d, l}}, nil
}

// mutablePlants returns the dataset of the created plants.
func (l *fakeLibrary) mutablePlants() fakeDataset {
	l.plants.mu.Lock()
	records := slices.Clone(l.plants.records)
	l.plants.mu.Unlock()
	return fakeDataset{
		herb.Dataset{
			Ref: herb.PlantsRef, Fields: herb.PlantFields(),
			Version: "plants-" + strconv.Itoa(len(records)), Records: len(records),
		},
		listtest.NewOracle(herb.PlantFields(), records),
	}
}

type fakeSource struct {
	d fakeDataset
	l *fakeLibrary
}

// begin counts a query, and panics or fails if the library is to.
func (s *fakeSource) begin() error {
	s.l.listed.Add(1)
	if s.l.listPanic != nil {
		panic(s.l.listPanic)
	}
	return s.l.listErr
}

func (s *fakeSource) List(ctx context.Context, r *query.Request) (query.Page, error) {
	if err := s.begin(); err != nil {
		return query.Page{}, err
	}
	if s.l.listing != nil {
		s.l.listing()
	}
	if s.l.query != nil {
		return query.Page{}, s.l.query(ctx)
	}
	return s.d.oracle.List(ctx, r)
}

func (s *fakeSource) Stream(ctx context.Context, r *query.Request) (query.Stream, error) {
	if err := s.begin(); err != nil {
		return query.Stream{}, err
	}
	if s.l.stream != nil {
		return s.l.stream(ctx), nil
	}
	return s.d.oracle.Stream(ctx, r)
}

func (s *fakeSource) Facets(ctx context.Context, r *query.FacetRequest) (query.Facets, error) {
	if err := s.begin(); err != nil {
		return query.Facets{}, err
	}
	return s.d.oracle.Facets(ctx, r)
}

func (s *fakeSource) Grid(ctx context.Context, r *query.GridRequest) (query.Grid, error) {
	if err := s.begin(); err != nil {
		return query.Grid{}, err
	}
	return s.d.oracle.Grid(ctx, r)
}

func (s *fakeSource) Aggregate(ctx context.Context, r *query.AggregateRequest) (query.Aggregate, error) {
	if err := s.begin(); err != nil {
		return query.Aggregate{}, err
	}
	return s.d.oracle.Aggregate(ctx, r)
}

// service is an API over fakes, with its log.
type service struct {
	*httpapi.API
	library *fakeLibrary
	plants  *fakePlants
	keys    *fakeKeys
	log     *logBuffer

	document     string // last result of openAPI
	documentPuts int    // number of puts at that time
}

// options returns the options of an API that is healthy and has the default limits.
func options(t testing.TB, l gate.Library) httpapi.Options {
	t.Helper()
	lanes, err := admission.New(admission.Options{Limits: admission.DefaultLimits(2, 1<<30), Budget: admission.NewBudget(1<<28, nil)})
	if err != nil {
		t.Fatal(err)
	}
	return httpapi.Options{
		Site:   httpapi.Site{Library: l, Version: "test"},
		Plants: &fakePlants{}, Keys: &fakeKeys{}, Admission: lanes, Log: slog.New(slog.DiscardHandler), Publishing: &publishing.Services{},
		Health: func() httpapi.Health { return httpapi.Health{} }, Observe: func(response.Observation) {},
	}
}

// newService returns a service; change may modify its options.
func newService(t testing.TB, change func(*httpapi.Options)) *service {
	t.Helper()
	plants := &fakePlants{replays: map[store.IdempotencyKey]herb.Plant{}}
	s := &service{
		library: &fakeLibrary{plants: plants, sets: map[herb.Ref]fakeDataset{}, old: map[string]fakeDataset{}},
		plants:  plants, keys: &fakeKeys{}, log: &logBuffer{},
	}
	s.library.put(catalog())
	s.library.put(staff())
	s.library.put(oddities())
	opts := options(t, s.library)
	opts.Plants, opts.Keys, opts.Log, opts.SearchBudget = s.plants, s.keys, s.log.logger(), time.Hour
	if change != nil {
		change(&opts)
	}
	api, err := httpapi.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	s.API = api
	return s
}

func published() time.Time { return time.Date(2026, 3, 20, 8, 30, 0, 0, time.UTC) }

// catalog returns a dataset with the eleven fields of the specification and 60 records.
func catalog() (herb.Dataset, []herb.Record) {
	var fields []herb.Field
	types := map[string]herb.Type{"id": herb.TypeNumber, "price": herb.TypeNumber, "date": herb.TypeDate, "tags": herb.TypeList}
	for _, name := range []string{"id", "title", "description", "category", "status", "date", "url", "image", "price", "author", "tags"} {
		f := herb.Field{Name: name, Type: herb.TypeText, Filterable: true, Sortable: true}
		if t, ok := types[name]; ok {
			f.Type = t
		}
		f.Searchable = f.Type == herb.TypeList || f.Type == herb.TypeText && name != "url" && name != "image"
		fields = append(fields, f)
	}
	fields[8].Title, fields[8].Description = "Price", "In euros"
	var records []herb.Record
	for i := range 60 {
		records = append(records, herb.Record{
			strconv.Itoa(i + 1), fmt.Sprintf("Plant <%d>", i+1), "Grows \"well\" & éverywhere", []string{"tree", "fern", "moss"}[i%3],
			"published", fmt.Sprintf("2026-01-%02d", i%28+1), "https://example.com/" + strconv.Itoa(i), "",
			strconv.Itoa(i%7) + ".50", "Ana", "green,small",
		})
	}
	return herb.Dataset{
		Ref: herb.Ref{Namespace: "garden", Name: "catalog"}, Title: "The garden", Description: "What grows here.",
		Access: herb.AccessOpen, Fields: fields, Version: "v1", Published: published(),
	}, records
}

// staff returns a dataset that requires a key.
func staff() (herb.Dataset, []herb.Record) {
	return herb.Dataset{
			Ref: herb.Ref{Namespace: "locked", Name: "staff"}, Access: herb.AccessKey, Version: "v1", Published: published(),
			Fields: []herb.Field{{Name: "name", Type: herb.TypeText, Filterable: true, Sortable: true, Searchable: true}},
		}, []herb.Record{
			{"Ana"}, {"Bo"}, {"Çelik"},
		}
}

// oddities returns a dataset with unusual fields and no records.
func oddities() (herb.Dataset, []herb.Record) {
	return herb.Dataset{
		Ref: herb.Ref{Namespace: "odd", Name: "a-b.c"}, Version: "v1", Published: published(),
		Fields: []herb.Field{
			{Name: "page", Type: herb.TypeNumber, Filterable: true},
			{Name: "a b&c", Type: herb.TypeText, Filterable: true},
			{Name: `quo"te<`, Type: herb.TypeText, Searchable: true},
		},
	}, nil
}
