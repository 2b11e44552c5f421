package app

import (
	"context"
	"log/slog"
	"time"
)

// An upload that was not finished after a day has nobody who would.
const (
	abandoned      = 24 * time.Hour
	abandonedEvery = time.Hour // is looked for
)

// abortUploads returns what removes, now and then, the uploads that publishers have left unfinished in the object store:
// they are not listed and cost as much as others. nil where there is no such store.
func (d *Data) abortUploads(log *slog.Logger) func(context.Context) error {
	if d.blobs == nil {
		return nil
	}
	return func(ctx context.Context) error {
		for {
			if err := d.blobs.Abort(ctx, abandoned); err != nil && ctx.Err() == nil {
				log.Warn("unfinished uploads were not removed", "err", err)
			}
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(abandonedEvery):
			}
		}
	}
}
