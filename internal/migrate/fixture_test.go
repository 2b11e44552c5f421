package migrate

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"herbarium/internal/access"
	"herbarium/internal/admission"
	"herbarium/internal/app"
	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/query"
	"herbarium/internal/store"
	"herbarium/internal/store/pgtest"
	"herbarium/internal/versions"
)

// cluster is the PostgreSQL server of all tests of this package.
var cluster pgtest.Cluster

func TestMain(m *testing.M) { cluster.Main(m) }

// garden is a place with data of every kind.
type garden struct {
	Place
	active, revoked string // secrets of keys
	retried         []store.Creation
	plants          int
}

var (
	trees = herb.Ref{Namespace: "garden", Name: "trees"} // three versions, the second is live
	herbs = herb.Ref{Namespace: "kitchen", Name: "herbs"}
)

// newGarden creates a data folder with plants; three of four have unusual names or tags.
func newGarden(t *testing.T, plants int) *garden {
	t.Helper()
	g := &garden{Place: Place{Folder: t.TempDir()}}
	g.use(t, func(d *app.Data) {
		for n := 1; n <= 3; n++ {
			publish(t, d, trees, n)
		}
		if _, err := d.Versions.Rollback(t.Context(), trees, ""); err != nil {
			t.Fatal(err)
		}
		publish(t, d, herbs, 40)
		g.create(t, d, plants)
		var keys [3]herb.Key
		now := time.Now()
		g.active, keys[0] = access.Mint("active", []herb.Scope{herb.ScopePlantsWrite, herb.ScopeDataRead}, now,
			time.Time{})
		g.revoked, keys[1] = access.Mint("revoked", []herb.Scope{herb.ScopePlantsWrite}, now, now.Add(time.Hour))
		_, keys[2] = access.Mint("expired\x00", []herb.Scope{"data:read:garden/*"}, now.Add(-time.Hour),
			now.Add(-time.Minute))
		for _, k := range keys {
			must.NoError(t, d.Store.AddKey(t.Context(), k))
		}
		must.NoError(t, d.Store.RevokeKey(t.Context(), keys[1].ID, now))
		must.NoError(t, d.Store.(interface {
			TouchKeys(ctx context.Context, used map[string]time.Time) error
		}).TouchKeys(t.Context(), map[string]time.Time{keys[0].ID: now}))
	})
	return g
}

// use opens a place as a server does, calls do, and closes it.
func (p Place) use(t *testing.T, do func(d *app.Data)) {
	t.Helper()
	c := app.Config{Data: p.Folder, Database: p.Database, Blobs: p.Blobs, Keep: 3}
	if p.Folder == "" {
		c.Data = t.TempDir()
	}
	d, err := app.OpenData(t.Context(), c, app.OpenOptions{Log: slog.New(slog.DiscardHandler)})
	must.NoError(t, err)
	defer func() { must.NoError(t, d.Close()) }()
	do(d)
}

// newCluster returns an empty database and an empty object store.
func newCluster(t *testing.T) Place {
	return Place{Database: herb.Address(cluster.Database(t)), Blobs: herb.Address("file://" + t.TempDir())}
}

// sourceOf returns the file that is kept with a version of herbs.
func sourceOf(records int) string { return strings.Repeat("n,word\n", records) }

// publish publishes a version with a number of records. Versions of herbs are published from a file
// that is kept with them.
func publish(t *testing.T, d *app.Data, ref herb.Ref, records int) {
	t.Helper()
	var source *versions.KeptSource
	if ref == herbs {
		content := sourceOf(records)
		source = &versions.KeptSource{
			Content: io.NewSectionReader(strings.NewReader(content), 0, int64(len(content))), Name: "herbs.csv",
			SHA256: fmt.Sprintf("%x", sha256.Sum256([]byte(content))),
		}
	}
	_, err := d.Versions.Publish(t.Context(), versions.Publication{
		PublishOptions: versions.PublishOptions{Consents: []herb.Consent{herb.ConsentBreaking}}, Source: source,
		Dataset: herb.Dataset{
			Ref: ref, Title: "Ω <b>\x00", Description: fmt.Sprint(records), Access: herb.AccessKey,
			SourceHash: fmt.Sprint(records),
			Fields: []herb.Field{
				{Name: "n", Type: herb.TypeNumber, Filterable: true, Sortable: true},
				{Name: "word", Type: herb.TypeText, Searchable: true, Sortable: true},
			},
		},
		Records: func(yield func(herb.Record, error) bool) {
			for n := range records {
				if !yield(herb.Record{fmt.Sprint(n), fmt.Sprintf("Wort %d", n%7)}, nil) {
					return
				}
			}
		},
	})
	must.NoError(t, err)
}

// create creates plants, every third with an idempotency key.
func (g *garden) create(t *testing.T, d *app.Data, count int) {
	t.Helper()
	odd := []string{"Ñame", "植物園", "e\u0301tude", "AB-12/7", "🌿", "'; --", "\u202eabc", "İstanbul", "\ufffd",
		"\U0010ffff", "ﬁg"}
	random := rand.New(rand.NewPCG(7, uint64(g.plants)))
	creations := make([]store.Creation, count)
	for i := range creations {
		g.plants++
		id := int64(g.plants) * 1_000_003 * int64(1-2*(i%2))
		p := herb.NewPlant{ID: id,
			Plant: herb.Plant{Name: fmt.Sprintf("%s %d", odd[random.IntN(len(odd))], random.IntN(50))}}
		if i%4 > 0 {
			p.Tag = new(strings.Repeat(odd[random.IntN(len(odd))], i%4-1))
		}
		creations[i].Plant = p
		if i%3 == 0 {
			r := &store.IdempotencyKey{Credential: "ann", Key: fmt.Sprintf("key-%d", g.plants),
				Body: sha256.Sum256(fmt.Append(nil, id))}
			creations[i].IdempotencyKey = r
			g.retried = append(g.retried, creations[i])
		}
	}
	outcomes, err := d.Store.CreatePlants(t.Context(), creations)
	must.NoError(t, err)
	for _, o := range outcomes {
		must.NoError(t, o.Err)
	}
}

