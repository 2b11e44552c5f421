package charts

import (
	"testing"

	"herbarium/internal/query"
)

// TestKindWord checks that the sentence of a chart has words of its own for every kind of measure.
func TestKindWord(t *testing.T) {
	t.Parallel()
	kinds := map[string]query.MeasureKind{}
	for _, k := range query.MeasureKinds() {
		word := kindWord(query.Measure{Kind: k, Percent: 90})
		if other, ok := kinds[word]; ok {
			t.Errorf("%s and %s are both called %q", k, other, word)
		}
		kinds[word] = k
	}
}
