package postgres

import "context"

// servingSchema is the schema version whose programs record whether they serve requests.
const servingSchema = 6

// SetServing records whether this program is a server that is ready for requests.
func (s *Store) SetServing(ctx context.Context, serving bool) error {
	return s.call(ctx, "recording that this server is ready", func(ctx context.Context) error {
		_, err := s.db.ExecContext(ctx, "UPDATE programs SET serving = $2 WHERE id = $1 AND serving <> $2",
			s.id, serving)
		return err
	})
}

// IsServedElsewhere reports whether another server of the database is ready for requests. Programs
// of releases that do not record it count as ready.
func (s *Store) IsServedElsewhere(ctx context.Context) (is bool, err error) {
	err = s.callRead(ctx, "looking for other servers", func(ctx context.Context) error {
		return s.db.QueryRowContext(ctx, "SELECT EXISTS (SELECT FROM programs WHERE id <> $1 "+
			"AND (serving OR schema_version < $2) AND seen > now() - make_interval(secs => $3))", s.id, servingSchema,
			expiry.Seconds()).Scan(&is)
	})
	return is, err
}
