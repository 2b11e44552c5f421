package store

import (
	"context"
	"time"

	"herbarium/internal/herb"
)

// SetSourceError records why a source could not be published. It replaces the previous error of the source.
func (s Tables) SetSourceError(ctx context.Context, e herb.SourceError) error {
	return s.write(ctx, "recording the error of source "+e.Path, func(ctx context.Context, tx Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO troubles (place, namespace, name, message, since) VALUES (?, ?, ?, ?, ?) "+
			"ON CONFLICT (place) DO UPDATE SET namespace = excluded.namespace, name = excluded.name, "+
			"message = excluded.message, since = excluded.since",
			e.Path, e.Ref.Namespace, e.Ref.Name, e.Message, e.Since.UnixMicro())
		return err
	})
}

// ClearSourceError removes the error of a source.
func (s Tables) ClearSourceError(ctx context.Context, place string) error {
	return s.write(ctx, "clearing the error of source "+place, func(ctx context.Context, tx Tx) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM troubles WHERE place = ?", place)
		return err
	})
}

// SourceErrors returns all recorded errors, ordered by place.
func (s Tables) SourceErrors(ctx context.Context) (all []herb.SourceError, err error) {
	err = s.read(ctx, "reading source errors", func(ctx context.Context, tx Tx) error {
		all = nil
		rows, err := tx.QueryContext(ctx, "SELECT place, namespace, name, message, since FROM troubles ORDER BY place")
		if err != nil {
			return err
		}
		return eachRow(rows, func() error {
			var e herb.SourceError
			var since int64
			err := rows.Scan(&e.Path, &e.Ref.Namespace, &e.Ref.Name, &e.Message, &since)
			e.Since = time.UnixMicro(since).UTC()
			all = append(all, e)
			return err
		})
	})
	return all, err
}
