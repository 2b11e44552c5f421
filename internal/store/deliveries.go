package store

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"herbarium/internal/herb"
)

// Limits of deliveries. Older ones are deleted when an event is added, whatever their state.
const (
	DeliveryRetention = 14 * 24 * time.Hour
	MaxDeliveries     = 100_000 // of all webhooks
)

// Delivery is an event for a webhook.
type Delivery struct {
	ID       int64          `json:"-"`
	Webhook  string         `json:"webhook"`
	Event    string         `json:"id"` // the same for all webhooks
	Type     herb.EventType `json:"type"`
	Created  time.Time      `json:"timestamp"` // of the event
	Data     herb.EventData `json:"data"`
	State    DeliveryState  `json:"state"`
	Attempts int            `json:"attempts"` // that were started
	// of the next attempt; while one runs, when another node may start one
	Due       time.Time `json:"due,omitzero"`
	Attempted time.Time `json:"attempted,omitzero"` // end of the last attempt
	Result    string    `json:"result,omitempty"`   // of the last attempt
}

// DeliveryState is what has become of a delivery.
type DeliveryState string

// The states.
const (
	DeliveryPending   DeliveryState = "pending"
	DeliveryDelivered DeliveryState = "delivered"
	DeliveryFailed    DeliveryState = "failed"   // there are no more attempts
	DeliveryRetrying  DeliveryState = "retrying" // stored as pending: an attempt failed, and another one follows
)

// addEvent stores an event for the webhooks that may see it, in the transaction of the change, so
// that neither exists without the other.
func addEvent(ctx context.Context, tx Tx, e herb.Event) error {
	hooks, err := collect(ctx, tx, scanWebhook, "SELECT "+webhookColumns+" FROM webhooks WHERE disabled IS NULL")
	if err != nil {
		return err
	}
	id, now := cmp.Or(e.ID, "msg_"+strings.ToLower(rand.Text())), time.Now()
	var rows [][]any
	for _, w := range hooks {
		data, ok := w.Principal().SeeEvent(e)
		if !ok || !w.Matches(e.Ref) {
			continue
		}
		content, err := json.Marshal(data)
		if err != nil {
			return fmt.Errorf("encode an event of dataset %s: %w", e.Ref, err)
		}
		rows = append(rows, []any{w.ID, id, string(e.Type), now.UnixMicro(), string(content), string(DeliveryPending),
			0, now.UnixMicro(), ""})
	}
	if len(rows) == 0 {
		return nil
	}
	if err := insert(ctx, tx, "webhook_deliveries (webhook, event, type, created, data, state, attempts, due, result)",
		rows, ""); err != nil {
		return err
	}
	return exec(ctx, tx, "DELETE FROM webhook_deliveries WHERE created < ? OR id <= (SELECT max(id) FROM "+
		"webhook_deliveries) - ?",
		now.Add(-DeliveryRetention).UnixMicro(), MaxDeliveries)
}

// eventVersion returns a version of a dataset as an event names it, and its summary.
func eventVersion(ctx context.Context, tx Tx, ref herb.Ref, version string) (herb.EventVersion,
	herb.VersionSummary, error) {
	found, err := collect(ctx, tx, func(rows *sql.Rows) (herb.ListedVersion, error) { return scanListed(ref, rows) },
		"SELECT "+listedColumns+" FROM versions "+ofRef+" AND version = ?", ref.Namespace, ref.Name, version)
	if err != nil || len(found) == 0 {
		return herb.EventVersion{Name: version}, herb.VersionSummary{}, err
	}
	return herb.EventVersion{Name: version, Access: found[0].Access}, found[0].VersionSummary, nil
}

// addPublished stores the event of a version that replaces the live one, before it does.
func addPublished(ctx context.Context, tx Tx, d herb.Dataset, live string) error {
	previous, _, err := eventVersion(ctx, tx, d.Ref, live)
	if err != nil {
		return err
	}
	return addEvent(ctx, tx, herb.Event{
		Type: herb.EventPublished, Ref: d.Ref, Version: herb.EventVersion{Name: d.Version, Access: d.Access},
		Previous: previous,
		Message:  d.Message, Counts: herb.NewEventCounts(d.Compared),
	})
}

