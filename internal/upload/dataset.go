package upload

import (
	"context"
	"io"

	"herbarium/internal/herb"
	"herbarium/internal/library"
)

// Source returns the source that is kept with a version of a dataset; an empty version means the
// live one. The caller closes the reader.
func (s *Service) Source(ctx context.Context, ref herb.Ref, version string) (io.ReadCloser, herb.Dataset, error) {
	return s.opts.Library.OpenSource(ctx, ref, version)
}

// Restore returns the source that is kept with the live version of a dataset as a file that can be
// published again. The error has herb.CodeRejected if none is kept.
func (s *Service) Restore(ctx context.Context, ref herb.Ref) (*File, error) {
	r, d, err := s.opts.Library.OpenSource(ctx, ref, "")
	if herb.CodeOf(err) == herb.CodeNotFound && d.Version != "" {
		return nil, herb.Errorf(herb.CodeRejected, "the source of %s is not kept; send the file with PUT …/source", ref)
	}
	if err != nil {
		return nil, err
	}
	kept := d.Settings.Kept
	f := Stored(kept.Name, kept.Size, kept.SHA256, func(context.Context) (io.ReadCloser, error) { return r, nil })
	f.Merged = kept.Merged
	if err := s.fetch(ctx, f); err != nil {
		return nil, err
	}
	return f, nil
}

// Descriptor returns the complete descriptor of the live version and that version. The error has
// herb.CodeNotFound if there is no dataset or it has no descriptor.
func (s *Service) Descriptor(ctx context.Context, ref herb.Ref) (descriptor []byte, version string, err error) {
	d, err := s.opts.Library.LiveVersion(ctx, ref)
	switch {
	case err != nil:
		return nil, "", err
	case d.Version == "":
		return nil, "", herb.Errorf(herb.CodeNotFound, "no such dataset %q; GET /api/v1 lists all datasets", ref)
	case d.Settings == nil || d.Settings.Descriptor == nil:
		return nil, "", herb.Errorf(herb.CodeNotFound, "%s was published without a descriptor; send one with PUT …/descriptor", ref)
	}
	return d.Settings.Descriptor, d.Version, nil
}

// Version describes a version of a dataset; an empty name means the live one.
func (s *Service) Version(ctx context.Context, ref herb.Ref, version string) (herb.Dataset, error) {
	return s.opts.Library.Version(ctx, ref, version)
}

// History returns the kept versions of a dataset, newest first.
func (s *Service) History(ctx context.Context, ref herb.Ref) ([]library.VersionInfo, error) {
	return s.opts.Library.History(ctx, ref)
}

// Rollback makes another version of a dataset live and returns it. An empty version means the one
// before the live one. live is the version that must be live; empty means any.
func (s *Service) Rollback(ctx context.Context, ref herb.Ref, live, version string, allowExposure bool) (string, error) {
	version, err := s.opts.Library.RollbackFrom(ctx, ref, live, version, allowExposure)
	s.auditChange(ctx, herb.AuditRolledBack, ref, err)
	if live != "" {
		err = required(ref, err)
	}
	return version, err
}

// Remove removes a dataset with all its versions. live is the version that must be live; empty
// means any. The error has herb.CodePrecondition if there is none.
func (s *Service) Remove(ctx context.Context, ref herb.Ref, live string) error {
	err := s.opts.Library.Remove(ctx, ref, live)
	s.auditChange(ctx, herb.AuditRemoved, ref, err)
	if herb.CodeOf(err) == herb.CodeNotFound {
		return herb.Wrap(herb.CodePrecondition, err, "If-Match does not hold: %s does not exist", ref)
	}
	return required(ref, err)
}

// required gives the error of a concurrent change the code of a failed condition.
func required(ref herb.Ref, err error) error {
	if library.IsConcurrent(err) {
		return herb.Wrap(herb.CodePrecondition, err, "another version of %s went live in the meantime; nothing has changed", ref)
	}
	return err
}

// auditChange adds an entry for a change that failed. That of a successful one is part of it.
func (s *Service) auditChange(ctx context.Context, action herb.AuditAction, ref herb.Ref, err error) {
	if err == nil {
		return
	}
	result := herb.AuditFailed
	if herb.CodeOf(err) == herb.CodeRejected {
		result = herb.AuditRejected
	}
	s.addEntry(ctx, herb.AuditEntry{Action: action, Subject: ref.String(), Result: result, Detail: "reason: " + string(herb.CodeOf(err))})
}
