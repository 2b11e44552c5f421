package versions

import (
	"context"
	"errors"

	"herbarium/internal/herb"
	"herbarium/internal/store"
)

// Remove removes a dataset with all its versions. If live is not empty, that must be the live
// version; otherwise the error is that of a concurrent change.
func (s *Service) Remove(ctx context.Context, ref herb.Ref, live string) error {
	if s.library.IsMutable(ref) {
		return herb.Invalidf("%q is the plant store and cannot be removed", ref)
	}
	versions, err := s.catalogue.RemoveDataset(ctx, ref, live, s.opts.Now())
	if errors.Is(err, store.ErrSuperseded) {
		return ErrConcurrent(ref)
	}
	if err != nil {
		return err
	}
	s.library.NotifyChange()
	return s.removeRetired(ctx, versions)
}
