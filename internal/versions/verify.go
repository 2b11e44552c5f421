package versions

import (
	"context"
	"fmt"

	"herbarium/internal/contenthash"
	"herbarium/internal/herb"
	"herbarium/internal/segment"
)

// verifySegment reads a finished segment back. It verifies checksums and that the cells are those
// read from the source: complete according to the report, each in its column, with the values the
// segment was built from.
func verifySegment(ctx context.Context, r *segment.Reader, fields []herb.Field, source *contenthash.Hash, report *herb.Report, progress func(records int)) error {
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
