package versions

import (
	"context"
	"errors"
	"time"

	"herbarium/internal/herb"
)

// Label gives a label to a version, which is named by its name or another label, and returns the
// name of the version. The error has herb.CodeRejected if another version has the label.
func (s *Service) Label(ctx context.Context, ref herb.Ref, version, label string) (string, error) {
	return s.changeLabels(ctx, ref, version, label, s.catalogue.AddLabel)
}

// Unlabel removes a label from a version and returns the name of the version. It does nothing if
// the version has no such label.
func (s *Service) Unlabel(ctx context.Context, ref herb.Ref, version, label string) (string, error) {
	return s.changeLabels(ctx, ref, version, label, s.catalogue.RemoveLabel)
}

func (s *Service) changeLabels(ctx context.Context, ref herb.Ref, version, label string,
	change func(ctx context.Context, ref herb.Ref, version, label string) error,
) (string, error) {
	label, err := herb.ParseLabel(label)
	if err != nil {
		return "", err
	}
	if version, err = s.library.ResolveVersion(ctx, ref, version); err != nil {
		return "", err
	}
	if err := change(ctx, ref, version, label); err != nil {
		return "", err
	}
	s.library.NotifyChange()
	return version, nil
}

// Withdraw deletes a version that must not be read any more, by its name: a label can name another
// version by the time that it is read. The error has herb.CodeRejected if the version is live. It
// returns when the version is out of the catalogue and its files on this machine and in the object
// store are deleted; other nodes delete theirs when they notice the change.
func (s *Service) Withdraw(ctx context.Context, ref herb.Ref, version string) error {
	if !herb.IsVersion(version) && herb.IsLabel(version) {
		return herb.Invalidf("%q is not the name of a version; a label cannot be withdrawn", version)
	}
	version, err := s.library.ResolveVersion(ctx, ref, version)
	if err != nil {
		return err
	}
	now := s.opts.Now().UTC().Truncate(time.Millisecond)
	// Garbage collection deletes at once what cannot be deleted below.
	if err := s.catalogue.Withdraw(ctx, ref, version, now, now.Add(-s.opts.Retention)); err != nil {
		return err
	}
	s.library.NotifyChange()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), withdrawLimit)
	defer cancel()
	err = s.library.RemoveWithdrawn(version)
	if s.shared() {
		err = errors.Join(err, s.deleteObjects(ctx, version))
	}
	if err != nil { // nobody can read it regardless
		s.opts.Log.Warn("cannot delete the files of a withdrawn version; will retry", "dataset", ref.String(), "version", version, "err", err)
	}
	return nil
}

// withdrawLimit limits the time for deleting the files of a withdrawn version.
const withdrawLimit = 20 * time.Second
