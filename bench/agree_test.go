package bench_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/bench/gen"
	"herbarium/bench/peer"
	"herbarium/internal/must"
	"herbarium/internal/query"
)

// TestPeerAgrees checks that the engine and the peer find the same number of records for every
// shape, and the same records unless they are ordered by relevance.
func TestPeerAgrees(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	// The seed is chosen so that the rare word and the phrase occur although there are few records.
	path, err := gen.File(t.Context(), dir, 2, 3000)
	must.NoError(t, err)
	db := filepath.Join(dir, "peer.db")
	must.NoError(t, peer.Load(t.Context(), path, db))
	p, err := peer.Open(t.Context(), db)
	must.NoError(t, err)
	t.Cleanup(func() { must.NoError(t, p.Close()) })
	l, fields := open(t, path)
	for _, shape := range resolve(t, l, fields) {
		t.Run(shape.Name, func(t *testing.T) {
			if shape.Total == 0 {
				t.Error("no record matches")
			}
			r, err := query.Parse(shape.Raw, fields)
			must.NoError(t, err)
			want, err := l.List(t.Context(), r)
			must.NoError(t, err)
			got, err := p.List(t.Context(), r)
			must.NoError(t, err)
			if got.Total != want.Total {
				t.Errorf("the peer finds %d records and the engine %d", got.Total, want.Total)
			}
			if diff := cmp.Diff(lines(want), lines(got)); diff != "" && !shape.Relevance() {
				t.Errorf("records of the engine (-) and the peer (+):\n%s", diff)
			}
		})
	}
}

func lines(p query.Page) []string {
	out := make([]string, len(p.Records))
	for i, r := range p.Records {
		out[i] = string(r)
	}
	return out
}
