package versions

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/store"
)

// Rollback makes an earlier version live, by its name or a label. An empty text means the one that
// was live before the live one, as herb.Details.PredecessorsOf says. The error has
// herb.CodeRejected if something would become public that the live version hides, unless the
// consent is given, or if another version goes live concurrently.
func (s *Service) Rollback(ctx context.Context, ref herb.Ref, version string, given ...herb.Consent) (string, error) {
	return s.RollbackFrom(ctx, ref, "", version, given...)
}

// RollbackFrom is Rollback that requires a version to be live. An empty one means any.
func (s *Service) RollbackFrom(ctx context.Context, ref herb.Ref, live, version string,
	given ...herb.Consent) (string, error) {
	kept, err := s.catalogue.History(ctx, ref)
	if err != nil {
		return "", err
	}
	if live != "" && kept.Live != live {
		return "", ErrConcurrent(ref)
	}
	if version != "" {
		version, err = s.library.ResolveVersion(ctx, ref, version)
		if err != nil {
			return "", err
		}
	}
	named := func(version string) int {
		return slices.IndexFunc(kept.Versions, func(v herb.Dataset) bool { return v.Version == version })
	}
	i := named(kept.Live)
	if i < 0 {
		return "", fmt.Errorf("the live version of %s is not in its history", ref)
	}
	if version == "" {
		before := kept.Versions[i].PredecessorsOf(kept.Live, kept.VersionNames())
		if len(before) == 0 {
			return "", herb.Invalidf("%s has no version before the live one", ref)
		}
		version = before[0]
	}
	next := named(version)
	if next >= 0 {
		if err := s.rejectExposure(ctx, kept.Versions[i], kept.Versions[next], given); err != nil {
			return "", err
		}
	}
	err = s.catalogue.SetLive(ctx, ref, version, kept.Live)
	if errors.Is(err, store.ErrSuperseded) && live != "" {
		return "", ErrConcurrent(ref)
	}
	if errors.Is(err, store.ErrSuperseded) {
		return "", herb.Wrap(herb.CodeRejected, err,
			"%s was not rolled back because another version went live in the meantime; "+
				"compare it with yours and try again", ref)
	}
	if err != nil {
		return "", err
	}
	s.library.NotifyChange()
	return version, nil
}

// predecessorsAfter returns the predecessors of a version that replaces the live one.
func (s *Service) predecessorsAfter(ctx context.Context, live herb.Dataset) ([]string, error) {
	if live.Version == "" {
		return []string{}, nil
	}
	list, err := s.library.ListVersions(ctx, live.Ref)
	// the catalogue rejects the version if the dataset was removed
	if err != nil && herb.CodeOf(err) != herb.CodeNotFound {
		return nil, err
	}
	var kept []string
	for _, v := range list.Versions {
		kept = append(kept, v.Version)
	}
	return append([]string{live.Version}, live.PredecessorsOf(live.Version, kept)...), nil
}

// RollbackConsents returns the consents that a rollback may require. Breaking changes require none:
// consumers have read the earlier version before.
func RollbackConsents() []herb.Consent { return []herb.Consent{herb.ConsentExposure} }

// rejectExposure fails if something becomes public when a kept version replaces the live one,
// unless the consent is given.
func (s *Service) rejectExposure(ctx context.Context, live, next herb.Dataset, given []herb.Consent) error {
	if slices.Contains(given, herb.ConsentExposure) {
		return nil
	}
	var shared HiddenFields
	if len(hidingOf(live).Columns) > 0 {
		view, err := s.library.AcquireVersion(ctx, next.Ref, next.Version)
		if err != nil {
			return err
		}
		defer view.Release()
		shared, err = FindHiddenValues(ctx, s.library.AcquireVersion, live, next, view.Reader.Records(ctx))
		if err != nil {
			return err
		}
	}
	return Reject(Exposures(live, next, shared))
}
