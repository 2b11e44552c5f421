package library_test

import (
	"slices"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/library"
)

func TestHistory_changes(t *testing.T) {
	t.Parallel()
	l := newSharedDir(t).open(t)
	for _, n := range []int{3, 3, 5} {
		publish(t, l, n)
	}
	infos, err := l.History(t.Context(), ref)
	if err != nil || len(infos) != 3 {
		t.Fatalf("%d versions, %v", len(infos), err)
	}
	kinds := func(e library.VersionInfo) (out []library.ChangeKind) {
		for _, c := range e.Changes {
			out = append(out, c.Kind)
		}
		return out
	}
	if got := kinds(infos[0]); !slices.Equal(got, []library.ChangeKind{library.RecordsOther}) || !infos[0].Live || infos[0].First {
		t.Errorf("the newest version: %v %+v", got, infos[0])
	}
	if len(infos[1].Changes) != 0 || infos[1].First || infos[1].Live || infos[1].Report == nil {
		t.Errorf("a version with as many records: %+v", infos[1])
	}
	if !infos[2].First || infos[2].Records != 3 {
		t.Errorf("the oldest version: %+v", infos[2])
	}
	if mutable, err := l.History(t.Context(), herb.PlantsRef); err != nil || len(mutable) != 1 || !mutable[0].Live {
		t.Errorf("a mutable dataset: %+v, %v", mutable, err)
	}
	if _, err := l.History(t.Context(), herb.Ref{Namespace: "no", Name: "thing"}); herb.CodeOf(err) != herb.CodeNotFound {
		t.Errorf("an unknown dataset: %v", err)
	}
}
