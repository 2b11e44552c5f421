package versions_test

import (
	"slices"
	"testing"
	"time"

	"herbarium/internal/must"
	"herbarium/internal/versions/versionstest"
)

// TestPublish_clock publishes versions while the clock jumps. The last one published is live
// regardless of its time, the history is in the order of publication, and no two versions share a
// name, which ETags contain.
func TestPublish_clock(t *testing.T) {
	t.Parallel()
	for name, jump := range map[string]time.Duration{
		"back a second": -time.Second, "back a year": -365 * 24 * time.Hour, "not at all": 0,
		"forward a year": 365 * 24 * time.Hour,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := versionstest.NewSharedDir(t)
			now := time.Date(2026, 3, 29, 1, 59, 59, 0, time.UTC)
			const keep = 3
			l := versionstest.OpenLibrary(t, s.DB,
				versionstest.Options{Dir: s.Dir, Keep: keep, Now: func() time.Time { return now }})
			var published []string
			for i := range 2 * keep {
				published = append(published, versionstest.Publish(t, l, i+1).Version)
				now = now.Add(jump)
			}
			must.NoError(t, l.Refresh(t.Context()))
			versionstest.WantListed(t, l, ref, 2*keep)
			history, err := l.History(t.Context(), ref)
			must.NoError(t, err)
			var kept []string
			for _, v := range history {
				kept = append(kept, v.Version)
			}
			want := slices.Clone(published[keep:])
			slices.Reverse(want)
			if !slices.Equal(kept, want) {
				t.Errorf("history %v; want the last %d, the newest first: %v", kept, keep, want)
			}
			slices.Sort(published)
			if len(slices.Compact(published)) != 2*keep {
				t.Errorf("two versions have the same name: %v", published)
			}
		})
	}
}
