package httpapi_test

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"herbarium/internal/admission"
	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
	"herbarium/internal/httpapi/apitest"
	"herbarium/internal/httpapi/gate"
	"herbarium/internal/httpapi/publishing"
	"herbarium/internal/httpapi/response"
	"herbarium/internal/library"
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

// newKeys returns the keys of the fixture.
func newKeys() *apitest.Keys {
	return &apitest.Keys{Scopes: map[string][]herb.Scope{
		writer:     {herb.ScopePlantsWrite},
		reader:     {herb.ScopeDataRead},
		oneReader:  {"data:read:locked/staff"},
		herdReader: {"data:read:locked/*"},
		elsewhere:  {"data:read:garden/catalog"},
		publisher:  {"publish:shop/*"},
		onePub:     {"publish:shop/prices"},
	}}
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

// fakeLibrary also has the created plants, counts calls, and can fail and wait.
type fakeLibrary struct {
	apitest.Library
	acquireErr, datasetsErr, listErr error // returned instead of a result
	listPanic                        any
	listing                          func()                             // called when a listing starts
	query                            func(context.Context) error        // replaces the listing unless nil
	stream                           func(context.Context) query.Stream // replaces the records
	groups                           *query.GroupStream                 // replaces the groups

	plants    *fakePlants
	puts      atomic.Int64
	listed    atomic.Int64
	described atomic.Int64 // calls of Datasets
}

func (l *fakeLibrary) put(d herb.Dataset, records []herb.Record) {
	l.puts.Add(1)
	l.Put(d, records)
}

func (l *fakeLibrary) Live(ctx context.Context) ([]herb.LiveVersion, error) {
	l.putPlants()
	live, err := l.Library.Live(ctx)
	return live, cmp.Or(l.datasetsErr, err)
}

func (l *fakeLibrary) Search(ctx context.Context, search, keyword string) ([]herb.LiveVersion, error) {
	l.putPlants()
	found, err := l.Library.Search(ctx, search, keyword)
	return found, cmp.Or(l.datasetsErr, err)
}

func (l *fakeLibrary) Datasets(ctx context.Context, versions []herb.LiveVersion, details bool) ([]herb.Dataset, error) {
	l.described.Add(1)
	return l.Library.Datasets(ctx, versions, details)
}

func (l *fakeLibrary) Acquire(ctx context.Context, ref herb.Ref) (library.View, error) {
	if l.acquireErr != nil {
		return library.View{}, l.acquireErr
	}
	l.putPlants()
	v, err := l.Library.Acquire(ctx, ref)
	v.Engine = &fakeEngine{v.Engine, l}
	return v, err
}

func (l *fakeLibrary) AcquireVersion(ctx context.Context, ref herb.Ref, version string) (library.View, error) {
	if ref == herb.PlantsRef {
		return library.View{}, herb.Invalidf("dataset %s has no versions", ref)
	}
	v, err := l.Library.AcquireVersion(ctx, ref, version)
	v.Engine = &fakeEngine{v.Engine, l}
	return v, err
}

// putPlants makes the created plants live.
func (l *fakeLibrary) putPlants() {
	l.plants.mu.Lock()
	records := slices.Clone(l.plants.records)
	l.plants.mu.Unlock()
	l.Put(herb.Dataset{Ref: herb.PlantsRef, Fields: herb.PlantFields(), Version: "plants-" +
		strconv.Itoa(len(records))}, records)
}

// fakeEngine fails and waits as its library is to.
type fakeEngine struct {
	query.Engine
	l *fakeLibrary
}

// begin counts a query, and panics or fails if the library is to.
func (s *fakeEngine) begin() error {
	s.l.listed.Add(1)
	if s.l.listPanic != nil {
		panic(s.l.listPanic)
	}
	return s.l.listErr
}

func (s *fakeEngine) List(ctx context.Context, r *query.Request) (query.Page, error) {
	if err := s.begin(); err != nil {
		return query.Page{}, err
	}
	if s.l.listing != nil {
		s.l.listing()
	}
	if s.l.query != nil {
		return query.Page{}, s.l.query(ctx)
	}
	return s.Engine.List(ctx, r)
}

func (s *fakeEngine) Stream(ctx context.Context, r *query.Request) (query.Stream, error) {
	if err := s.begin(); err != nil {
		return query.Stream{}, err
	}
	if s.l.stream != nil {
		return s.l.stream(ctx), nil
	}
	return s.Engine.Stream(ctx, r)
}

func (s *fakeEngine) Facets(ctx context.Context, r *query.FacetRequest) (query.Facets, error) {
	if err := s.begin(); err != nil {
		return query.Facets{}, err
	}
	return s.Engine.Facets(ctx, r)
}

func (s *fakeEngine) Grid(ctx context.Context, r *query.GridRequest) (query.Grid, error) {
	if err := s.begin(); err != nil {
		return query.Grid{}, err
	}
	return s.Engine.Grid(ctx, r)
}

func (s *fakeEngine) Aggregate(ctx context.Context, r *query.AggregateRequest) (query.Aggregate, error) {
	if err := s.begin(); err != nil {
		return query.Aggregate{}, err
	}
	return s.Engine.Aggregate(ctx, r)
}

func (s *fakeEngine) StreamGroups(ctx context.Context, r *query.AggregateRequest) (query.GroupStream, error) {
	if err := s.begin(); err != nil {
		return query.GroupStream{}, err
	}
	if s.l.groups != nil {
		return *s.l.groups, nil
	}
	return s.Engine.StreamGroups(ctx, r)
}

// service is an API over fakes, with its log.
type service struct {
	*httpapi.API
	library *fakeLibrary
	plants  *fakePlants
	keys    *apitest.Keys
	log     *logBuffer

	document     string // last result of openAPI
	documentPuts int64  // number of puts at that time
}

// options returns the options of an API that is healthy and has the default limits.
func options(t testing.TB, l gate.Library) httpapi.Options {
	t.Helper()
	lanes, err := admission.New(admission.Options{Limits: admission.DefaultLimits(2, 1<<30),
		Budget: admission.NewBudget(1<<28, nil)})
	if err != nil {
		t.Fatal(err)
	}
	return httpapi.Options{
		Site:   httpapi.Site{Library: l, Version: "test", Agents: true},
		Plants: &fakePlants{}, Keys: newKeys(), Admission: lanes, Log: slog.New(slog.DiscardHandler),
		Publishing: &publishing.Services{},
		Health:     func() httpapi.Health { return httpapi.Health{} }, Observe: func(response.Observation) {},
	}
}

// newService returns a service; change may modify its options.
func newService(t testing.TB, change func(*httpapi.Options)) *service {
	t.Helper()
	plants := &fakePlants{replays: map[store.IdempotencyKey]herb.Plant{}}
	s := &service{
		library: &fakeLibrary{plants: plants},
		plants:  plants, keys: newKeys(), log: &logBuffer{},
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
	types := map[string]herb.Type{"id": herb.TypeNumber, "price": herb.TypeNumber, "date": herb.TypeDate,
		"tags": herb.TypeList}
	for _, name := range []string{"id", "title", "description", "category", "status", "date", "url", "image", "price",
		"author", "tags"} {
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
			strconv.Itoa(i + 1), fmt.Sprintf("Plant <%d>", i+1), "Grows \"well\" & éverywhere",
			[]string{"tree", "fern", "moss"}[i%3],
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
			Ref: herb.Ref{Namespace: "locked", Name: "staff"}, Access: herb.AccessKey, Version: "v1",
			Published: published(),
			Fields: []herb.Field{{Name: "name", Type: herb.TypeText, Filterable: true, Sortable: true,
				Searchable: true}},
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
