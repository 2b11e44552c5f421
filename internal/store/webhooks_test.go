package store_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/store"
)

func webhook(id string, datasets ...string) herb.Webhook {
	return herb.Webhook{ID: id, URL: "https://example.org/" + herb.Address(id), Secret: "whsec_" + herb.Secret(id),
		Datasets: datasets, Created: day}
}

func addWebhook(t *testing.T, s Store, w herb.Webhook) {
	t.Helper()
	must.NoError(t, s.AddWebhook(t.Context(), w, "datasets "+strings.Join(w.Datasets, ",")))
}

// Webhooks adds, lists, disables and removes webhooks.
func (suite) Webhooks(t *testing.T, db Database) {
	s := open(t, db)
	a, b := webhook("a", "*"), webhook("b", "garden/*", "shop/prices")
	b.Protected, b.Private = true, true
	addWebhook(t, s, b)
	addWebhook(t, s, a)
	wantResult(t, "webhooks", []herb.Webhook{a, b})(s.Webhooks(t.Context()))
	for range 2 {
		must.NoError(t, s.DisableWebhook(t.Context(), "a", "status 410", day))
	}
	a.Disabled = day
	wantResult(t, "with a disabled one", []herb.Webhook{a, b})(s.Webhooks(t.Context()))
	must.NoError(t, s.RemoveWebhook(t.Context(), "a"))
	wantCode(t, s.RemoveWebhook(t.Context(), "a"), herb.CodeNotFound, `no such webhook "a"`)
	entries, err := s.AuditEntries(t.Context(), herb.AuditQuery{})
	must.NoError(t, err)
	var got []string
	for _, e := range entries {
		got = append(got, string(e.Action)+" "+e.Subject+" "+e.Detail)
	}
	wantEqual(t, "audit log", []string{
		"webhook.add b datasets garden/*,shop/prices", "webhook.add a datasets *",
		"webhook.disable a reason: status 410", "webhook.remove a ",
	}, got)
	for i := range store.MaxWebhooks - 1 {
		addWebhook(t, s, webhook(fmt.Sprint(i), "*"))
	}
	wantCode(t, s.AddWebhook(t.Context(), a, ""), herb.CodeRejected, "there are 50 webhooks")
}

// deliveries returns the deliveries of a webhook as type and data.
func deliveries(t *testing.T, s Store, webhook string) (types []herb.EventType, data []herb.EventData) {
	t.Helper()
	all, err := s.Deliveries(t.Context(), webhook, 100)
	must.NoError(t, err)
	for _, d := range all {
		types, data = append(types, d.Type), append(data, d.Data)
		if d.State != store.DeliveryPending || !strings.HasPrefix(d.Event, "msg_") || !d.Due.Equal(d.Created) ||
			time.Since(d.Created) > time.Hour {
			t.Errorf("%+v", d)
		}
	}
	return types, data
}

