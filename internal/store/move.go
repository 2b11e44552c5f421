package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"herbarium/internal/herb"
)

// What follows carries all that a database keeps into another one, a batch at a time. What is derived from a plant is not
// read: the database it comes to derives it anew.

// CountPlants returns how many plants there are.
func (s Tables) CountPlants(ctx context.Context) (n int, err error) {
	err = s.read(ctx, "counting plants", func(ctx context.Context, tx Tx) error {
		return tx.QueryRowContext(ctx, "SELECT plants FROM totals").Scan(&n)
	})
	return n, err
}

// PlantsAfter returns the plants that follow the first n in the order of their creation, as many as limit at the most.
func (s Tables) PlantsAfter(ctx context.Context, n, limit int) (plants []herb.NewPlant, err error) {
	err = s.read(ctx, "reading plants", func(ctx context.Context, tx Tx) error {
		plants = make([]herb.NewPlant, 0, limit)
		rows, err := tx.QueryContext(ctx, "SELECT seq, id, name, tag, tag_given FROM plants WHERE seq > ? ORDER BY seq LIMIT ?", n, limit)
		if err != nil {
			return err
		}
		return each(rows, func() error {
			var seq int
			var p herb.NewPlant
			var tag string
			var given bool
			if err := rows.Scan(&seq, &p.ID, &p.Name, &tag, &given); err != nil {
				return err
			}
			if given {
				p.Tag = &tag
			}
			plants = append(plants, p)
			if want := n + len(plants); seq != want {
				return fmt.Errorf("plant %d is missing, the next is %d; the database is damaged", want, seq)
			}
			return nil
		})
	})
	return plants, err
}

// Rebuild reports whether plants that are added to n others are so many that their indexes are better built anew than
// grown.
func Rebuild(n, added int) bool {
	const fewest = 2_000
	return added >= max(n, fewest)
}

// TakenID is the error for a plant that cannot be added because another one has its id.
func TakenID(p herb.NewPlant) error {
	return herb.Errorf(herb.CodeRefused, "plant %d (%q) cannot be added: another plant has this id", p.ID, p.Name)
}

// UsedRetry is a retry key under which a plant was created.
type UsedRetry struct {
	Retry
	Plant   int // the number of the plant in the order of creation, from 1
	Created time.Time
}

// RetrySpan says which retry keys are meant. Nothing is added to a span once its plants are there: a key comes with its
// plant.
type RetrySpan struct {
	Plants int       // those of the first so many plants
	Since  time.Time // and used at this time or later
}

// RetriesAfter returns the retry keys of a span that follow another one in the order of credential and key, as many as
// limit at the most. The zero Retry comes before all.
func (s Tables) RetriesAfter(ctx context.Context, span RetrySpan, after Retry, limit int) (retries []UsedRetry, err error) {
	err = s.read(ctx, "reading retry keys", func(ctx context.Context, tx Tx) error {
		retries = nil
		rows, err := tx.QueryContext(ctx, "SELECT credential, key, body, seq, created FROM retries "+
			"WHERE (credential, key) > (?, ?) AND seq <= ? AND created >= ? ORDER BY credential, key LIMIT ?",
			after.Credential, after.Key, span.Plants, span.Since.UnixMicro(), limit)
		if err != nil {
			return err
		}
		return each(rows, func() error {
			var r UsedRetry
			var body []byte
			var created int64
			if err := rows.Scan(&r.Credential, &r.Key, &body, &r.Plant, &created); err != nil {
				return err
			}
			if copy(r.Body[:], body) != len(r.Body) {
				return fmt.Errorf("the body of retry key %q has %d bytes in place of %d", r.Key, len(body), len(r.Body))
			}
			r.Created = time.UnixMicro(created).UTC()
			retries = append(retries, r)
			return nil
		})
	})
	return retries, err
}

// retriesAtOnce is how many retry keys one statement adds. Databases limit the values of a statement.
const retriesAtOnce = 500

// AddRetries adds retry keys of plants that are there, in one transaction. A key that is there already stays as it is.
func (s Tables) AddRetries(ctx context.Context, retries []UsedRetry) error {
	return s.write(ctx, "adding retry keys", func(ctx context.Context, tx Tx) error {
		for len(retries) > 0 {
			some := retries[:min(len(retries), retriesAtOnce)]
			args := make([]any, 0, 5*len(some))
			for _, r := range some {
				args = append(args, r.Credential, r.Key, r.Body[:], r.Plant, r.Created.UnixMicro())
			}
			if _, err := tx.ExecContext(ctx, "INSERT INTO retries (credential, key, body, seq, created) VALUES (?, ?, ?, ?, ?)"+
				strings.Repeat(", (?, ?, ?, ?, ?)", len(some)-1)+" ON CONFLICT (credential, key) DO NOTHING", args...); err != nil {
				return err
			}
			retries = retries[len(some):]
		}
		return nil
	})
}