// addRolledBack stores the event of a kept version that replaces the live one. The counts are known
// if one of them has replaced the other.
func addRolledBack(ctx context.Context, tx Tx, ref herb.Ref, version, live string) error {
	previous, replaced, err := eventVersion(ctx, tx, ref, live)
	if err != nil {
		return err
	}
	next, summary, err := eventVersion(ctx, tx, ref, version)
	if err != nil {
		return err
	}
	e := herb.Event{Type: herb.EventRolledBack, Ref: ref, Version: next, Previous: previous, Message: summary.Message}
	switch {
	case replaced.Compared != nil && replaced.Compared.Since == version:
		e.Counts = herb.NewEventCounts(replaced.Compared).Reverse()
	case summary.Compared != nil && summary.Compared.Since == live:
		e.Counts = herb.NewEventCounts(summary.Compared)
	}
	return addEvent(ctx, tx, e)
}

// addUnpublished stores an event without a new version: of a dataset before it is removed, or of a
// publish that was rejected or failed. live is empty if the dataset does not exist.
func addUnpublished(ctx context.Context, tx Tx, event herb.EventType, ref herb.Ref, live string) error {
	previous, _, err := eventVersion(ctx, tx, ref, live)
	if err != nil {
		return err
	}
	return addEvent(ctx, tx, herb.Event{Type: event, Ref: ref, Previous: previous})
}

// OverdueRetention is how long after a version became overdue AddOverdue may be called, so that its
// events are still stored, and it does not add them again.
const OverdueRetention = DeliveryRetention - 24*time.Hour

// AddOverdue stores the event of a live version that has become overdue, unless it is stored
// already or another version is live.
func (s Tables) AddOverdue(ctx context.Context, v herb.LiveVersion) error {
	return s.write(ctx, "adding the event of an overdue dataset", func(ctx context.Context, tx Tx) error {
		now, err := liveVersion(ctx, tx, v.Ref)
		if err != nil || now != v.Version {
			return err
		}
		e := herb.Event{ID: "msg_overdue_" + v.Version, Type: herb.EventOverdue, Ref: v.Ref}
		var stored int
		if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM webhook_deliveries WHERE event = ?",
			e.ID).Scan(&stored); err != nil || stored > 0 {
			return err
		}
		e.Previous, _, err = eventVersion(ctx, tx, v.Ref, v.Version)
		if err != nil {
			return err
		}
		return addEvent(ctx, tx, e)
	})
}

// DueWebhooks returns the webhooks with deliveries whose next attempt is due.
func (s Tables) DueWebhooks(ctx context.Context, now time.Time) ([]herb.Webhook, error) {
	return readRows(ctx, s, "reading due deliveries", scanWebhook, "SELECT "+webhookColumns+
		" FROM webhooks AS w WHERE disabled IS NULL AND EXISTS "+
		"(SELECT 1 FROM webhook_deliveries AS d WHERE d.webhook = w.id AND d.state = 'pending' AND d.due <= ?)",
		now.UnixMicro())
}

const deliveryColumns = "id, webhook, event, type, created, data, state, attempts, due, attempted, result"

func scanDelivery(rows *sql.Rows) (d Delivery, err error) {
	var data []byte
	if err := rows.Scan(&d.ID, &d.Webhook, &d.Event, &d.Type, (*stamp)(&d.Created), &data, &d.State, &d.Attempts,
		(*stamp)(&d.Due),
		(*stamp)(&d.Attempted), &d.Result); err != nil {
		return d, err
	}
	if err := json.Unmarshal(data, &d.Data); err != nil {
		return d, fmt.Errorf("decode delivery %d: %w", d.ID, err)
	}
	if d.State != DeliveryPending {
		d.Due = time.Time{}
	}
	return d, nil
}

// ClaimDeliveries begins attempts at due deliveries of a webhook, oldest first: no other program
// begins one until a time, by which the attempt must have been recorded. What quotes or counts
// records of a version that was withdrawn meanwhile is left out of them.
func (s Tables) ClaimDeliveries(ctx context.Context, webhook string, limit int, now,
	until time.Time) (claimed []Delivery, err error) {
	err = s.write(ctx, "claiming deliveries", func(ctx context.Context, tx Tx) error {
		claimed, err = collect(ctx, tx, scanDelivery,
			"UPDATE webhook_deliveries SET attempts = attempts + 1, due = ? WHERE id IN "+
				"(SELECT id FROM webhook_deliveries WHERE webhook = ? AND state = 'pending' AND due <= ? ORDER BY due, "+
				"id LIMIT ?) RETURNING "+deliveryColumns,
			until.UnixMicro(), webhook, now.UnixMicro(), limit)
		for i := range claimed {
			if err == nil {
				err = omitWithdrawn(ctx, tx, &claimed[i].Data)
			}
		}
		return err
	})
	slices.SortFunc(claimed, func(a, b Delivery) int { return int(a.ID - b.ID) })
	return claimed, err
}