// WebhookEvents changes datasets and compares the events that webhooks get.
func (suite) WebhookEvents(t *testing.T, db Database) {
	s := open(t, db)
	all := webhook("all", "*")
	all.Protected = true
	for _, w := range []herb.Webhook{all, webhook("public", "*"), webhook("seeds", "garden/seeds"),
		webhook("off", "*")} {
		addWebhook(t, s, w)
	}
	must.NoError(t, s.DisableWebhook(t.Context(), "off", "", day))
	version := func(n int, access herb.Access, message string) herb.Dataset {
		d := dataset(catalog, n)
		d.Access, d.Message = access, message
		if n > 1 {
			d.Compared = &herb.RecordChanges{Since: versionName(catalog, n-1), Added: 10 * n, Removed: n, Changed: 1}
		}
		return d
	}
	v1, v2, v3 := versionName(catalog, 1), versionName(catalog, 2), versionName(catalog, 3)
	must.NoError(t, s.addVersion(t.Context(), version(1, herb.AccessKey, ""), ""))
	must.NoError(t, s.addVersion(t.Context(), version(2, herb.AccessOpen, "Second"), v1))
	must.NoError(t, s.addVersion(t.Context(), version(3, herb.AccessOpen, ""), v2))
	must.NoError(t, s.SetLive(t.Context(), catalog, v2, v3))
	must.NoError(t, s.SetLive(t.Context(), catalog, v3, v2))
	must.NoError(t, s.SetLive(t.Context(), catalog, v1, v3)) // the counts are not known
	must.NoError(t, s.SetLive(t.Context(), catalog, v3, v1))
	must.NoError(t, s.AddUnpublished(t.Context(), catalog, herb.AuditRejected, "reason: rejected"))
	must.NoError(t, s.AddUnpublished(t.Context(), herb.Ref{Namespace: "garden", Name: "new"}, herb.AuditRejected, ""))
	must.NoError(t, s.AddUnpublished(t.Context(), catalog, herb.AuditFailed, "reason: invalid"))
	must.NoError(t, s.addVersion(t.Context(), version(4, herb.AccessKey, ""), v3))
	if err := s.addVersion(t.Context(), version(5, herb.AccessKey, ""), v1); err == nil {
		t.Error("an overtaken version went live")
	}
	_, err := s.RemoveDataset(t.Context(), catalog, "", day)
	must.NoError(t, err)

	types, data := deliveries(t, s, "all")
	wantEqual(t, "types", []herb.EventType{
		herb.EventPublished, herb.EventPublished, herb.EventPublished, herb.EventRolledBack, herb.EventRolledBack,
		herb.EventRolledBack, herb.EventRolledBack,
		herb.EventRejected, herb.EventRejected, herb.EventFailed, herb.EventPublished, herb.EventRemoved,
	}, types)
	event := func(version, previous, message string, counts ...int) herb.EventData {
		d := herb.EventData{Dataset: catalog.String(), Version: version, Previous: previous, Message: message}
		if counts != nil {
			d.Counts = &herb.EventCounts{Added: counts[0], Removed: counts[1], Changed: 1}
		}
		return d
	}
	v4 := versionName(catalog, 4)
	wantEqual(t, "events", []herb.EventData{
		event(v1, "", ""), event(v2, v1, "Second", 20, 2), event(v3, v2, "", 30, 3), event(v2, v3, "Second", 3, 30),
		event(v3, v2, "", 30, 3),
		event(v1, v3, ""), event(v3, v1, ""), event("", v3, ""), {Dataset: "garden/new"}, event("", v3, ""),
		event(v4, v3, "", 40, 4), event("", v4, ""),
	}, data)
	_, data = deliveries(t, s, "public")
	wantEqual(t, "events of open versions", []herb.EventData{
		event(v2, "", "Second"), event(v3, v2, "", 30, 3), event(v2, v3, "Second", 3, 30), event(v3, v2, "", 30, 3),
		event(v3, "", ""), event("", v3, ""),
		event("", v3, ""),
	}, data)
	for _, id := range []string{"seeds", "off"} {
		if types, _ := deliveries(t, s, id); types != nil {
			t.Errorf("%s has %v", id, types)
		}
	}
	one, err := s.Deliveries(t.Context(), "all", 1)
	must.NoError(t, err)
	other, err := s.Deliveries(t.Context(), "", 1000)
	if err != nil || len(one) != 1 || one[0].Type != herb.EventRemoved || len(other) != 19 {
		t.Errorf("the newest is %+v; there are %d, %v", one, len(other), err)
	}
}

