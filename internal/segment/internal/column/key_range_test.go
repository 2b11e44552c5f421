package column

import (
	"testing"

	"herbarium/internal/query"
)

// TestKeyRange checks the range of every operator that selects one, and that others are not treated
// as one of these.
func TestKeyRange(t *testing.T) {
	t.Parallel()
	for op, want := range map[query.Op][2]string{
		query.OpGt: {"k\x00", maxKey}, query.OpGte: {"k", maxKey}, query.OpLt: {"", "k"}, query.OpLte: {"", "k\x00"},
		query.OpPrefix: {"k", "l"}, query.OpIEq: {"k\x00", "k\x01"}, query.OpINe: {"k\x00", "k\x01"},
	} {
		if from, to := keyRange(op, query.Operand{Key: "k"}); from != want[0] || to != want[1] {
			t.Errorf("%s: %q to %q; want %q", op, from, to, want)
		}
	}
	for _, op := range []query.Op{query.OpEq, query.OpNe, query.OpContains, query.OpMatch, "later"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s has a range", op)
				}
			}()
			keyRange(op, query.Operand{Key: "k"})
		}()
	}
}
