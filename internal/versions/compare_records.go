package versions

import (
	"context"
	"errors"
	"fmt"

	"herbarium/internal/changes"
	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/segment"
)

// Comparisons returns the comparisons of versions, which this service also makes.
func (s *Service) Comparisons() *changes.Comparisons { return s.comparisons }

// compareRecords counts how the records of a version, whose file is on this machine, differ from
// those of the live version; nil if there is none, or if it cannot be read: that must not prevent
// its replacement. Unless the publish is a dry run, the comparison is kept for readers.
func (s *Service) compareRecords(ctx context.Context, live, d herb.Dataset, isCheck bool) (_ *herb.RecordChanges,
	err error) {
	if live.Version == "" {
		return nil, nil
	}
	r, err := segment.Open(s.file(d.Version))
	if err != nil {
		return nil, fmt.Errorf("cannot read back the written segment: %w", err)
	}
	defer func() { err = errors.Join(err, r.Release()) }()
	from, err := s.library.AcquireVersion(ctx, d.Ref, live.Version)
	if err == nil {
		defer from.Release()
		var c *segment.Comparison
		to := library.View{Dataset: d, Reader: r}
		c, err = s.comparisons.CompareNew(ctx, from, to)
		if err == nil {
			defer func() { err = errors.Join(err, c.Close()) }()
			if !isCheck {
				if err := s.comparisons.Keep(ctx, from, to, c); err != nil {
					return nil, fmt.Errorf("keeping the comparison with the live version: %w", err)
				}
			}
			return &herb.RecordChanges{
				Since: live.Version, SinceAccess: live.Access, Key: c.Key, Added: c.Added, Removed: c.Removed,
				Changed: c.Changed, Unchanged: c.Unchanged, Fields: c.ChangedFields,
			}, nil
		}
	}
	if ctx.Err() != nil {
		return nil, err
	}
	s.opts.Log.Warn("cannot compare the records of a new version with the live one", "dataset", d.Ref.String(),
		"version", live.Version, "err", err)
	return nil, nil
}