// WebhookOverdue announces overdue versions, as several nodes do every minute.
func (suite) WebhookOverdue(t *testing.T, db Database) {
	s, other := open(t, db), open(t, db)
	addWebhook(t, s, webhook("public", "*"))
	addWebhook(t, s, webhook("seeds", "garden/seeds"))
	first, second := dataset(catalog, 1), dataset(catalog, 2)
	first.Access, second.Access = herb.AccessOpen, herb.AccessOpen
	first.Descriptor = herb.NewDescriptor([]byte(`{"resource":{"herbarium":{"expected":"2h"}}}`))
	must.NoError(t, s.addVersion(t.Context(), first, ""))
	found, err := s.Changes(t.Context(), -1)
	must.NoError(t, err)
	live := found.Datasets[0]
	if got := live.FreshnessAt(first.Published.Add(4 * time.Hour)); got.State != herb.Overdue {
		t.Errorf("the catalogue has %+v", live)
	}
	for range 2 {
		must.NoError(t, s.AddOverdue(t.Context(), live))
		must.NoError(t, other.AddOverdue(t.Context(), live))
	}
	must.NoError(t, s.addVersion(t.Context(), second, first.Version))
	must.NoError(t, s.AddOverdue(t.Context(), live)) // it is not live any more
	types, data := deliveries(t, s, "public")
	wantEqual(t, "types", []herb.EventType{herb.EventPublished, herb.EventOverdue, herb.EventPublished}, types)
	wantEqual(t, "overdue", herb.EventData{Dataset: catalog.String(), Previous: first.Version}, data[1])
	if types, _ := deliveries(t, s, "seeds"); types != nil {
		t.Errorf("another dataset: %v", types)
	}
}

