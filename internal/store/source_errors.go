package store

import (
	"context"
	"time"

	"herbarium/internal/herb"
)

// SetSourceError notes why a source is not published as it is. It takes the place of what was noted about that source before.
func (s Tables) SetSourceError(ctx context.Context, t herb.SourceError) error {
	return s.write(ctx, "noting trouble with "+t.Place, func(ctx context.Context, tx Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO troubles (place, namespace, name, message, since) VALUES (?, ?, ?, ?, ?) "+
			"ON CONFLICT (place) DO UPDATE SET namespace = excluded.namespace, name = excluded.name, "+
			"message = excluded.message, since = excluded.since",
			t.Place, t.Ref.Namespace, t.Ref.Name, t.Message, t.Since.UnixMicro())
		return err
	})
}

// ClearSourceError forgets what was noted about a source.
func (s Tables) ClearSourceError(ctx context.Context, place string) error {
	return s.write(ctx, "forgetting trouble with "+place, func(ctx context.Context, tx Tx) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM troubles WHERE place = ?", place)
		return err
	})
}

// Troubles returns all that was noted and not forgotten, in the order of the places.
func (s Tables) SourceErrors(ctx context.Context) (sourceErrors []herb.SourceError, err error) {
	err = s.read(ctx, "reading sourceErrors", func(ctx context.Context, tx Tx) error {
		sourceErrors = nil
		rows, err := tx.QueryContext(ctx, "SELECT place, namespace, name, message, since FROM troubles ORDER BY place")
		if err != nil {
			return err
		}
		return each(rows, func() error {
			var t herb.SourceError
			var since int64
			err := rows.Scan(&t.Place, &t.Ref.Namespace, &t.Ref.Name, &t.Message, &since)
			t.Since = time.UnixMicro(since).UTC()
			sourceErrors = append(sourceErrors, t)
			return err
		})
	})
	return sourceErrors, err
}
