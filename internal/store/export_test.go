package store

import "context"

// EraseSummaries leaves the versions as earlier releases add them.
func (s Tables) EraseSummaries(ctx context.Context) error {
	return s.writeOne(ctx, "erasing summaries", "UPDATE versions SET summary = ''")
}
