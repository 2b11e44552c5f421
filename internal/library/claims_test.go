package library_test

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/segment"
	"herbarium/internal/store"
	"herbarium/internal/versions/versionstest"
)

// otherIndex publishes a version with the indexes of another release, and returns it with a
// function that opens nodes without files. index is what its description says of the indexes.
func otherIndex(t *testing.T, c *versionstest.Cluster, index string) (d herb.Dataset,
	newNode func() *versionstest.ClusterNode) {
	t.Helper()
	d = versionstest.PublishAs(t, c.Node(t, nil).Node, ref, 9)
	sum := herb.NewFileHash()
	_, _ = sum.Write(setFormat(t, filepath.Join(c.Bucket.Dir, store.SegmentFile(d.Version)), 99))
	file := sum.File()
	file.Index = index
	return d, func() *versionstest.ClusterNode {
		n := c.Node(t, nil)
		n.Catalogue.Edit = func(d *herb.Dataset) { d.File = &file }
		return n
	}
}

// TestClaim_rebuild starts two nodes without files: one rebuilds the index, the other one waits for
// it and fetches the result alone. Both count the version as pending meanwhile.
func TestClaim_rebuild(t *testing.T) {
	t.Parallel()
	versionstest.InCluster(t, func(t *testing.T, c *versionstest.Cluster) {
		d, newNode := otherIndex(t, c, "f99-r1")
		rebuilt := store.RebuiltFile(d.Version, segment.CurrentIndex())
		gate, open := versionstest.Gate()
		c.Bucket.Set(versionstest.Only("put", gate), nil)
		a, b := newNode(), newNode()
		for _, n := range []*versionstest.ClusterNode{a, b} {
			if found := n.FindOutdated(t.Context()); len(found) != 1 || n.Health().Pending != 1 {
				t.Errorf("outdated are %v; health: %+v", found, n.Health())
			}
		}
		a.Start(t)
		versionstest.Pass(time.Second)
		b.Start(t)
		versionstest.Pass(5 * time.Minute)
		if n := a.Health().Rebuilt + b.Health().Rebuilt; n != 1 {
			t.Errorf("%d rebuilds", n)
		}
		if h := a.Health(); h.Pending != 1 {
			t.Errorf("the node that stores the file has the health %+v", h)
		}
		if h := b.Health(); h.Pending != 1 || len(b.Files(t)) != 0 {
			t.Errorf("the waiting node has %v; health: %+v", b.Files(t), h)
		}
		open()
		versionstest.Pass(5 * time.Second)
		for _, n := range []*versionstest.ClusterNode{a, b} {
			versionstest.WantListed(t, n.Node, ref, 9)
			if files := n.Files(t); len(files) != 1 || files[rebuilt] == 0 || n.Health().Pending != 0 {
				t.Errorf("a node has %v; health: %+v", files, n.Health())
			}
		}
		if n := b.Health().Rebuilt; n != 0 {
			t.Errorf("the waiting node rebuilt %d indexes", n)
		}
		command := newNode()
		if found := command.FindOutdated(t.Context()); len(found) != 0 {
			t.Errorf("a node without files counts %v, which another one has rebuilt", found)
		}
		u, err := command.Upgrade(t.Context(), true, func(int, int) {})
		if u != (library.Upgrade{Versions: 1}) || err != nil || len(command.Files(t)) != 0 {
			t.Errorf("an upgrade of a complete cluster: %+v, %v; it has fetched %v", u, err, command.Files(t))
		}
	})
}

// TestClaim_lost rebuilds an index although another node has claimed it: that node has died, or the
// catalogue is down.
func TestClaim_lost(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		away  bool
		after time.Duration
	}{
		"claimed":        {false, 50 * time.Second},
		"died":           {false, 70 * time.Second},
		"catalogue down": {true, 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			versionstest.InCluster(t, func(t *testing.T, c *versionstest.Cluster) {
				d, newNode := otherIndex(t, c, "")
				b := newNode()
				b.FindOutdated(t.Context()) // saves a copy of the description
				now := time.Now()
				rebuilt := store.RebuiltFile(d.Version, segment.CurrentIndex())
				claimed, err := c.DB.Claim(t.Context(), rebuilt, "another node", now, now.Add(time.Minute))
				if !claimed || err != nil {
					t.Fatal(claimed, err)
				}
				b.Catalogue.Away.Store(tt.away)
				b.Start(t)
				versionstest.Pass(tt.after)
				if got, want := b.Health().Rebuilt == 1, name != "claimed"; got != want {
					t.Errorf("rebuilt: %t, want %t", got, want)
				}
			})
		})
	}
}

// TestFindOutdated finds the versions that a node has to rebuild or fetch before it can list them.
func TestFindOutdated(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		index string // in the description
		size  int64  // of the cache
		want  []herb.Ref
	}{
		"another index": {"f99-r1", 0, []herb.Ref{ref}},
		"this index":    {segment.CurrentIndex(), 0, nil},
		"unknown":       {"", 0, nil},
		"does not fit":  {"f99-r1", 10, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			versionstest.InCluster(t, func(t *testing.T, c *versionstest.Cluster) {
				_, newNode := otherIndex(t, c, tt.index)
				n := newNode()
				n.Stop()
				n.Opts.CacheSize = tt.size
				n.Open(t)
				var found []herb.Ref
				for _, v := range n.FindOutdated(t.Context()) {
					found = append(found, v.Ref)
				}
				if !slices.Equal(found, tt.want) {
					t.Errorf("found %v, want %v", found, tt.want)
				}
			})
		})
	}
}
