package sqlite

import (
	"context"

	"herbarium/internal/herb"
	"herbarium/internal/store"
)

// AddLabel implements the catalogue. The error has herb.CodeRejected while a program that does not
// know labels uses the database.
func (s *Store) AddLabel(ctx context.Context, ref herb.Ref, version, label string) error {
	older, err := excludeOlder(s.path, store.LabelsSchema)
	if err != nil {
		return mapError("labeling a version", err)
	}
	older.close()
	if older.users != "" {
		return store.ErrLabelsUnknown()
	}
	return s.Tables.AddLabel(ctx, ref, version, label)
}
