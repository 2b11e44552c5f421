package herb

import (
	"context"
	"time"
)

// AuditEntry records an administrative change or an attempt at one. It contains no secrets and no
// values of datasets.
type AuditEntry struct {
	Time    time.Time   `json:"time"`
	Action  AuditAction `json:"action"`
	Subject string      `json:"subject"` // the ID of a key or a webhook, or a dataset as namespace/name
	Actor   string      `json:"actor"`
	Origin  string      `json:"origin"`
	Result  AuditResult `json:"result"`
	Detail  string      `json:"detail"`
}

// AuditAction is the kind of change.
type AuditAction string

// Actions recorded in the audit log.
const (
	AuditKeyCreated AuditAction = "key.create"
	AuditKeyRevoked AuditAction = "key.revoke"
	AuditPublished  AuditAction = "dataset.publish"
	AuditRolledBack AuditAction = "dataset.rollback"
	AuditRemoved    AuditAction = "dataset.remove"
	AuditRestored   AuditAction = "dataset.restore" // alone, from a backup
	AuditLabeled    AuditAction = "version.label"
	AuditUnlabeled  AuditAction = "version.unlabel"
	AuditWithdrawn  AuditAction = "version.withdraw"
	AuditBackedUp   AuditAction = "backup.create"

	AuditWebhookAdded    AuditAction = "webhook.add"
	AuditWebhookRemoved  AuditAction = "webhook.remove"
	AuditWebhookDisabled AuditAction = "webhook.disable" // by its own response
)

// AuditActions lists all actions.
func AuditActions() []AuditAction {
	return []AuditAction{
		AuditKeyCreated, AuditKeyRevoked, AuditPublished, AuditRolledBack, AuditRemoved, AuditRestored, AuditLabeled,
		AuditUnlabeled, AuditWithdrawn, AuditBackedUp,
		AuditWebhookAdded, AuditWebhookRemoved, AuditWebhookDisabled,
	}
}

// BackupSubject is the subject of the entries of AuditBackedUp. A backup contains everything.
const BackupSubject = "everything"

// AuditResult is the outcome of an action.
type AuditResult string

// Outcomes of an action.
const (
	AuditOK       AuditResult = "ok"
	AuditRejected AuditResult = "rejected" // valid, but it would break consumers
	AuditFailed   AuditResult = "failed"
)

// AuditQuery selects entries of the audit log.
type AuditQuery struct {
	Since   time.Time // zero means no lower bound
	Subject string    // empty means all subjects
	Limit   int       // the most recent entries; zero means all
}

// Actor identifies who makes a change, and from where.
type Actor struct {
	ID     string // of a key; "uid 1000" for a command, "server" for a server that publishes its files
	Origin string // a network address, a host, or the path of a file
	// Note ends the detail of every entry of the actor, such as the digest of the file that it
	// sent; empty if there is none.
	Note string
}

type actorKey struct{}

// WithActor returns a context whose changes are recorded for the actor.
func WithActor(ctx context.Context, a Actor) context.Context {
	return context.WithValue(ctx, actorKey{}, a)
}

// ActorOf returns the actor of a context. Its ID is "unknown" if there is none.
func ActorOf(ctx context.Context) Actor {
	if a, ok := ctx.Value(actorKey{}).(Actor); ok {
		return a
	}
	return Actor{ID: "unknown"}
}
