package versions_test

import (
	"os"
	"path/filepath"
	"testing"

	"herbarium/internal/must"
	"herbarium/internal/store"
	"herbarium/internal/versions/versionstest"
)

// TestFindDamage_objectStore looks for damage of a version that nodes fetch from an object store:
// the file of a node is a copy.
func TestFindDamage_objectStore(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		spoil func(object string) error
		down  bool
		want  bool
	}{
		"intact":      {func(string) error { return nil }, false, false},
		"missing":     {os.Remove, false, true},
		"cut off":     {func(object string) error { return os.Truncate(object, 200) }, false, true},
		"unavailable": {os.Remove, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := versionstest.NewCluster(t)
			node := c.Node(t, nil)
			d := versionstest.PublishAs(t, node.Node, versionstest.Prices, 1)
			d = versionstest.LiveVersion(t, node.Node, d.Ref)
			must.NoError(t, os.Remove(filepath.Join(node.Opts.Dir, store.SegmentFile(d.Version))))
			must.NoError(t, tt.spoil(filepath.Join(c.Bucket.Dir, store.SegmentFile(d.Version))))
			if tt.down {
				c.Bucket.Set(versionstest.Away, nil)
			}
			damage, err := node.Service.FindDamage(t.Context(), d)
			if err != nil || (damage != nil) != tt.want {
				t.Errorf("damage %v, error %v; want damage: %t", damage, err, tt.want)
			}
		})
	}
}
