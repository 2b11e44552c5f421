package versions

import (
	"context"

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
	version, err = s.library.ResolveVersion(ctx, ref, version)
	if err != nil {
		return "", err
	}
	if err := change(ctx, ref, version, label); err != nil {
		return "", err
	}
	s.library.NotifyChange()
	return version, nil
}
