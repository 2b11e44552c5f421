package library_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/versions/versionstest"
)

// flaky is a mutable dataset whose database can be down.
type flaky struct {
	versionstest.StaticMutable
	calls atomic.Int32
	fails atomic.Pointer[func(ctx context.Context) error]
}

// Describe implements library.Mutable.
func (f *flaky) Describe(ctx context.Context) (herb.Dataset, error) {
	n := f.calls.Add(1)
	if fail := f.fails.Load(); fail != nil {
		return herb.Dataset{}, (*fail)(ctx)
	}
	return herb.Dataset{Ref: herb.PlantsRef, Title: "Plants", Fields: fields, Version: "1", Records: int(n)}, nil
}

// Acquire implements library.Mutable.
func (f *flaky) Acquire(ctx context.Context) (library.View, error) {
	d, err := f.Describe(ctx)
	return library.View{Dataset: d, Engine: f}, err
}

// TestDatasets_mutableFails: a list of all datasets neither fails nor waits because one of them
// does not answer.
func TestDatasets_mutableFails(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func(context.Context) error{
		"refused": func(context.Context) error { return versionstest.ErrCatalogue },
		"silent":  func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			versionstest.InCluster(t, func(t *testing.T, c *versionstest.Cluster) {
				f := &flaky{}
				n := c.Node(t, func(o *versionstest.Options) { o.Plants = f })
				versionstest.PublishAs(t, n.Node, ref, 1)
				describe := func() herb.Dataset {
					t.Helper()
					ds, err := describeAll(t.Context(), n.Node)
					if err != nil || len(ds) != 2 || ds[0].Ref != ref || ds[0].Unavailable ||
						ds[1].Ref != herb.PlantsRef {
						t.Fatalf("got %+v, %v", ds, err)
					}
					return ds[1]
				}
				for range 3 { // the current description each time
					if d := describe(); d.Unavailable || d.Records != int(f.calls.Load()) {
						t.Errorf("described as %+v", d)
					}
				}
				known := int(f.calls.Load())
				f.fails.Store(&fail)
				began := time.Now()
				for range 100 {
					if d := describe(); !d.Unavailable || d.Records != known || d.Title != "Plants" ||
						len(d.Fields) != 1 {
						t.Errorf("described as %+v", d)
					}
				}
				if took, calls := time.Since(began), int(f.calls.Load())-known; took > 3*time.Second || calls != 1 {
					t.Errorf("it was called %d times by 100 lists, in %s", calls, took)
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				if _, err := n.Acquire(ctx, herb.PlantsRef); err == nil {
					t.Error("it can be listed")
				}
				versionstest.Pass(time.Minute)
				describe()
				if logged := n.Log.Count("cannot describe dataset"); logged != 1 {
					t.Errorf("logged %d times; want once", logged)
				}
				f.fails.Store(nil)
				versionstest.Pass(6 * time.Second)
				if d := describe(); d.Unavailable {
					t.Errorf("described as %+v", d)
				}
			})
		})
	}
}

// TestDatasets_caller: a caller that leaves gets an error, which does not count as a failure of the
// dataset.
func TestDatasets_callerLeaves(t *testing.T) {
	t.Parallel()
	versionstest.InCluster(t, func(t *testing.T, c *versionstest.Cluster) {
		f := &flaky{}
		n := c.Node(t, func(o *versionstest.Options) { o.Plants = f })
		if _, err := describeAll(t.Context(), n.Node); err != nil {
			t.Fatal(err)
		}
		silent := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
		f.fails.Store(&silent)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { synctest.Wait(); cancel() }()
		if _, err := describeAll(ctx, n.Node); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		f.fails.Store(nil)
		if ds, err := describeAll(t.Context(), n.Node); err != nil || ds[0].Unavailable {
			t.Errorf("got %+v, %v", ds, err)
		}
	})
}

// TestDatasets_mutableRestored: a node that starts without its database restores the last
// description of the mutable dataset.
func TestDatasets_mutableRestored(t *testing.T) {
	t.Parallel()
	versionstest.InCluster(t, func(t *testing.T, c *versionstest.Cluster) {
		f := &flaky{}
		n := c.Node(t, func(o *versionstest.Options) { o.Plants = f })
		check := func(title string) {
			t.Helper()
			ds, err := describeAll(t.Context(), n.Node)
			if err != nil || len(ds) != 1 || !ds[0].Unavailable || ds[0].Title != title {
				t.Errorf("got %+v, %v", ds, err)
			}
		}
		refused := func(context.Context) error { return versionstest.ErrCatalogue }
		f.fails.Store(&refused)
		check("") // there never was a description
		f.fails.Store(nil)
		versionstest.Pass(6 * time.Second)
		if _, err := describeAll(t.Context(), n.Node); err != nil {
			t.Fatal(err)
		}
		n.Start(t)
		versionstest.Pass(6 * time.Minute)
		f.fails.Store(&refused)
		n.Catalogue.Away.Store(true)
		n.Restart(t)
		check("Plants")
	})
}
