package operations

import (
	"context"
	"slices"

	"herbarium/internal/changes"
	"herbarium/internal/export"
	"herbarium/internal/library"
	"herbarium/internal/query"
)

// Comparison is what changed between two versions.
type Comparison struct {
	Selected []*changes.Changes // by request
	release  []func()
}

// CompareVersions compares two versions once, and returns the changes that each request selects.
// The caller must release the result.
func CompareVersions(
	ctx context.Context, c *changes.Comparisons, from, to *library.View, requests ...*query.ChangesRequest,
) (found *Comparison, err error) {
	found = &Comparison{}
	defer func() {
		if err != nil {
			found.Release()
		}
	}()
	var all query.Request
	release, err := reserve(ctx, export.RecordMemory(&from.Dataset, &all)+export.RecordMemory(&to.Dataset, &all))
	if err != nil {
		return found, err
	}
	found.release = append(found.release, release)
	comparison, release, err := c.Compare(ctx, *from, *to)
	if err != nil {
		return found, err
	}
	found.release = append(found.release, release)
	for _, req := range requests {
		selected, err := changes.Select(ctx, comparison, *from, *to, req)
		if err != nil {
			return found, err
		}
		found.Selected = append(found.Selected, selected)
		found.release = append(found.release, selected.Release)
	}
	return found, nil
}

// Release releases the changes, their comparison and their memory.
func (c *Comparison) Release() {
	for _, release := range slices.Backward(c.release) {
		release()
	}
}
