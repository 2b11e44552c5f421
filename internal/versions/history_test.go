package versions_test

import (
	"database/sql"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/versions"
	"herbarium/internal/versions/versionstest"
)

func TestHistory(t *testing.T) {
	t.Parallel()
	s := versionstest.NewSharedDir(t)
	l := s.Open(t)
	const published = versions.DefaultKeep + 3
	var names []string
	for n := 1; n <= published; n++ {
		names = append(names, versionstest.Publish(t, l, n).Version)
	}
	history, err := l.History(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	if len(history) != versions.DefaultKeep || len(s.Files(t)) != versions.DefaultKeep {
		t.Fatalf("%d versions and the files %v are kept; want %d", len(history), s.Files(t), versions.DefaultKeep)
	}
	for i, v := range history {
		if v.Version != names[published-1-i] || v.Records != published-i || v.Live != (i == 0) {
			t.Errorf("entry %d of the history is %+v", i, v)
		}
	}
	for step := 1; step < versions.DefaultKeep; step++ {
		back, err := l.Rollback(t.Context(), ref, "")
		if err != nil || back != names[published-1-step] ||
			versionstest.Total(t, versionstest.Acquire(t, l)) != published-step {
			t.Fatalf("step %d back: %s, %v", step, back, err)
		}
	}
	if _, err := l.Rollback(t.Context(), ref, ""); herb.CodeOf(err) != herb.CodeInvalid {
		t.Errorf("rolling back past the oldest: %v", err)
	}
	if _, err := l.Rollback(t.Context(), ref, names[published-1]); err != nil ||
		versionstest.Total(t, versionstest.Acquire(t, l)) != published {
		t.Errorf("rolling forward: %v", err)
	}
	if _, err := l.Rollback(t.Context(), ref, "20240229T133000Z-abcdefghij"); herb.CodeOf(err) != herb.CodeGone {
		t.Errorf("an unknown version: %v", err)
	}
	if err := l.Remove(t.Context(), ref, ""); err != nil || len(s.Files(t)) != 0 {
		t.Errorf("Remove: %v; left %v", err, s.Files(t))
	}
}

// TestRollback_previous rolls back to the version that was live before, and never to one that was
// rolled back, whatever else happens to the versions meanwhile.
func TestRollback_previous(t *testing.T) {
	t.Parallel()
	for name, steps := range map[string][]string{
		"bad": {"publish good", "publish bad", "rollback good", "publish fixed",
			"states fixed=live bad=rolled back good=previous", "rollback good"},
		"again": {"publish a", "publish b", "rollback a", "publish c", "publish d", "rollback c", "rollback a",
			"states d=rolled back c=rolled back b=rolled back a=live", "fail"},
		"skipped": {"publish a", "publish b", "publish c", "to a", "fail", "publish d", "rollback a"},
		"forward": {"publish a", "publish b", "rollback a", "to b", "states b=live a=previous", "publish c",
			"states c=live b=previous a=", "rollback b", "rollback a"},
		"withdrawn": {"publish a", "publish bad", "rollback a", "publish leak", "publish c", "withdraw leak",
			"states c=live bad=rolled back a=previous", "rollback a"},
		"kept": {"publish good", "publish b1", "publish b2", "publish b3", "publish b4", "to good",
			"publish c", "states c=live b4=rolled back b3=rolled back b2=rolled back good=previous", "rollback good"},
		"earlier": {"publish a", "publish b", "publish c", "forget", "states c=live b=previous a=", "rollback b",
			"rollback a", "fail"},
		"earlier, since": {"publish good", "publish bad", "rollback good", "publish c", "forget",
			"states c=live bad=rolled back good=previous", "publish d", "rollback c", "rollback good"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := versionstest.NewSharedDir(t)
			l := s.Open(t)
			published, names := map[string]string{}, map[string]string{}
			for i, step := range steps {
				action, arg, _ := strings.Cut(step, " ")
				var err error
				switch action {
				case "publish":
					published[arg] = versionstest.Publish(t, l, i+1).Version
					names[published[arg]] = arg
				case "rollback":
					var live string
					live, err = l.Rollback(t.Context(), ref, "")
					if names[live] != arg {
						t.Fatalf("step %d, %s: version %s is live", i, step, names[live])
					}
				case "to":
					_, err = l.Rollback(t.Context(), ref, published[arg])
				case "fail":
					if _, failed := l.Rollback(t.Context(), ref, ""); herb.CodeOf(failed) != herb.CodeInvalid {
						t.Errorf("step %d: %v", i, failed)
					}
				case "withdraw":
					err = l.Withdraw(t.Context(), ref, published[arg])
				case "forget": // as if an earlier release had published all versions
					raw, failed := sql.Open("sqlite", filepath.Join(s.Dir, "test.db"))
					must.NoError(t, failed)
					must.CloseAfter(t, raw)
					_, err = raw.ExecContext(t.Context(),
						"UPDATE versions SET details = json_remove(details, '$.predecessors')")
				case "states":
					history, failed := l.History(t.Context(), ref)
					must.NoError(t, failed)
					var states []string
					for _, v := range history {
						states = append(states, names[v.Version]+"="+string(v.State))
					}
					if got := strings.Join(states, " "); got != arg {
						t.Errorf("step %d: the history is %s, want %s", i, got, arg)
					}
				}
				if err != nil {
					t.Fatalf("step %d, %s: %v", i, step, err)
				}
			}
		})
	}
}

func TestHistory_changes(t *testing.T) {
	t.Parallel()
	l := versionstest.NewSharedDir(t).Open(t)
	for _, n := range []int{3, 3, 5} {
		versionstest.Publish(t, l, n)
	}
	infos, err := l.History(t.Context(), ref)
	if err != nil || len(infos) != 3 {
		t.Fatalf("%d versions, %v", len(infos), err)
	}
	kinds := func(e versions.Version) (out []versions.ChangeKind) {
		for _, c := range e.Changes {
			out = append(out, c.Kind)
		}
		return out
	}
	if got := kinds(infos[0]); !slices.Equal(got, []versions.ChangeKind{versions.RecordsChanged}) || !infos[0].Live ||
		infos[0].First {
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
	if _, err := l.History(t.Context(),
		herb.Ref{Namespace: "no", Name: "thing"}); herb.CodeOf(err) != herb.CodeNotFound {
		t.Errorf("an unknown dataset: %v", err)
	}
}