// WebhookClaims claims deliveries like two nodes, of which one dies.
func (suite) WebhookClaims(t *testing.T, db Database) {
	s, other := open(t, db), open(t, db)
	w := webhook("a", "*")
	w.Protected = true
	addWebhook(t, s, w)
	now := time.Now().Add(time.Minute).UTC().Truncate(time.Microsecond)
	lease := now.Add(time.Minute)
	wantResult(t, "due", []herb.Webhook(nil))(s.DueWebhooks(t.Context(), now))
	add(t, s, catalog, 1, 1)
	counted := dataset(catalog, 2)
	counted.Compared, counted.Message = &herb.RecordChanges{Since: "catalog-v1", Added: 1}, "Second"
	must.NoError(t, s.addVersion(t.Context(), counted, "catalog-v1"))
	add(t, s, catalog, 3, 3)
	wantResult(t, "due", []herb.Webhook{w})(s.DueWebhooks(t.Context(), now))
	wantResult(t, "due earlier", []herb.Webhook(nil))(s.DueWebhooks(t.Context(), now.Add(-time.Hour)))
	claim := func(s Store, at time.Time, limit int, want ...string) []store.Delivery {
		t.Helper()
		claimed, err := s.ClaimDeliveries(t.Context(), "a", limit, at, at.Add(time.Minute))
		must.NoError(t, err)
		var got []string
		for _, d := range claimed {
			got = append(got, fmt.Sprint(d.Data.Version, " ", d.Attempts))
		}
		wantEqual(t, "claimed", want, got, cmpopts.EquateEmpty())
		return claimed
	}
	first := claim(s, now, 2, "catalog-v1 1", "catalog-v2 1")
	if got := first[1].Data; got.Message != "Second" || got.Counts == nil {
		t.Errorf("claimed %+v", got)
	}
	claim(other, now, 2, "catalog-v3 1")
	claim(other, lease.Add(-1), 2)
	wantResult(t, "due while all are claimed", []herb.Webhook(nil))(s.DueWebhooks(t.Context(), now))
	second := claim(other, lease, 1, "catalog-v1 2") // the first node died

	record := func(s Store, d store.Delivery, want bool) {
		t.Helper()
		if got, err := s.RecordAttempt(t.Context(), d); err != nil || got != want {
			t.Errorf("recorded: %t, %v; want %t", got, err, want)
		}
	}
	late := first[0] // it was only slow
	late.State, late.Attempted, late.Result = store.DeliveryDelivered, lease, "status 200"
	record(s, late, false)
	done := second[0]
	done.State, done.Attempted, done.Result = store.DeliveryDelivered, lease, "status 204"
	record(other, done, true)
	record(other, done, false)
	again := first[1]
	again.Due, again.Attempted, again.Result = lease.Add(time.Hour), lease, "status 500"
	record(s, again, true)
	claim(s, lease.Add(time.Hour-1), 9, "catalog-v3 2")
	must.NoError(t, s.Withdraw(t.Context(), catalog, "catalog-v1", day, day))
	last := claim(s, lease.Add(2*time.Hour), 9, "catalog-v2 2", "catalog-v3 3")
	if got := last[0].Data; got.Previous != "catalog-v1" || got.Counts != nil || got.Message != "Second" {
		t.Errorf("an event that counts the records of a withdrawn version: %+v", got)
	}
	must.NoError(t, s.Withdraw(t.Context(), catalog, "catalog-v2", day, day))
	if got := claim(s, lease.Add(3*time.Hour), 9, "catalog-v2 3", "catalog-v3 4")[0].Data; got.Message != "" {
		t.Errorf("an event about a withdrawn version: %+v", got)
	}
	wantResult(t, "counts", store.DeliveryCounts{Pending: 1, Retrying: 1})(s.CountDeliveries(t.Context()))
	all, err := s.Deliveries(t.Context(), "a", 9)
	must.NoError(t, err)
	if d := all[1]; d.State != store.DeliveryRetrying {
		t.Errorf("retrying: %+v", d)
	}
	if d := all[0]; d.State != store.DeliveryDelivered || !d.Due.IsZero() || !d.Attempted.Equal(lease) ||
		d.Result != "status 204" || d.Attempts != 2 {
		t.Errorf("delivered: %+v", d)
	}
	wantResult(t, "resent", int64(2))(s.ResendDeliveries(t.Context(), "a", nil, now))
	claim(s, now, 9, "catalog-v2 1", "catalog-v3 1")
	wantResult(t, "resent by event",
		int64(1))(s.ResendDeliveries(t.Context(), "a", []string{done.Event, "msg_none"}, now))
	claim(s, now, 9, "catalog-v1 1")
	must.NoError(t, s.DisableWebhook(t.Context(), "a", "gone", now))
	if _, err := s.ResendDeliveries(t.Context(), "a", nil, now); herb.CodeOf(err) != herb.CodeRejected {
		t.Errorf("resending events of a disabled webhook: %v", err)
	}
	record(s, last[0], false)
	wantResult(t, "counts of a disabled webhook", store.DeliveryCounts{Failed: 3})(s.CountDeliveries(t.Context()))
	must.NoError(t, s.DeleteDeliveries(t.Context(), now.Add(-time.Hour)))
	wantResult(t, "counts", store.DeliveryCounts{Failed: 3})(s.CountDeliveries(t.Context()))
	must.NoError(t, s.DeleteDeliveries(t.Context(), now))
	wantResult(t, "counts after they were deleted", store.DeliveryCounts{})(s.CountDeliveries(t.Context()))
}

// WebhookConcurrency has many nodes claim at the same time: each attempt has one.
func (suite) WebhookConcurrency(t *testing.T, db Database) {
	s := open(t, db)
	w := webhook("a", "*")
	w.Protected = true
	addWebhook(t, s, w)
	add(t, s, catalog, 1, 6)
	now := time.Now().Add(time.Minute)
	var claimed atomic.Int64
	concurrently(6, func(int) {
		got, err := s.ClaimDeliveries(t.Context(), "a", 2, now, now.Add(time.Minute))
		if err != nil {
			t.Error(err)
		}
		claimed.Add(int64(len(got)))
	})
	if n := claimed.Load(); n != 6 {
		t.Errorf("6 deliveries were claimed %d times", n)
	}
	must.NoError(t, s.RemoveWebhook(t.Context(), "a"))
	if all, err := s.Deliveries(t.Context(), "", 9); err != nil || len(all) != 0 {
		t.Errorf("deliveries of a removed webhook: %v, %v", all, err)
	}
}
