package store

import (
	"context"
	"database/sql"

	"herbarium/internal/herb"
)

// SetSourceError records why a source could not be published. It replaces the previous error of the source.
func (s Tables) SetSourceError(ctx context.Context, e herb.SourceError) error {
	return s.write(ctx, "recording the error of source "+e.Path, func(ctx context.Context, tx Tx) error {
		return exec(ctx, tx, "INSERT INTO troubles (place, namespace, name, message, since) VALUES (?, ?, ?, ?, ?) "+
			"ON CONFLICT (place) DO UPDATE SET namespace = excluded.namespace, name = excluded.name, "+
			"message = excluded.message, since = excluded.since",
			e.Path, e.Ref.Namespace, e.Ref.Name, e.Message, e.Since.UnixMicro())
	})
}

// ClearSourceError removes the error of a source.
func (s Tables) ClearSourceError(ctx context.Context, path string) error {
	return s.write(ctx, "clearing the error of source "+path, func(ctx context.Context, tx Tx) error {
		return exec(ctx, tx, "DELETE FROM troubles WHERE place = ?", path)
	})
}

// SourceErrors returns all recorded errors, ordered by path.
func (s Tables) SourceErrors(ctx context.Context) ([]herb.SourceError, error) {
	return readRows(ctx, s, "reading source errors", func(rows *sql.Rows) (e herb.SourceError, err error) {
		err = rows.Scan(&e.Path, &e.Ref.Namespace, &e.Ref.Name, &e.Message, (*stamp)(&e.Since))
		return e, err
	}, "SELECT place, namespace, name, message, since FROM troubles ORDER BY place")
}
