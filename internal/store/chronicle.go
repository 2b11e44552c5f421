package store

import (
	"context"
	"slices"
	"time"

	"herbarium/internal/herb"
)

// Chronicle is a dataset with all the versions that are kept of it.
type Chronicle struct {
	Ref      herb.Ref
	Live     string         // the version that is listed
	Versions []herb.Dataset // the oldest first
}

// Names returns the names of the versions.
func (c Chronicle) Names() []string {
	var names []string
	for _, d := range c.Versions {
		names = append(names, d.Version)
	}
	return names
}

// Chronicles returns all that the catalogue has, ordered by ref.
func (s Tables) Chronicles(ctx context.Context) (all []Chronicle, err error) {
	err = s.read(ctx, "reading the catalogue", func(ctx context.Context, tx Tx) error {
		all, err = chronicles(ctx, tx, "")
		return err
	})
	return all, err
}

func chronicles(ctx context.Context, tx Tx, where string, args ...any) (all []Chronicle, err error) {
	rows, err := tx.QueryContext(ctx, "SELECT namespace, name, live FROM datasets "+where+" ORDER BY namespace, name", args...)
	if err != nil {
		return nil, err
	}
	err = each(rows, func() error {
		var c Chronicle
		err := rows.Scan(&c.Ref.Namespace, &c.Ref.Name, &c.Live)
		all = append(all, c)
		return err
	})
	if err != nil {
		return nil, err
	}
	for i := range all {
		c := &all[i]
		rows, err := tx.QueryContext(ctx, "SELECT namespace, name, version, title, description, access, fields, "+
			"records, published, source, details FROM versions WHERE namespace = ? AND name = ? ORDER BY added",
			c.Ref.Namespace, c.Ref.Name)
		if err != nil {
			return nil, err
		}
		if err := each(rows, func() error {
			d, err := scanDataset(rows)
			c.Versions = append(c.Versions, d)
			return err
		}); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// SetChronicle gives a dataset the versions of a chronicle and no others, provided that it has those called had until
// then, the oldest first; otherwise the error is ErrSuperseded. What it drops is retired at a time; the zero time: it is
// not. A version that is retired is refused: its file may be gone.
func (s Tables) SetChronicle(ctx context.Context, c Chronicle, had []string, at time.Time) error {
	return s.write(ctx, "writing the versions of dataset "+c.Ref.String(), func(ctx context.Context, tx Tx) error {
		before, err := chronicles(ctx, tx, "WHERE namespace = ? AND name = ?", c.Ref.Namespace, c.Ref.Name)
		if err != nil {
			return err
		}
		var names []string
		if len(before) > 0 {
			names = before[0].Names()
		}
		if !slices.Equal(names, had) {
			return ErrSuperseded
		}
		for _, name := range names {
			if slices.Contains(c.Names(), name) {
				continue
			}
			if err := retire(ctx, tx, name, at); err != nil {
				return err
			}
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM versions WHERE namespace = ? AND name = ?", c.Ref.Namespace, c.Ref.Name); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO datasets (namespace, name, live) VALUES (?, ?, ?) "+
			"ON CONFLICT (namespace, name) DO UPDATE SET live = excluded.live", c.Ref.Namespace, c.Ref.Name, c.Live); err != nil {
			return err
		}
		for _, d := range c.Versions {
			if err := refuseRetired(ctx, tx, d.Version); err != nil {
				return err
			}
			generation, err := nextGeneration(ctx, tx)
			if err != nil {
				return err
			}
			if err := insertVersion(ctx, tx, d, generation); err != nil {
				return err
			}
		}
		return nil
	})
}
