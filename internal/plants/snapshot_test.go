package plants_test

import (
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/plants"
	"herbarium/internal/query"
)

// countTags returns the counts of the tags of a snapshot.
func countTags(t *testing.T, s *plants.Snapshot) (query.Facets, error) {
	t.Helper()
	q, err := query.ParseFacets("field=tag", herb.PlantFields())
	if err != nil {
		t.Fatal(err)
	}
	return s.Facets(t.Context(), q)
}

// TestSnapshot_Facets counts plants that are in several segments: in memory, in files, and in
// segments that were merged for a later snapshot.
func TestSnapshot_Facets(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name          string
		sealAt, files int // files: at the end
	}{
		{"in memory", 1000, 0},
		{"in files", 20, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			log, dir := newMemoryLog(0), t.TempDir()
			x := plants.NewIndex(log, plants.IndexOptions{Dir: dir, SealAt: tt.sealAt})
			var snapshots []*plants.Snapshot
			for _, n := range []int{100, 3, 3} {
				log.create(n)
				snapshots = append(snapshots, acquire(t, x))
			}
			last := len(snapshots) - 1
			for i := last; i >= 0; i-- {
				f, err := countTags(t, snapshots[i])
				if least := snapshots[i].Dataset.Records; err != nil || f.Total < least || f.Total > len(log.plants) ||
					i == last && f.Total != least {
					t.Errorf("snapshot of %d plants: %d, %v", least, f.Total, err)
				}
			}
			wantPlants(t, x, log)
			closeIndex(t, x)
			if n := len(files(t, dir)); n != tt.files {
				t.Errorf("%d files; want %d", n, tt.files)
			}
		})
	}
}

// TestSnapshot_Facets_reset counts the plants of a snapshot whose log was replaced by another one.
func TestSnapshot_Facets_reset(t *testing.T) {
	t.Parallel()
	log := newMemoryLog(0)
	x := openIndex(t, log, plants.IndexOptions{Dir: t.TempDir(), SealAt: 20})
	var s *plants.Snapshot
	for _, n := range []int{100, 3} {
		log.create(n)
		s = acquire(t, x)
	}
	log.mu.Lock()
	log.epoch = "e2"
	log.mu.Unlock()
	if f, err := countTags(t, s); herb.CodeOf(err) != herb.CodeUnavailable {
		t.Errorf("%d plants, %v; want an error", f.Total, err)
	}
}
