package library_test

import (
	"slices"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/library"
)

func TestEditions(t *testing.T) {
	t.Parallel()
	l := newShelf(t).open(t)
	for _, n := range []int{3, 3, 5} {
		publish(t, l, n)
	}
	editions, err := l.DescribeVersions(t.Context(), ref)
	if err != nil || len(editions) != 3 {
		t.Fatalf("%d editions, %v", len(editions), err)
	}
	kinds := func(e library.VersionInfo) (out []library.ChangeKind) {
		for _, c := range e.Changes {
			out = append(out, c.Kind)
		}
		return out
	}
	if got := kinds(editions[0]); !slices.Equal(got, []library.ChangeKind{library.RecordsOther}) || !editions[0].Live || editions[0].First {
		t.Errorf("the newest edition: %v %+v", got, editions[0])
	}
	if len(editions[1].Changes) != 0 || editions[1].First || editions[1].Live || editions[1].Report == nil {
		t.Errorf("an edition with as many records: %+v", editions[1])
	}
	if !editions[2].First || editions[2].Records != 3 {
		t.Errorf("the oldest edition: %+v", editions[2])
	}
	if living, err := l.DescribeVersions(t.Context(), herb.PlantsRef); err != nil || len(living) != 1 || !living[0].Live {
		t.Errorf("a living dataset: %+v, %v", living, err)
	}
	if _, err := l.DescribeVersions(t.Context(), herb.Ref{Namespace: "no", Name: "thing"}); herb.CodeOf(err) != herb.CodeNotFound {
		t.Errorf("an unknown dataset: %v", err)
	}
}
