package app

import (
	"context"
	"time"

	"herbarium/internal/herb"
)

// auditTimeout bounds how long recording a failure may take.
const auditTimeout = 5 * time.Second

// AuditFailure records that a change of a dataset was rejected or has failed; it does nothing where err is nil, because a
// change that was made is recorded with it. The entry names the kind of error, never its message, which may quote values. A
// failure that cannot be recorded, because the database is down for example, is still returned to its caller.
func (d *Data) AuditFailure(ctx context.Context, action herb.AuditAction, ref herb.Ref, err error) {
	if err == nil {
		return
	}
	reason := string(herb.CodeOf(err))
	if ctx.Err() != nil {
		reason = "canceled"
	}
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), auditTimeout)
	defer cancel()
	_ = d.Store.AddAuditEntry(limited, herb.AuditEntry{
		Action: action, Subject: ref.String(), Result: herb.AuditResultOf(err), Detail: "reason: " + reason,
	})
}
