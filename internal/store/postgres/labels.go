package postgres

import (
	"context"

	"herbarium/internal/herb"
	"herbarium/internal/store"
)

// AddLabel implements the catalogue. The error has herb.CodeRejected while a program that does not
// know labels uses the database.
func (s *Store) AddLabel(ctx context.Context, ref herb.Ref, version, label string) error {
	older := false
	err := s.callRead(ctx, "looking for programs of earlier releases", func(ctx context.Context) error {
		return s.db.QueryRowContext(ctx, "SELECT EXISTS (SELECT FROM programs WHERE schema_version < $1 "+
			"AND seen > now() - make_interval(secs => $2))", store.LabelsSchema, expiry.Seconds()).Scan(&older)
	})
	switch {
	case err != nil:
		return err
	case older:
		return store.ErrLabelsUnknown()
	}
	return s.Tables.AddLabel(ctx, ref, version, label)
}