// listing returns everything that a server with this place lists, in several orders.
func (p Place) listing(t *testing.T) (all []string) {
	t.Helper()
	p.use(t, func(d *app.Data) {
		live, err := d.Library.Live(t.Context())
		must.NoError(t, err)
		datasets, err := d.Library.Datasets(t.Context(), live, true)
		must.NoError(t, err)
		for _, ds := range datasets {
			snap, err := d.Library.Acquire(t.Context(), ds.Ref)
			must.NoError(t, err)
			queries := []string{"", "sort=n&order=desc", "search=wort"}
			if ds.Ref == herb.PlantsRef {
				queries = []string{"", "sort=name&order=desc", "sort=tag", "sort=id", "tag=%F0%9F%8C%BF",
					"search=name+12", "search=%E6%A4%8D*"}
			} else {
				history, err := d.Versions.History(t.Context(), ds.Ref)
				must.NoError(t, err)
				all = append(all, fmt.Sprintf("%s: %q %q %v", ds.Ref, strings.ReplaceAll(ds.Title, "\x00", "\ufffd"),
					ds.SourceHash, history))
				all = append(all, keptSources(t, d, history)...)
			}
			for _, raw := range queries {
				r, err := query.Parse(raw, ds.Fields)
				must.NoError(t, err)
				s, err := snap.Stream(t.Context(), r)
				must.NoError(t, err)
				all = append(all, fmt.Sprintf("%s?%s: %d", ds.Ref, raw, s.Total))
				for rec, err := range s.Records {
					must.NoError(t, err)
					all = append(all, string(rec))
				}
			}
			snap.Release()
		}
	})
	return all
}

// keptSources returns the original bytes of the sources that are kept with versions of herbs.
func keptSources(t *testing.T, d *app.Data, history []versions.Version) (sources []string) {
	t.Helper()
	for _, v := range history {
		if v.Ref != herbs {
			continue
		}
		r, _, err := d.Versions.OpenSource(t.Context(), v.Ref, v.Version)
		must.NoError(t, err)
		content, err := io.ReadAll(r)
		must.NoError(t, errors.Join(err, r.Close()))
		if string(content) != sourceOf(v.Records) {
			t.Errorf("the source of version %s is %q", v.Version, content)
		}
		sources = append(sources, string(content))
	}
	return sources
}

// works checks what listings do not show: that keys are valid and that repeated requests are
// replayed.
func (g *garden) works(t *testing.T, p Place) {
	t.Helper()
	p.use(t, func(d *app.Data) {
		v := access.NewVerifier(d.Store, access.Options{})
		who, err := v.Verify(t.Context(), g.active, admission.Client{})
		must.NoError(t, err)
		if !who.May(herb.ScopePlantsWrite) || !who.May(herb.ScopeDataRead) {
			t.Errorf("the key permits %v", who.Scopes)
		}
		if _, err := v.Verify(t.Context(), g.revoked,
			admission.Client{}); herb.CodeOf(err) != herb.CodeUnauthenticated {
			t.Errorf("the revoked key: %v", err)
		}
		before, err := d.Store.ReadPlants(t.Context(), 0, 0)
		must.NoError(t, err)
		outcomes, err := d.Store.CreatePlants(t.Context(), g.retried)
		must.NoError(t, err)
		for i, o := range outcomes {
			if want := g.retried[i].Plant.Plant; o.Err != nil || !o.Replayed || o.Plant.Name != want.Name {
				t.Fatalf("repeating the request for %q: %+v", want.Name, o)
			}
		}
		other := g.retried[0]
		other.IdempotencyKey = &store.IdempotencyKey{Credential: "ann", Key: other.IdempotencyKey.Key}
		outcomes, err = d.Store.CreatePlants(t.Context(), []store.Creation{other})
		must.NoError(t, err)
		if herb.CodeOf(outcomes[0].Err) != herb.CodeInvalid {
			t.Errorf("the same idempotency key with another body: %v", outcomes[0].Err)
		}
		if after, err := d.Store.ReadPlants(t.Context(), 0, 0); err != nil || after.Total != before.Total {
			t.Errorf("there were %d plants and are %d (%v)", before.Total, after.Total, err)
		}
	})
}

// migrateWith is Migrate with source and target modified by a test.
func migrateWith(ctx context.Context, from, to Place, modify func(from, to *Installation)) (_ Result, err error) {
	var source, target Installation
	defer func() { err = errors.Join(err, source.close(), target.close()) }()
	if err := errors.Join(source.openPlace(ctx, from, true, Options{}),
		target.openPlace(ctx, to, false, Options{})); err != nil {
		return Result{}, err
	}
	modify(&source, &target)
	return copyAll(ctx, source, target, Options{})
}
