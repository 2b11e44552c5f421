package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"herbarium/internal/herb"
	"herbarium/internal/must"
)

// wantAudit checks the entries that a query selects, except for their times.
func wantAudit(t *testing.T, s Store, q herb.AuditQuery, want ...herb.AuditEntry) {
	t.Helper()
	got, err := s.AuditEntries(t.Context(), q)
	must.NoError(t, err)
	wantEqual(t, "audit log", want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(herb.AuditEntry{}, "Time"))
}

// AuditChanges checks that every change is recorded with its actor, and that other calls are not
// recorded.
func (suite) AuditChanges(t *testing.T, db Database) {
	s, other := open(t, db), open(t, db)
	wantAudit(t, s, herb.AuditQuery{})
	ann := herb.WithActor(t.Context(), herb.Actor{ID: "ann", Origin: "desk"})
	before := time.Now().Truncate(time.Microsecond)
	k := key("k1", 1)
	must.NoError(t, s.AddKey(ann, k))
	wantCode(t, s.AddKey(ann, k), herb.CodeInvalid)
	must.NoError(t, s.RevokeKey(ann, "k1", day))
	must.NoError(t, s.RevokeKey(ann, "k1", day)) // it is revoked already
	wantCode(t, s.RevokeKey(ann, "k2", day), herb.CodeNotFound)
	first, second := dataset(catalog, 1), dataset(catalog, 2)
	must.NoError(t, s.addVersion(ann, first, ""))
	must.NoError(t, s.addVersion(ann, second, first.Version))
	wantSuperseded(t, s.addVersion(ann, dataset(catalog, 3), first.Version))
	must.NoError(t, s.SetLive(ann, catalog, first.Version, second.Version))
	wantCode(t, s.SetLive(ann, catalog, "v9", first.Version), herb.CodeGone)
	_, err := s.RemoveDataset(ann, catalog, "", day)
	must.NoError(t, err)
	rejected := herb.AuditEntry{Action: herb.AuditPublished, Subject: seeds.String(), Result: herb.AuditRejected,
		Detail: "reason: refused"}
	must.NoError(t, s.AddAuditEntry(t.Context(), rejected))
	rejected.Actor = "unknown"
	entry := func(action herb.AuditAction, subject, detail string) herb.AuditEntry {
		return herb.AuditEntry{Action: action, Subject: subject, Actor: "ann", Origin: "desk", Result: herb.AuditOK,
			Detail: detail}
	}
	published := func(d herb.Dataset) string {
		return fmt.Sprintf("version %s, %d records, access %s", d.Version, d.Records, d.Access)
	}
	all := []herb.AuditEntry{
		entry(herb.AuditKeyCreated, "k1", `name "key of k1", scopes plants:write data:read:garden/*`),
		entry(herb.AuditKeyRevoked, "k1", ""),
		entry(herb.AuditPublished, catalog.String(), published(first)),
		entry(herb.AuditPublished, catalog.String(), published(second)),
		entry(herb.AuditRolledBack, catalog.String(), "version "+first.Version),
		entry(herb.AuditRemoved, catalog.String(), "2 versions"),
		rejected,
	}
	wantAudit(t, other, herb.AuditQuery{}, all...)
	wantAudit(t, other, herb.AuditQuery{Subject: seeds.String()}, rejected)
	wantAudit(t, other, herb.AuditQuery{Limit: 2}, all[5:]...)
	wantAudit(t, other, herb.AuditQuery{Since: before}, all...)
	wantAudit(t, other, herb.AuditQuery{Since: time.Now().Add(time.Hour)})
}

// AuditBounded checks that old entries are removed.
func (suite) AuditBounded(t *testing.T, db Database) {
	s := open(t, db)
	add := func(subject string, age time.Duration) {
		t.Helper()
		must.NoError(t, s.AddAuditEntry(t.Context(), herb.AuditEntry{Action: herb.AuditKeyRevoked, Subject: subject,
			Time: day.Add(-age)}))
	}
	add("too old", 366*24*time.Hour)
	add("old", 364*24*time.Hour)
	add("new", 0)
	entries, err := s.AuditEntries(t.Context(), herb.AuditQuery{})
	must.NoError(t, err)
	var got []string
	for _, e := range entries {
		got = append(got, e.Subject+" "+e.Time.Format(time.RFC3339))
	}
	wantEqual(t, "audit log", []string{"old 2023-05-19T09:30:00Z", "new 2024-05-17T09:30:00Z"}, got)
}
