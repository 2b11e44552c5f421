package herb

import (
	"context"
	"time"
)

// AuditEntry records an administrative change, or an attempt at one. It holds no secret and no value of a dataset.
type AuditEntry struct {
	Time    time.Time   `json:"time"`
	Action  AuditAction `json:"action"`
	Subject string      `json:"subject"` // the ID of a key, or a dataset as namespace/name
	Actor   string      `json:"actor"`
	Origin  string      `json:"origin"`
	Result  AuditResult `json:"result"`
	Detail  string      `json:"detail"`
}

// AuditAction is what was done.
type AuditAction string

// The actions.
const (
	AuditKeyCreated AuditAction = "key.create"
	AuditKeyRevoked AuditAction = "key.revoke"
	AuditPublished  AuditAction = "dataset.publish"
	AuditRolledBack AuditAction = "dataset.rollback"
	AuditRemoved    AuditAction = "dataset.remove"
)

// AuditResult is how it ended.
type AuditResult string

// The results.
const (
	AuditOK       AuditResult = "ok"
	AuditRejected AuditResult = "rejected" // valid, but it would break consumers
	AuditFailed   AuditResult = "failed"
)

// AuditResultOf returns the result that an error stands for.
func AuditResultOf(err error) AuditResult {
	switch {
	case err == nil:
		return AuditOK
	case CodeOf(err) == CodeRefused:
		return AuditRejected
	default:
		return AuditFailed
	}
}

// AuditQuery selects entries of the audit log.
type AuditQuery struct {
	Since   time.Time // zero means from the beginning
	Subject string    // empty means every subject
	Limit   int       // the most recent so many; zero means all
}

// Actor is who does something, and from where.
type Actor struct{ Name, Origin string }

type actorKey struct{}

// WithActor returns a context whose changes are recorded as those of an actor.
func WithActor(ctx context.Context, a Actor) context.Context {
	return context.WithValue(ctx, actorKey{}, a)
}

// ActorOf returns the actor of a context; its name is "unknown" if there is none.
func ActorOf(ctx context.Context) Actor {
	if a, ok := ctx.Value(actorKey{}).(Actor); ok {
		return a
	}
	return Actor{Name: "unknown"}
}
