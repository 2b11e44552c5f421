package versions

import (
	"context"

	"herbarium/internal/herb"
)

// Version describes a version of a dataset, by its name or a label; an empty text means the live
// one.
func (s *Service) Version(ctx context.Context, ref herb.Ref, version string) (_ herb.Dataset, err error) {
	if version != "" {
		version, err = s.library.ResolveVersion(ctx, ref, version)
		if err != nil {
			return herb.Dataset{}, err
		}
	}
	if s.library.IsMutable(ref) {
		return s.library.Describe(ctx, ref)
	}
	return s.catalogue.Version(ctx, ref, version)
}

// LiveVersion describes the live version of a dataset. If there is none, the result has no Version
// and there is no error.
func (s *Service) LiveVersion(ctx context.Context, ref herb.Ref) (herb.Dataset, error) {
	d, err := s.Version(ctx, ref, "")
	if herb.CodeOf(err) == herb.CodeNotFound {
		return herb.Dataset{}, nil
	}
	return d, err
}
