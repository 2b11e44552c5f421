package store_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/store"
)

// Drafts checks the records of drafts, which every node can read and change.
func (suite) Drafts(t *testing.T, db Database) {
	s, other := open(t, db), open(t, db)
	_, err := s.Draft(t.Context(), "x")
	wantCode(t, err, herb.CodeNotFound)
	fits := func(int, int) error { return nil }
	a := store.Draft{ID: store.NewDraftID(), Owner: "ann", Updated: day, Content: []byte(`{}`)}
	must.NoError(t, s.AddDraft(t.Context(), a, day.Add(-time.Hour), fits))
	read := a.Updated
	a.Stored, a.Updated, a.Content = true, day.Add(time.Minute), []byte(`{"edits":{}}`)
	for _, want := range []bool{true, false} { // the second one is late
		if ok, err := other.ReplaceDraft(t.Context(), a, read); err != nil || ok != want {
			t.Errorf("replaced: %t, %v", ok, err)
		}
	}
	got, err := s.Draft(t.Context(), a.ID)
	must.NoError(t, err)
	wantEqual(t, "draft", a, got)
	b := store.Draft{ID: store.NewDraftID(), Owner: "bob", Stored: true, Updated: day.Add(time.Hour),
		Content: []byte(`{}`)}
	must.NoError(t, other.AddDraft(t.Context(), b, day, fits))
	for owner, want := range map[string][]store.Draft{"ann": {a}, "bob": {b}, "eve": nil} {
		got, err := s.Drafts(t.Context(), owner, day)
		must.NoError(t, err)
		wantEqual(t, owner, want, got)
	}
	if ids, err := s.DraftIDs(t.Context(), b.Updated); err != nil || len(ids) != 1 || ids[0] != b.ID {
		t.Errorf("since the second one: %v, %v", ids, err)
	}
	must.NoError(t, s.RemoveDraft(t.Context(), b.ID))
	must.NoError(t, s.RemoveDraft(t.Context(), b.ID))
	c := store.Draft{ID: store.NewDraftID(), Owner: "ann", Updated: day.Add(time.Hour), Content: []byte(`{}`)}
	must.NoError(t, s.AddDraft(t.Context(), c, a.Updated.Add(time.Microsecond), fits)) // removes the expired one
	_, err = s.Draft(t.Context(), a.ID)
	wantCode(t, err, herb.CodeNotFound)
}

// DraftsConcurrently adds drafts through two connections at once. Neither the limit of a key nor
// that of all is exceeded.
func (suite) DraftsConcurrently(t *testing.T, db Database) {
	nodes := []Store{open(t, db), open(t, db)}
	full := herb.Errorf(herb.CodeRejected, "too many")
	const most, tried = 5, 12
	var adding sync.WaitGroup
	var added [2]atomic.Int64
	for n := range 2 * tried {
		adding.Go(func() {
			d := store.Draft{ID: store.NewDraftID(), Owner: []string{"ann", "bob"}[n%2], Updated: day,
				Content: []byte(`{}`)}
			err := nodes[n/2%2].AddDraft(t.Context(), d, day.Add(-time.Hour), func(own, all int) error {
				if own >= most || all >= 2*most {
					return full
				}
				return nil
			})
			if err == nil {
				added[n%2].Add(1)
			} else {
				wantCode(t, err, herb.CodeRejected)
			}
		})
	}
	adding.Wait()
	ids, err := nodes[0].DraftIDs(t.Context(), time.Time{})
	must.NoError(t, err)
	if added[0].Load() != most || added[1].Load() != most || len(ids) != 2*most {
		t.Errorf("%d and %d drafts were added; there are %v", added[0].Load(), added[1].Load(), ids)
	}
}
