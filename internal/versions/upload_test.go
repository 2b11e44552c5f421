package versions_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"herbarium/internal/herb"
	"herbarium/internal/progress"
	"herbarium/internal/versions"
	"herbarium/internal/versions/versionstest"
)

// TestPublish_uploads: the file is stored before the version is live, and progress is reported.
func TestPublish_uploads(t *testing.T) {
	t.Parallel()
	versionstest.InCluster(t, func(t *testing.T, c *versionstest.Cluster) {
		n := c.Node(t, nil)
		var phases []string
		var last progress.Progress
		p := versionstest.Publication(5)
		p.Progress = progress.New(func(s progress.Progress) {
			last = s
			if !slices.Contains(phases, s.Phase) {
				phases = append(phases, s.Phase)
			}
		})
		c.Bucket.Set(versionstest.Only("put", func(x versionstest.Call) error {
			if versions, err := c.DB.Versions(t.Context()); err != nil || len(versions) > 0 {
				t.Errorf("when the file is stored, %v are in the catalogue, %v", versions, err)
			}
			return x.Do()
		}), nil)
		if _, err := n.Publish(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		live := versionstest.LiveVersion(t, n.Node, ref)
		if want := n.Phases(); !slices.Equal(want, phases) || want[3] != versions.PhaseUploading {
			t.Errorf("the phases were %v; want %v", phases, want)
		}
		if size := live.File.Size; last.Done != size || last.Total != size {
			t.Errorf("the last progress was %+v of %d bytes", last, size)
		}
		versionstest.WantFiles(t, n, live)
		c.WantWhole(t)

		p = versionstest.Publication(6)
		p.Check = true
		if _, err := n.Publish(t.Context(), p); err != nil || c.Bucket.Count("put") != 1 {
			t.Errorf("a check ended with %v and uploaded %d times", err, c.Bucket.Count("put")-1)
		}
		p = versionstest.Publication(1)
		p.Consents = nil
		if _, err := n.Publish(t.Context(), p); herb.CodeOf(err) != herb.CodeRejected || c.Bucket.Count("put") != 1 {
			t.Errorf("a rejected publish ended with %v and uploaded %d times", err, c.Bucket.Count("put")-1)
		}
		versionstest.WantFiles(t, n, live)
	})
}

// TestPublish_objectsFail has each object store operation of a publish fail.
func TestPublish_objectsFail(t *testing.T) {
	t.Parallel()
	done := func(x versionstest.Call) error { return errors.Join(x.Do(), versionstest.ErrStore) }
	tests := map[string]struct {
		fault  func(versionstest.Call) error
		failed bool
	}{
		"not stored":                     {versionstest.Only("put", versionstest.Away), true},
		"stored, but reported otherwise": {versionstest.Only("put", done), true},
		"nothing works":                  {versionstest.Away, true},
		"objects cannot be listed":       {versionstest.Only("list", versionstest.Away), false},
		"objects cannot be removed":      {versionstest.Only("delete", versionstest.Away), false},
		"stored, reported otherwise, and it cannot be removed": {func(x versionstest.Call) error {
			if x.Op == "put" {
				return done(x)
			}
			return versionstest.ErrStore
		}, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			versionstest.InCluster(t, func(t *testing.T, c *versionstest.Cluster) {
				n := c.Node(t, func(o *versionstest.Options) { o.Keep = 1 })
				before := versionstest.PublishAs(t, n.Node, ref, 1)
				versionstest.Pass(25 * time.Hour)
				c.Bucket.Set(tt.fault, nil)
				_, err := n.Publish(t.Context(), versionstest.Publication(2))
				if errors.Is(err, versionstest.ErrStore) != tt.failed || err != nil && !tt.failed {
					t.Fatalf("got %v", err)
				}
				c.Bucket.Set(nil, nil)
				live := before
				if !tt.failed {
					live = versionstest.LiveVersion(t, n.Node, ref)
				}
				versionstest.WantFiles(t, n, live)
				if err := n.Refresh(t.Context()); err != nil {
					t.Error(err)
				}
				synctest.Wait()
				versionstest.WantListed(t, c.Node(t, nil).Node, ref, live.Records)
				wantCollected(t, c, n)
			})
		})
	}
}

// wantCollected checks that after garbage collection there is an object for every version in the
// catalogue and no other.
func wantCollected(t testing.TB, c *versionstest.Cluster, n *versionstest.ClusterNode) {
	t.Helper()
	for range 4 {
		c.WantWhole(t)
		if err := n.Collect(t.Context()); err != nil {
			t.Error(err)
		}
		versionstest.Pass(25 * time.Hour)
	}
	versions, err := c.DB.Versions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(versions, c.Bucket.Versions(t), cmpopts.EquateEmpty()); d != "" {
		t.Errorf("versions and objects (-want +got):\n%s", d)
	}
}

// TestPublish_switchFails has the catalogue fail before or after it executes an operation. An
// orphaned upload is deleted if it is certain that the version is not in the catalogue.
func TestPublish_switchFails(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		add      func(do func() error) error
		retire   error
		leaves   bool // the caller leaves
		late     bool // the statement is executed after the error
		reported bool
		objects  int
		live     int
	}{
		"not added":                        {add: failBefore, reported: true, objects: 1, live: 1},
		"error after adding":               {add: failAfter, objects: 2, live: 2},
		"not added, and unknown":           {add: failBefore, retire: errLocked, reported: true, objects: 2, live: 1},
		"added, and unknown":               {add: failAfter, retire: errLocked, reported: true, objects: 2, live: 2},
		"caller leaves":                    {leaves: true, reported: true, objects: 1, live: 1},
		"the lost transaction comes later": {late: true, reported: true, objects: 1, live: 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			versionstest.InCluster(t, func(t *testing.T, c *versionstest.Cluster) {
				n := c.Node(t, nil)
				versionstest.PublishAs(t, n.Node, ref, 1)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				var lost func() error
				faulty := &faultyCatalogue{Catalogue: c.DB, retire: tt.retire, add: func(do func() error) error {
					switch {
					case tt.leaves:
						cancel()
						return do()
					case tt.late:
						lost = do
						return errLocked
					}
					return tt.add(do)
				}}
				l, err := versionstest.Open(faulty, n.Opts)
				if err != nil {
					t.Fatal(err)
				}
				defer l.Close()
				_, err = l.Publish(ctx, versionstest.Publication(2))
				if (err != nil) != tt.reported {
					t.Errorf("Publish: %v", err)
				}
				if lost != nil && herb.CodeOf(lost()) != herb.CodeUnavailable {
					t.Error("an abandoned version became live")
				}
				if objects := c.Bucket.Versions(t); len(objects) != tt.objects {
					t.Errorf("there are the objects %v; want %d", objects, tt.objects)
				}
				versionstest.WantListed(t, c.Node(t, nil).Node, ref, tt.live)
				wantCollected(t, c, n)
			})
		})
	}
}