// omitWithdrawn removes what quotes or counts records of withdrawn versions.
func omitWithdrawn(ctx context.Context, tx Tx, d *herb.EventData) error {
	withdrawn, err := collect(ctx, tx, scanValue[string], "SELECT version FROM withdrawn WHERE version IN (?, ?)",
		d.Version, d.Previous)
	if slices.Contains(withdrawn, d.Version) {
		d.Message = ""
	}
	if len(withdrawn) > 0 {
		d.Counts = nil
	}
	return err
}

// RecordAttempt records the state, the due time, the time and the result of an attempt that was
// claimed. It reports false, and does nothing, if another program has claimed the delivery since,
// or it was ended.
func (s Tables) RecordAttempt(ctx context.Context, d Delivery) (recorded bool, err error) {
	err = s.write(ctx, "recording a delivery", func(ctx context.Context, tx Tx) error {
		n, err := execCount(ctx, tx,
			"UPDATE webhook_deliveries SET state = ?, due = ?, attempted = ?, result = ? WHERE id = ? AND attempts = "+
				"? AND state = ?",
			string(d.State), d.Due.UnixMicro(), d.Attempted.UnixMicro(), d.Result, d.ID, d.Attempts,
			string(DeliveryPending))
		recorded = n > 0
		return err
	})
	return recorded && err == nil, err
}

// Deliveries returns the newest deliveries of a webhook, or of all for an empty ID, newest last.
// Pending ones whose last attempt failed have DeliveryRetrying.
func (s Tables) Deliveries(ctx context.Context, webhook string, limit int) ([]Delivery, error) {
	all, err := readRows(ctx, s, "reading deliveries", scanDelivery, "SELECT "+deliveryColumns+
		" FROM webhook_deliveries WHERE webhook = coalesce(nullif(?, ''), webhook) ORDER BY id DESC LIMIT ?",
		webhook, limit)
	slices.Reverse(all)
	for i := range all {
		if all[i].State == DeliveryPending && !all[i].Attempted.IsZero() {
			all[i].State = DeliveryRetrying
		}
	}
	return all, err
}

// ResendDeliveries makes deliveries of a webhook due now, with all attempts: those with an event,
// or without events all that are not delivered. It returns their number. An attempt that runs is
// not recorded, so that it is repeated. The error has herb.CodeRejected if the webhook is disabled.
func (s Tables) ResendDeliveries(ctx context.Context, webhook string, events []string, now time.Time) (n int64,
	err error) {
	err = s.write(ctx, "resending deliveries", func(ctx context.Context, tx Tx) error {
		var disabled stamp
		switch err := tx.QueryRowContext(ctx, "SELECT disabled FROM webhooks WHERE id = ?", webhook).Scan(&disabled); {
		case err != nil:
			return err
		case !time.Time(disabled).IsZero():
			return herb.Errorf(herb.CodeRejected, "the webhook %s is disabled; add it again", webhook)
		}
		which, args := "state <> 'delivered'", []any{now.UnixMicro(), webhook}
		if len(events) > 0 {
			which = "event IN (?" + strings.Repeat(", ?", len(events)-1) + ")"
		}
		for _, e := range events {
			args = append(args, e)
		}
		n, err = execCount(ctx, tx,
			"UPDATE webhook_deliveries SET state = 'pending', attempts = 0, due = ? WHERE webhook = ? AND "+
				which, args...)
		return err
	})
	return n, err
}

// DeliveryCounts is how many deliveries there are.
type DeliveryCounts struct {
	Pending  int // not attempted yet
	Retrying int // failed at least once, with another attempt to come
	Failed   int // without another attempt, as far as they are stored
}

// CountDeliveries counts the deliveries of all webhooks.
func (s Tables) CountDeliveries(ctx context.Context) (c DeliveryCounts, err error) {
	err = s.read(ctx, "counting deliveries", func(ctx context.Context, tx Tx) error {
		return tx.QueryRowContext(ctx, "SELECT count(CASE WHEN state = 'pending' AND attempted IS NULL THEN 1 END), "+
			"count(CASE WHEN state = 'pending' AND attempted IS NOT NULL THEN 1 END), count(CASE WHEN state = "+
			"'failed' THEN 1 END) "+
			"FROM webhook_deliveries").Scan(&c.Pending, &c.Retrying, &c.Failed)
	})
	return c, err
}

// DeleteDeliveries deletes the deliveries of events before a time.
func (s Tables) DeleteDeliveries(ctx context.Context, before time.Time) error {
	return s.writeOne(ctx, "deleting old deliveries", "DELETE FROM webhook_deliveries WHERE created < ?",
		before.UnixMicro())
}
