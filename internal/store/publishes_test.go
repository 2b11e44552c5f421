package store_test

import (
	"testing"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/store"
)

// Publishes checks the records of publishes, which every program with the database can read.
func (suite) Publishes(t *testing.T, db Database) {
	s, other := open(t, db), open(t, db)
	_, err := s.Publish(t.Context(), "a")
	wantCode(t, err, herb.CodeNotFound)
	wantRecord := func(want store.Publish) {
		t.Helper()
		got, err := other.Publish(t.Context(), want.ID)
		must.NoError(t, err)
		wantEqual(t, "record", want, got)
	}
	a := store.Publish{ID: "a", Running: true, Updated: day, Content: []byte(`{"state":"reading"}`)}
	must.NoError(t, s.AddPublish(t.Context(), a, day.Add(-time.Hour)))
	wantRecord(a)
	a.Updated, a.Content = day.Add(time.Minute), []byte(`{"state":"building"}`)
	must.NoError(t, s.UpdatePublish(t.Context(), a))
	wantRecord(a)

	given := store.Publish{ID: "a", Updated: day.Add(2 * time.Minute), Content: []byte(`{"state":"failed"}`)}
	wantAbandoned := func(before time.Time, want ...store.Publish) {
		t.Helper()
		got, err := other.AbandonedPublishes(t.Context(), before)
		must.NoError(t, err)
		wantEqual(t, "abandoned", want, got)
	}
	// of a node of an earlier release
	draft := store.Publish{ID: "draft-a", Running: true, Updated: day, Content: []byte(`{}`)}
	must.NoError(t, s.AddPublish(t.Context(), draft, day.Add(-time.Hour)))
	_, err = s.Publish(t.Context(), draft.ID)
	wantCode(t, err, herb.CodeNotFound)
	if ids, err := s.DraftIDs(t.Context(), day); err != nil || len(ids) != 1 || ids[0] != draft.ID {
		t.Errorf("drafts whose files are needed: %v, %v", ids, err)
	}
	wantAbandoned(a.Updated)
	wantAbandoned(a.Updated.Add(time.Microsecond), a)
	ctx, entry := herb.WithActor(t.Context(), herb.Actor{ID: "key1"}),
		&herb.AuditEntry{Time: day, Action: herb.AuditPublished, Subject: "a/b"}
	for _, tt := range []struct {
		read time.Time
		want bool
	}{{day, false}, {a.Updated, true}, {a.Updated, false}, {given.Updated, false}} {
		// renewed meanwhile, abandoned, ended already
		ended, err := other.EndPublish(ctx, given, tt.read, entry)
		must.NoError(t, err)
		if ended != tt.want {
			t.Errorf("a record that was read at %v was ended: %t", tt.read, ended)
		}
	}
	wantRecord(given)
	wantAbandoned(day.Add(time.Hour))
	if entries, err := s.AuditEntries(t.Context(), herb.AuditQuery{}); err != nil || len(entries) != 1 ||
		entries[0].Actor != "key1" || entries[0].Subject != "a/b" {
		t.Errorf("audit log: %+v, %v", entries, err)
	}
	a.Running, a.Updated = false, day.Add(3*time.Minute)
	must.NoError(t, s.UpdatePublish(t.Context(), a)) // its server was only slow
	wantRecord(a)

	must.NoError(t, s.AddPublish(t.Context(),
		store.Publish{ID: "b", Updated: day.Add(time.Hour), Content: []byte(`{}`)}, a.Updated))
	wantRecord(a)
	must.NoError(t, s.AddPublish(t.Context(),
		store.Publish{ID: "c", Updated: day.Add(time.Hour), Content: []byte(`{}`)}, a.Updated.Add(1)))
	wantRecord(a) // times are stored in microseconds
	must.NoError(t, s.AddPublish(t.Context(),
		store.Publish{ID: "d", Updated: day.Add(time.Hour), Content: []byte(`{}`)}, a.Updated.Add(time.Microsecond)))
	_, err = s.Publish(t.Context(), "a")
	wantCode(t, err, herb.CodeNotFound)
}
