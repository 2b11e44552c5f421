package versions

import (
	"context"
	"fmt"
	"io/fs"

	"herbarium/internal/contenthash"
	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/segment"
	"herbarium/internal/store"
)

// FindDamage returns why a version has to be published again: its file is missing, differs from
// what was published, or can be read by a later release only. It returns nil if the file is intact
// as far as a server verifies it when it opens it, or if the object store does not answer. err
// means that the file exists but this process cannot read it, for example because a permission is
// missing.
func (s *Service) FindDamage(ctx context.Context, d herb.Dataset) (damage, err error) {
	found := s.library.CheckFile(d.Version)
	if s.shared() && d.File != nil { // the local file is fetched if it is missing or damaged
		found, err = s.findObjectDamage(ctx, d)
	}
	switch {
	case err != nil && ctx.Err() == nil && herb.CodeOf(err) == herb.CodeUnavailable:
		return nil, nil
	case err != nil, found == nil:
		return nil, err
	}
	switch library.ReasonOf(found) {
	case library.ReasonDamaged, library.ReasonMissing, library.ReasonFormat:
		return found, nil
	}
	return nil, fmt.Errorf("cannot read the live version: %w", found)
}

// findObjectDamage looks for the object of a version, whose bytes are verified when it is fetched.
func (s *Service) findObjectDamage(ctx context.Context, d herb.Dataset) (damage, err error) {
	name := store.SegmentFile(d.Version)
	for b, err := range s.opts.Blobs.List(ctx, name) {
		switch {
		case err != nil:
			return nil, err
		case b.Name == name && b.Size == d.File.Size:
			return nil, nil
		case b.Name == name:
			return fmt.Errorf("%w: the object %s has %d bytes; want %d", segment.ErrCorrupt, name, b.Size, d.File.Size),
				nil
		}
	}
	return fmt.Errorf("there is no object %s: %w", name, fs.ErrNotExist), nil
}

// verifySegment reads a finished segment back. It verifies checksums and that the cells are those
// read from the source: complete according to the report, each in its column, with the values the
// segment was built from.
func verifySegment(ctx context.Context, r *segment.Reader, fields []herb.Field, source *contenthash.Hash,
	report *herb.Report, progress func(records int)) error {
	err := r.Verify()
	var listed string
	if err == nil {
		listed, err = contenthash.OfListing(ctx, r, fields, progress)
	}
	if err != nil {
		return fmt.Errorf("cannot read back the written segment: %w", err)
	}
	if read := source.String(); listed != read {
		return fmt.Errorf("content hash mismatch: source %s, listing %s; nothing was published", read, listed)
	}
	if err := report.Reconcile(source.Columns()); err != nil { // the listing has the same cells as the source
		return fmt.Errorf("the listing is incomplete: %w; nothing was published", err)
	}
	return nil
}
