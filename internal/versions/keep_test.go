package versions_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/store"
	"herbarium/internal/versions/versionstest"
)

// TestPublish_keep publishes a version every ten days, the last one on day 40. A version is kept if
// one rule says so.
func TestPublish_keep(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for _, tt := range []struct {
		server, dataset herb.Keep
		label           int // day of the version that gets a label; -1: none
		want            []int
	}{
		{herb.Keep{}, herb.Keep{}, -1, []int{0, 10, 20, 30, 40}},
		{herb.Keep{Versions: 2}, herb.Keep{}, -1, []int{30, 40}},
		{herb.Keep{Versions: 2}, herb.Keep{}, 0, []int{0, 30, 40}},
		{herb.Keep{Versions: 2, For: 25 * day}, herb.Keep{}, -1, []int{20, 30, 40}},
		{herb.Keep{Versions: 2, For: 20 * day}, herb.Keep{}, 10, []int{10, 30, 40}},
		{herb.Keep{Versions: 3, For: 5 * day}, herb.Keep{}, -1, []int{20, 30, 40}},
		{herb.Keep{Versions: 1, For: 5 * day}, herb.Keep{}, -1, []int{40}},
		{herb.Keep{Versions: 1}, herb.Keep{Versions: 4}, -1, []int{10, 20, 30, 40}},
		{herb.Keep{Versions: 4}, herb.Keep{Versions: 1}, -1, []int{40}},
		{herb.Keep{Versions: 1, For: 100 * day}, herb.Keep{For: 12 * day}, -1, []int{30, 40}},
		{herb.Keep{Versions: 2}, herb.Keep{For: 22 * day}, 0, []int{0, 20, 30, 40}},
	} {
		t.Run(fmt.Sprint(tt.server, tt.dataset, tt.label), func(t *testing.T) {
			t.Parallel()
			s := versionstest.NewSharedDir(t)
			start := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
			now := start
			l := versionstest.OpenLibrary(t, s.DB, versionstest.Options{Dir: s.Dir, Keep: tt.server.Versions,
				KeepFor: tt.server.For, Now: func() time.Time { return now }})
			for n := 0; n <= 40; n += 10 {
				now = start.Add(time.Duration(n) * day)
				p := versionstest.Publication(n + 1)
				p.Keep = tt.dataset
				r, err := l.Publish(t.Context(), p)
				must.NoError(t, err)
				if n == tt.label {
					_, err := l.Label(t.Context(), ref, r.Version, "labeled")
					must.NoError(t, err)
				}
			}
			list, err := l.ListVersions(t.Context(), ref)
			must.NoError(t, err)
			var kept []int
			for _, v := range list.Versions {
				kept = append(kept, int(v.Published.Sub(start)/day))
			}
			files, err := filepath.Glob(filepath.Join(s.Dir, "*"+store.SegmentSuffix))
			must.NoError(t, err)
			if !slices.Equal(kept, tt.want) || len(files) != len(tt.want) {
				t.Errorf("the versions of days %v and %d files are kept, want those of %v", kept, len(files), tt.want)
			}
		})
	}
}
