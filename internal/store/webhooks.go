package store

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"herbarium/internal/herb"
)

// MaxWebhooks is the maximum number of webhooks.
const MaxWebhooks = 50

const webhookColumns = "id, url, secret, datasets, protected, allow_private, created, disabled"

// AddWebhook stores a new webhook. The error has herb.CodeRejected if there are MaxWebhooks.
// detail is that of the audit entry.
func (s Tables) AddWebhook(ctx context.Context, w herb.Webhook, detail string) error {
	return s.write(ctx, "adding a webhook", func(ctx context.Context, tx Tx) error {
		var n int
		if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM webhooks").Scan(&n); err != nil {
			return err
		}
		if n >= MaxWebhooks {
			return herb.Errorf(herb.CodeRejected, "there are %d webhooks, and may not be more; remove one first", n)
		}
		return errors.Join(
			exec(ctx, tx, "INSERT INTO webhooks ("+webhookColumns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?)", w.ID,
				string(w.URL), string(w.Secret),
				strings.Join(w.Datasets, " "), w.Protected, w.Private, w.Created.UnixMicro(), stamp(w.Disabled)),
			addAudit(ctx, tx, herb.AuditEntry{Action: herb.AuditWebhookAdded, Subject: w.ID, Detail: detail}),
		)
	})
}

// Webhooks returns all webhooks in the order of their creation.
func (s Tables) Webhooks(ctx context.Context) ([]herb.Webhook, error) {
	return readRows(ctx, s, "reading webhooks", scanWebhook, "SELECT "+webhookColumns+
		" FROM webhooks ORDER BY created, id")
}

func scanWebhook(rows *sql.Rows) (w herb.Webhook, err error) {
	var datasets string
	err = rows.Scan(&w.ID, &w.URL, &w.Secret, &datasets, &w.Protected, &w.Private, (*stamp)(&w.Created),
		(*stamp)(&w.Disabled))
	w.Datasets = strings.Fields(datasets)
	return w, err
}

// RemoveWebhook removes a webhook with its deliveries.
func (s Tables) RemoveWebhook(ctx context.Context, id string) error {
	return s.write(ctx, "removing a webhook", func(ctx context.Context, tx Tx) error {
		removed, err := execCount(ctx, tx, "DELETE FROM webhooks WHERE id = ?", id)
		switch {
		case err != nil:
			return err
		case removed == 0:
			return herb.Errorf(herb.CodeNotFound, "no such webhook %q", id)
		}
		return addAudit(ctx, tx, herb.AuditEntry{Action: herb.AuditWebhookRemoved, Subject: id})
	})
}

// DisableWebhook ends all deliveries of a webhook and sends it no more events. It does nothing if
// the webhook is disabled or was removed.
func (s Tables) DisableWebhook(ctx context.Context, id, reason string, at time.Time) error {
	return s.write(ctx, "disabling a webhook", func(ctx context.Context, tx Tx) error {
		disabled, err := execCount(ctx, tx, "UPDATE webhooks SET disabled = ? WHERE id = ? AND disabled IS NULL",
			at.UnixMicro(), id)
		if err != nil || disabled == 0 {
			return err
		}
		return errors.Join(
			exec(ctx, tx, "UPDATE webhook_deliveries SET state = ?, result = ? WHERE webhook = ? AND state = ?",
				string(DeliveryFailed), "the webhook is disabled", id, string(DeliveryPending)),
			addAudit(ctx, tx, herb.AuditEntry{Action: herb.AuditWebhookDisabled, Subject: id,
				Detail: "reason: " + reason}),
		)
	})
}

// execCount runs a statement and returns the number of rows that it changed.
func execCount(ctx context.Context, tx Tx, statement string, args ...any) (int64, error) {
	result, err := tx.ExecContext(ctx, statement, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}
