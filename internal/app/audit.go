package app

import (
	"context"
	"time"

	"herbarium/internal/herb"
)

// auditTimeout limits the time for recording a failure.
const auditTimeout = 5 * time.Second

// AuditFailure records that a change of a dataset was rejected or failed; it does nothing if err is nil, because a
// successful change is recorded in its transaction. The entry contains the code of the error, never its message, which may
// quote values. If the failure cannot be recorded, for example because the database is down, the caller still gets err.
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
