package publish

import (
	"context"

	"herbarium/internal/herb"
	"herbarium/internal/versions"
)

// Rollback makes another version of a dataset live and returns it. An empty version means the one
// before the live one. live is the version that must be live; empty means any. The error has
// herb.CodePrecondition if another one is live.
func (p *Publisher) Rollback(ctx context.Context, ref herb.Ref, live, version string,
	given ...herb.Consent) (string, error) {
	version, err := p.Versions.RollbackFrom(ctx, ref, live, version, given...)
	p.AuditFailure(ctx, herb.AuditRolledBack, ref, err)
	return version, required(ref, live, err)
}

// Remove removes a dataset with all its versions. live is the version that must be live; empty
// means any. The error has herb.CodePrecondition if another one is live.
func (p *Publisher) Remove(ctx context.Context, ref herb.Ref, live string) error {
	err := p.Versions.Remove(ctx, ref, live)
	p.AuditFailure(ctx, herb.AuditRemoved, ref, err)
	return required(ref, live, err)
}

// Label gives a label to a version of a dataset, and returns the name of the version.
func (p *Publisher) Label(ctx context.Context, ref herb.Ref, version, label string) (string, error) {
	version, err := p.Versions.Label(ctx, ref, version, label)
	p.AuditFailure(ctx, herb.AuditLabeled, ref, err)
	return version, err
}

// Unlabel removes a label from a version of a dataset, and returns the name of the version.
func (p *Publisher) Unlabel(ctx context.Context, ref herb.Ref, version, label string) (string, error) {
	version, err := p.Versions.Unlabel(ctx, ref, version, label)
	p.AuditFailure(ctx, herb.AuditUnlabeled, ref, err)
	return version, err
}

// Withdraw deletes a version of a dataset that must not be read any more.
func (p *Publisher) Withdraw(ctx context.Context, ref herb.Ref, version string) error {
	err := p.Versions.Withdraw(ctx, ref, version)
	p.AuditFailure(ctx, herb.AuditWithdrawn, ref, err)
	return err
}

// required gives the error of a concurrent change the code of a failed condition, if the version
// live was required.
func required(ref herb.Ref, live string, err error) error {
	if live != "" && versions.IsConcurrent(err) {
		return herb.Wrap(herb.CodePrecondition, err,
			"another version of %s went live in the meantime; nothing has changed", ref)
	}
	return err
}
