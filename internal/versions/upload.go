package versions

import (
	"context"
	"errors"
	"fmt"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/segment"
	"herbarium/internal/store"
)

// cleanupTimeout limits the time a publish spends on garbage collection. Others do the rest later.
const cleanupTimeout = 30 * time.Second

// upload stores the file of a version for all nodes and returns its size and hash.
func (s *Service) upload(ctx context.Context, d herb.Dataset, report func(done, total int64)) (*herb.File, error) {
	file, err := s.library.HashFile(ctx, d.Version)
	if err != nil {
		return nil, fmt.Errorf("hashing the segment file: %w", err)
	}
	file.Index = segment.CurrentIndex()
	report(0, file.Size)
	if err := s.uploadSource(ctx, d); err != nil {
		s.deleteUpload(ctx, d)
		return nil, err
	}
	if err := s.opts.Blobs.Put(ctx, store.SegmentFile(d.Version), s.file(d.Version), report); err != nil {
		s.deleteUpload(ctx, d) // the object may exist despite the error
		return nil, fmt.Errorf("uploading the segment file: %w", err)
	}
	return file, nil
}

// deleteUpload deletes the object of a version that will not enter the catalogue. If that fails,
// Collect does it later.
func (s *Service) deleteUpload(ctx context.Context, d herb.Dataset) {
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
	defer cancel()
	if err := s.deleteObjects(limited, d.Version); err != nil {
		s.opts.Log.Warn("orphaned upload left for garbage collection", "object",
			store.SegmentFile(d.Version), "err", err)
	}
}

// deleteObjects deletes the objects of a version.
func (s *Service) deleteObjects(ctx context.Context, version string) error {
	var errs []error
	for b, err := range s.opts.Blobs.List(ctx, store.VersionPrefix(version)) {
		if err == nil {
			err = s.opts.Blobs.Delete(ctx, b.Name)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
