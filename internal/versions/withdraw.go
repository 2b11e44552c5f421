package versions

import (
	"context"
	"errors"
	"time"

	"herbarium/internal/herb"
)

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
		s.opts.Log.Warn("cannot delete the files of a withdrawn version; will retry", "dataset", ref.String(),
			"version", version, "err", err)
	}
	return nil
}

// withdrawLimit limits the time for deleting the files of a withdrawn version.
const withdrawLimit = 20 * time.Second
