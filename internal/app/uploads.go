package app

import (
	"context"
	"log/slog"
	"time"
)

// Unfinished uploads older than uploadMaxAge are abandoned.
const (
	uploadMaxAge        = 24 * time.Hour
	uploadCheckInterval = time.Hour
)

// abortUploads returns a task that periodically removes unfinished uploads from the object store: they are not listed but
// cost as much as objects. It returns nil without an object store.
func (d *Data) abortUploads(log *slog.Logger) func(context.Context) error {
	if d.blobs == nil {
		return nil
	}
	return func(ctx context.Context) error {
		for {
			if err := d.blobs.Abort(ctx, uploadMaxAge); err != nil && ctx.Err() == nil {
				log.Warn("cannot abort unfinished uploads; will retry", "err", err)
			}
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(uploadCheckInterval):
			}
		}
	}
}
